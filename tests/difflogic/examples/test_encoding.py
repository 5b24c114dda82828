"""Encodings: bits tell what they say they tell, and grids come back from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import label

from difflogic.examples.encoding import CLASH, Encoding, apply_rule, encodings
from difflogic.examples.pairs import Pair, shortened, without_background

SYMBOLS = tuple(map(str, range(5)))
ALIKE = Encoding(SYMBOLS, 0, ("this", "another", "inside"), ("this",))
SINGLE = Encoding(SYMBOLS, 0, ("single",), ("this",))
NAMED = Encoding(SYMBOLS, 0, ("=1", "=3", "filled", "inside"), ("=2", "=4"))
BLOCKS = Encoding(SYMBOLS, 0, ("odd", "largest"), ("=2",))
COPIES = ("this-right", "single-right", "single-right-2")
MOVING = Encoding(SYMBOLS, 0, ("single", *COPIES), ("this",))


@st.composite
def grids(draw, rows=None, columns=None):
    rows, columns = rows or draw(st.integers(1, 4)), columns or draw(st.integers(1, 5))
    cells = draw(st.lists(st.integers(0, 4), min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, np.uint8).reshape(rows, columns)


@st.composite
def pairs(draw):
    before = draw(grids())
    return Pair(before, draw(grids(*before.shape)))


def say(feature, grid, y, x, run):
    """Whether a feature is true of a cell, in plain words."""
    symbol = int(grid[y, x])
    times = sum(int(each) == symbol for each in grid.flat)
    blocks = {each: label(grid == each)[0] for each in {*grid.ravel().tolist()} - {0}}
    sizes = [np.bincount(numbers.ravel())[numbers] * (numbers > 0) for numbers in blocks.values()]
    size = sum(sizes, 0 * grid.astype(int))
    feature = {"this-right": "this", "single-right": "single"}.get(feature, feature)
    return {
        "odd": size[y, x] % 2 == 1,
        "largest": symbol != 0 and size[y, x] == size.max(),
        "single-right-2": False,
        "inside": True,
        "filled": symbol != 0,
        "this": symbol == run,
        "another": symbol not in (0, run),
        "single": symbol != 0 and times == 1,
    }.get(feature, feature == f"={symbol}")


@pytest.mark.parametrize("encoding", [ALIKE, SINGLE, NAMED, BLOCKS, MOVING])
@given(grid=grids())
def test_each_start_says_what_its_features_say(grid, encoding):
    height, width = grid.shape
    starts = encoding.starts(grid, (height + 1, width + 2), 7)
    runs = encoding.runs(grid)
    singles = "single" in encoding.features
    kept = {s for s in range(1, 5) if singles and (grid == s).sum() == 1}
    if encoding.per_symbol:
        assert runs == sorted({*grid.ravel().tolist()} - {0} - kept)
    assert starts.shape == (len(runs), 7, height + 1, width + 2)
    expected = np.zeros_like(starts)
    for number, run in enumerate(runs):
        for channel, feature in enumerate((*encoding.features, *encoding.outputs)):
            for y, x in np.ndindex(grid.shape):
                expected[number, channel, y, x] = say(feature, grid, y, x, run)
    assert (starts == expected).all()


@given(pair=pairs())
def test_targets_are_decoded_to_the_output(pair):
    shown = ALIKE.targets(pair, pair.before.shape)
    expected = np.where(np.isin(pair.after, pair.before), pair.after, 0)
    assert (ALIKE.decode(pair.before, shown) == expected).all()
    assert ALIKE.fits([pair]) == (expected == pair.after).all()


def test_two_symbols_in_one_cell_clash():
    grid = np.array([[1, 2, 3]], np.uint8)
    both = np.array([[[[1, 1, 0]]], [[[0, 1, 0]]], [[[0, 0, 0]]]], np.uint8)
    assert ALIKE.decode(grid, both).tolist() == [[1, CLASH, 0]]
    # 1 occurs once, and so keeps its place
    grid = np.array([[1, 2, 2]], np.uint8)
    assert SINGLE.decode(grid, np.array([[[[0, 1, 0]]]], np.uint8)).tolist() == [[1, 2, 0]]
    assert SINGLE.decode(grid, np.array([[[[1, 1, 0]]]], np.uint8)).tolist() == [[CLASH, 2, 0]]


def test_equal_starts_with_different_targets_do_not_fit():
    first = Pair(np.array([[1, 0]], np.uint8), np.array([[0, 1]], np.uint8))
    other = Pair(np.array([[2, 0]], np.uint8), np.array([[2, 0]], np.uint8))
    assert ALIKE.fits([first])
    assert not ALIKE.fits([first, other])
    found = encodings([first, other], SYMBOLS, 0)
    # The outputs start with the symbols, too, so two names suffice.
    told = [each.features for each in found]
    assert told == [("=1", "=2", "inside"), ("filled", "inside"), ("=1", "=2", "odd", "largest")]


@given(some=st.lists(grids(), min_size=1, max_size=5))
def test_a_rule_is_applied_to_each_grid_alone(some):
    def shift(starts):
        return np.roll(starts[:, 3:4], 1, axis=-1)

    found = apply_rule(ALIKE, 4, some, shift)
    for before, after in zip(some, found, strict=True):
        assert (after == np.roll(before, 1, axis=1)).all()


@given(pair=pairs())
def test_only_background_is_cut_off(pair):
    bare = without_background(pair, 0)
    rows, columns = bare.before.shape
    for grid, cut in (pair.before, bare.before), (pair.after, bare.after):
        assert np.count_nonzero(grid) == np.count_nonzero(cut)
    both = bare.before | bare.after
    assert (rows, columns) == (1, 1) or (
        both[0].any() and both[-1].any() and both[:, 0].any() and both[:, -1].any()
    )


@given(pair=pairs(), most=st.integers(1, 3))
def test_long_stretches_are_shortened(pair, most):
    found = shortened(pair, most)
    both = np.stack([pair.before, pair.after], axis=-1).tolist()
    for _ in range(2):  # rows, then the columns, as the rows of the transposed grids
        kept = []
        for row in both:
            if kept[-most:] != [row] * most:
                kept.append(row)
        both = [list(column) for column in zip(*kept, strict=True)]
    assert np.stack([found.before, found.after], axis=-1).tolist() == both


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        (ALIKE, ["this", "another", "inside", "next this", "memory 1"]),
        (NAMED, ["1", "3", "filled", "inside", "next 2", "next 4", "memory 1"]),
    ],
)
def test_channels_are_named(encoding, names):
    assert encoding.named(range(len(names))) == names
    assert encoding.named([1, len(names)]) == [names[1], "memory 2"]
