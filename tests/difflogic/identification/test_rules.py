"""Spaces of rules: which neighbourhoods are alike, and what Golly makes of the names."""

import subprocess
from itertools import product

import numpy as np
import pytest

import difflogic
from difflogic.identification import Space, votes
from difflogic.identification.rules import COARSER, COUNTED, describe_hidden
from difflogic.identification.table_circuit import build, filled
from difflogic.pictures.patterns import parse_pattern
from tests.difflogic.formats.test_write_golly import crop, write_rle
from tests.difflogic.identification import automata
from tests.difflogic.identification.automata import film, soup
from tests.marks import needs


def alike(symmetry, cells):
    """The neighbourhoods of 3×3 cells that a rule must treat like this one, by its definition."""
    yield cells
    if symmetry in ("reflections", "isotropic"):
        yield np.fliplr(cells)
    if symmetry in ("rotations", "isotropic"):
        for turns, flip in product(range(4), (False, True)[: 1 + (symmetry == "isotropic")]):
            yield np.rot90(np.fliplr(cells) if flip else cells, turns)


@pytest.mark.parametrize("symmetry", ["none", "reflections", "rotations", "isotropic"])
def test_neighbourhoods_that_a_symmetry_treats_alike(symmetry):
    space = Space(symmetry=symmetry)
    patterns = space.digits.T.reshape(-1, 3, 3)
    lowest = [min(each.tobytes() for each in alike(symmetry, cells)) for cells in patterns]
    _, wanted = np.unique(lowest, return_inverse=True)
    assert len(set(zip(wanted, space.entry_of, strict=True))) == space.entries == wanted.max() + 1


def test_states_that_look_alike_are_described():
    told = describe_hidden(Space("moore", "outer-totalistic", 3, (0, 1, 0), private=True))
    assert (
        told == "state 2 looks like 0; only the cell itself can tell; the rule is outer-totalistic"
    )


def test_where_no_circuit_holds_a_rule_unseen_entries_are_0(monkeypatch):
    table = np.array([1, -1, 0, 1, -1, 1, 0, 0])
    monkeypatch.setattr("difflogic.identification.table_circuit.MOST_CELL_BITS", 2)
    circuit = build(Space("line-1"), table)
    assert filled(Space("line-1"), table, circuit).tolist() == [1, 0, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("hood", ["moore", "hexagonal", "line-2"])
@pytest.mark.parametrize("symmetry", COARSER)
def test_rules_of_a_coarser_symmetry_have_the_finer_one(hood, symmetry):
    space = Space(hood, symmetry, 2)
    for coarse in COARSER[symmetry]:
        pairs = set(zip(space.entry_of, Space(hood, coarse, 2).entry_of, strict=True))
        assert len(pairs) == space.entries


def test_sums_and_counts():
    line = Space("line-1", "totalistic", 4)
    assert (line.keys(line.digits) == line.digits.sum(axis=0)).all()
    assert line.shown(1) == 1
    sizes = [Space("line-3", symmetry, 3).entries for symmetry in COUNTED]
    assert sizes == [15, 3 * 13, 3 * 28]  # of six neighbours, 28 choices of three counts
    for hood, symmetry, entries in (
        ("moore", "outer-sum", 18),
        ("hexagonal", "rotations", 2 * 14),  # necklaces of six, and the centre
        ("von-neumann", "rotations", 12),
        ("line-2", "rotations", 20),
        ("hexagonal", "outer-totalistic", 14),
    ):
        assert Space(hood, symmetry).entries == entries
    assert Space("line-1", "outer-sum", 3).describe(6) == "centre 1, sum of neighbours 1"


@needs("bgolly")
@pytest.mark.parametrize("seed", range(4))
def test_golly_knows_the_names_of_isotropic_rules(tmp_path, seed):
    rng = np.random.default_rng(seed)
    space = Space(symmetry="isotropic")
    table = rng.integers(0, 2, space.entries)
    table[0] = 0  # bgolly shows rules with B0 differently
    name = space.name(space.spread(table))
    start = soup(rng, (24, 37), 0.5)
    write_rle(tmp_path / "start.rle", start, f"{name}:T37,24")
    for steps in (1, 7):
        command = ["bgolly", "-m", str(steps), "-o", "end.rle", "start.rle"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        wanted = film(automata.tabulated(space.spread(table)), start, 2, steps)[1]
        found = parse_pattern((tmp_path / "end.rle").read_bytes()).cells
        np.testing.assert_array_equal(found, crop(wanted))


def test_names_of_isotropic_rules_that_people_use():
    space = Space(symmetry="isotropic")
    digits = space.digits
    corners = digits[[0, 2, 6, 8]]
    edges = digits[[1, 3, 5, 7]]
    near = corners.sum(axis=0) + edges.sum(axis=0)
    centre = digits[4]
    adjacent = (digits[[0, 0, 2, 2, 8, 8, 6, 6]] & digits[[1, 3, 1, 5, 5, 7, 3, 7]]).any(axis=0)
    born = (centre == 0) & (near == 2) & ~adjacent
    stays = (centre == 1) & ((near == 1) | (near == 2))
    assert space.name((born | stays).astype(int)) == "B2-a/S12"  # Just Friends
    opposite = (digits[:4] & digits[8:4:-1]).any(axis=0)
    half = (centre == 0) & (near == 2) & (adjacent | opposite)
    assert space.name(half.astype(int)) == "B2ain/S"  # three letters of six, in order
    gravity = np.where(digits[1] == 1, 1, 0)
    assert space.name(gravity) is None
    memory = Space("line-1", states=3, memory=True)
    assert memory.name(-memory.digits[-1] % 3) is None


@pytest.mark.parametrize("more", [0, 1])
def test_one_wrong_cell_in_the_last_frame_of_several_chunks_is_found(more, monkeypatch):
    """It only follows others: at the end of a chunk, or in one of a single transition."""
    width = 600
    steps = 10 + more
    monkeypatch.setattr(votes, "CELLS_AT_ONCE", 5 * width)
    frames = film(automata.elementary(90), soup(np.random.default_rng(0), (1, width)), steps + 1)
    assumed = difflogic.Assumptions("line-1", boundary="periodic")
    difflogic.identify(frames, assumed)
    frames[-1, 0, 77] ^= 1
    with pytest.raises(difflogic.DctError, match="contradicted"):
        difflogic.identify(frames, assumed)
