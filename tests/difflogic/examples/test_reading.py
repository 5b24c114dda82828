"""Files of examples: what is read agrees with what was written, and bad files are refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.examples.pairs import Examples, Pair
from difflogic.examples.reading import raw_grids, read_examples, read_inputs
from difflogic.system.errors import ConfigError


@st.composite
def grids(draw, most=16):
    rows = draw(st.integers(1, 5))
    columns = draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, most - 1), min_size=columns, max_size=columns)
    size = {"min_size": rows, "max_size": rows}
    return draw(st.lists(cells, **size)), draw(st.lists(cells, **size))


def is_sound(pairs):
    """Whether no input has two outputs, and some output differs from its input."""
    seen = {}
    clash = any(seen.setdefault(str(before), after) != after for before, after in pairs)
    return not clash and any(before != after for before, after in pairs)


some_pairs = st.lists(grids(), min_size=1, max_size=4).filter(is_sound)


def found(path):
    examples = read_examples([path])
    return [(pair.before.tolist(), pair.after.tolist()) for pair in examples.train]


def write(directory, pairs, suffix):
    path = directory / f"pairs{suffix}"
    listed = [{"input": before, "output": after} for before, after in pairs]
    if suffix == ".json":
        path.write_text(json.dumps({"train": listed}))
    elif suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, listed)))
    else:
        size = np.max([np.shape(before) for before, _ in pairs], axis=0)
        inputs, outputs, mask = arrays = np.zeros((3, len(pairs), *size), int)
        for number, (before, after) in enumerate(pairs):
            inside = tuple(map(slice, np.shape(before)))
            for array, cells in zip(arrays, (before, after, 1), strict=True):
                array[number][inside] = cells
        np.savez(path, inputs=inputs, outputs=outputs, mask=mask == 1)
    return path


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".npz"])
@given(pairs=some_pairs)
def test_what_was_written_is_read(tmp_path_factory, suffix, pairs):
    path = write(tmp_path_factory.mktemp("pairs"), pairs, suffix)
    assert found(path) == pairs


@given(pairs=some_pairs)
def test_a_pair_is_read_back_from_its_text(pairs):
    for before, after in pairs:
        pair = Pair(np.array(before, np.uint8), np.array(after, np.uint8))
        again = Pair.parse(str(pair))
        assert again.before.tolist() == before
        assert again.after.tolist() == after


def write_text(directory, text, name="pairs.json"):
    path = directory / name
    path.write_text(text)
    return path


def test_tests_of_a_list_of_tasks_are_kept_aside(tmp_path):
    pair = {"input": [[0, 1]], "output": [[1, 0]]}
    other = {"input": [[0, 2]], "output": [[2, 0]]}
    unknown = {"input": [[0, 3]]}
    tasks = [{"train": [pair], "test": test} for test in ([other], unknown)]
    path = write_text(tmp_path, json.dumps(tasks))
    examples = read_examples([path])
    assert [each.place for each in examples.train] == ["task 1 train pair 1", "task 2 train pair 1"]
    assert [each.place for each in examples.held_out] == ["task 1 test pair 1"]
    assert [raw.before for raw in read_inputs(path)] == [[["0", "2"]], [["0", "3"]]]


def test_a_task_is_read_by_its_name(tmp_path):
    pair = {"input": [[1, 0]], "output": [[0, 1]]}
    tasks = {f"task{n}": {"train": [pair] * n, "test": [{"input": [[n]]}]} for n in range(1, 8)}
    odd = {"": {"train": [pair]}, "a:b": {"train": [pair] * 2}, "c": 3}
    for content, name, found in (
        (tasks, ":task3", 3),
        (tasks, ":other", 'no task "other": .* "task1", .* "task5", …$'),
        (tasks, "", "name one"),
        (odd, ":", 1),
        (odd, ":a:b", 2),
        (odd, ":c", "json:c: the file: needs"),
        (odd, "", '"", "a:b", "c"$'),
        ([pair], ":x", 'no tasks by name: leave out ":x"'),
    ):
        path = Path(f"{write_text(tmp_path, json.dumps(content))}{name}")
        if isinstance(found, int):
            assert len(read_examples([path]).train) == found
            continue
        with pytest.raises(ConfigError, match=found):
            read_examples([path])
    write_text(tmp_path, json.dumps(tasks))
    (asked,) = read_inputs(tmp_path / "pairs.json:task3")
    assert asked.before == [["3"]]


def test_names_are_numbered_as_they_occur(tmp_path):
    path = write_text(tmp_path, ".,red,.\n\n.,.,red\n", "LINES.CSV")
    examples = read_examples([path])
    assert examples.symbols == (".", "red")
    assert examples.background == 0
    assert str(examples.train[0]) == "010>001"
    assert [raw.before for raw in read_inputs(path)] == [[[".", "red", "."]], [[".", ".", "red"]]]
    for text in ("a,a,.\n\n.,.,.\n", "a,b,b\n\n.,.,.\n"):  # a sign for nothing, or the commonest
        assert read_examples([write_text(tmp_path, text, "a.csv")]).background == 1


def test_a_share_is_kept_aside_at_random_but_reproducibly(tmp_path):
    rows = [([[n, 0]], [[0, n]]) for n in range(1, 11)]
    examples = read_examples([write(tmp_path, rows, ".json")])
    parts = [examples.split(0.2, seed) for seed in (0, 0, 1)]
    assert [len(part.held_out) for part in parts] == [2, 2, 2]
    texts = [[str(pair) for pair in part.held_out] for part in parts]
    assert texts[0] == texts[1] != texts[2]
    together = {str(pair) for pair in (*parts[0].train, *parts[0].held_out)}
    assert together == {str(pair) for pair in examples.train}
    with pytest.raises(ConfigError, match="leaves none"):
        examples.split(0.99, 0)


def task(before, after):
    return json.dumps({"train": [{"input": before, "output": after}]})


LONG = [[0] * 600] * 600
REFUSED = [
    (task([[0, 1], [0]], [[0]]), "train pair 1 input: row 1 has 1 cell, and row 0 has 2"),
    (task([[0, 16]], [[0, 1]]), "row 0, column 1: 16 is no symbol"),
    (task([[0, 0.5]], [[0, 1]]), "column 1: 0.5 is no symbol"),
    (task([[True]], [[0]]), "True is no symbol"),
    (task([[0, 1]], [[0, 1, 1]]), "the output has 1×3 cells, and the input 1×2"),
    (task([[0, 1]], [[0, 1]]), "every output equals its input"),
    ('{"train": []}', "no pair to learn from"),
    ('{"a": 1}', 'needs "train"'),
    ('{"train": [{"input": [[0]]}]}', "train pair 1: has no output"),
    ('{"train": [5]}', 'train pair 1: needs an "input"'),
    (task([[]], [[]]), "train pair 1 input: row 0 has no cells"),
    ("[[0, 1]]", 'needs "train" with a list of pairs'),
    ("{", "is not JSON"),
    ("[" * 100_000, "is not JSON"),
    (task(LONG, LONG), "more than 262144 cells"),
    (task([[chr(65 + n) for n in range(17)]], [["A"] * 17]), "has 17 symbols"),
    ("1,0\n", "an odd number", "odd.csv"),
    ("1,0\n1\n\n0,1\n0,1\n", "row 1 has 1 cell", "ragged.csv"),
    ("0 1\n\n1 0\n", "no comma", "other.csv"),
    ("ab.\nb.a\n\nba.\n.ab\n", "line 1: has no comma", "other.csv"),
    ("0.0,1\n", "0.0", "other.csv"),
    ("", "is no file of examples", "pairs.toml"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[1])
def test_bad_files_are_refused(tmp_path, case):
    text, words, *name = case
    path = write_text(tmp_path, text, *name)
    with pytest.raises(ConfigError) as caught:
        read_examples([path])
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("grids", "says"),
    [
        ([[]], "grid 1: row 0 has no cells"),
        ([5], "grid 1: must be rows of symbols"),
        (5, "5 is no list of grids: give each as rows of symbols"),
        ("abc", "'abc' is no list of grids"),
        ([[[1, 2], [3]]], "rows of several lengths"),
        (np.zeros((1, 2, 2, 2), int), "grid 1: row 0, column 0: .* is no symbol"),
    ],
)
def test_what_is_no_list_of_grids(grids, says):
    with pytest.raises(ConfigError, match=says):
        raw_grids(grids)


def test_a_contradiction_names_both_places(tmp_path):
    rows = [([[1, 0]], [[0, 1]]), ([[2, 0]], [[0, 2]]), ([[1, 0]], [[1, 1]])]
    with pytest.raises(ConfigError, match="train pair 1 and train pair 3 have the same input"):
        read_examples([write(tmp_path, rows, ".json")])
    pairs = [Pair(np.eye(2, dtype=np.uint8), np.full((2, 2), n, np.uint8), f"{n}") for n in (0, 1)]
    with pytest.raises(ConfigError, match="0 and 1 have the same input and different outputs"):
        Examples(("0", "1"), (pairs[0],), (pairs[1],))
    large = [np.full((512, 257), n, np.uint8) for n in range(4)]
    with pytest.raises(ConfigError, match="2 pairs have 263168 cells, more than 262144"):
        Examples(tuple("0123"), (Pair(*large[:2]), Pair(*large[2:])))


HOLE = np.array([[1, 0, 1]])


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"inputs": np.zeros((2, 3)), "outputs": np.zeros((2, 4))}, "of one shape"),
        ({"inputs": [[object()]], "outputs": [[0]]}, "values of type object"),
        ({"inputs": HOLE, "outputs": 1 - HOLE, "mask": HOLE}, "upper left corner"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, arrays, says):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ConfigError, match=says):
        read_examples([tmp_path / "a.npz"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "\n", "has no grid"),
        ("a.jsonl", "\n", "has no grid"),
        ("a.json", '{"train": []}', "has no grid"),
        ("a.json", "5", ".*needs a grid"),
    ],
)
def test_a_file_without_grids_is_refused(tmp_path, name, text, says):
    with pytest.raises(ConfigError, match=f"{name}: {says}"):
        read_inputs(write_text(tmp_path, text, name))


def test_a_missing_or_huge_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "huge.json"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_examples([path])
    with path.open("wb") as file:
        file.truncate(2**31)  # sparse
    with pytest.raises(ConfigError, match="is larger than"):
        read_examples([path])


def test_equal_pairs_count_once_and_only_on_one_side(tmp_path):
    one, two, three = ({"input": [[n, 0]], "output": [[0, n]]} for n in (1, 2, 3))
    path = write_text(tmp_path, json.dumps({"train": [one, two, one], "test": [two, three, three]}))
    examples, words = read_examples([path, path]).distinct()
    assert [str(pair) for pair in examples.train] == ["10>01", "20>02"]
    assert [str(pair) for pair in examples.held_out] == ["30>03"]
    assert words[0].startswith("left out pairs.json: test pair 1, pairs.json: test pair 1, not")
    assert words[-1] == "left out 7 pairs that others equal"
    parts = read_examples([write(tmp_path, [([[n, 0]], [[0, n]]) for n in (1, 2, 1)], ".json")])
    split = parts.distinct()[0].split(0.4, 0)
    assert not {str(pair) for pair in split.train} & {str(pair) for pair in split.held_out}


def test_pairs_under_other_keys_are_said(tmp_path, said):
    pair = {"input": [[1, 0]], "output": [[0, 1]]}
    task = {"train": [pair], "test": [], "arc-gen": [pair, pair], "name": "x", "more": [1, {}]}
    assert len(read_examples([write_text(tmp_path, json.dumps(task))]).train) == 1
    assert [text.partition(": ")[2] for text in said] == [
        '2 pairs under "arc-gen" not read: move to "train" or "test" what is to be used'
    ]
    with pytest.raises(ConfigError, match='needs "train"'):
        read_examples([write_text(tmp_path, json.dumps({"pairs": [pair]}))])
    assert '1 pair under "pairs" not read' in said[1]


def test_rows_may_be_texts(tmp_path):
    pair = {"input": ["..a", "b.."], "output": ["..a", "bbb"]}
    (read_back,) = read_examples([write_text(tmp_path, json.dumps([pair]))]).train
    assert str(read_back) == "001/200>001/222"
    many = {"input": ["abcdefghijklmnop"], "output": ["bacdefghijklmnop"]}
    assert len(read_examples([write_text(tmp_path, json.dumps([many]))]).symbols) == 16
    line = {"input": [".", "red", "."], "output": ["red", ".", "."]}
    assert read_examples([write_text(tmp_path, json.dumps([line]))]).symbols == (".", "red")


@pytest.mark.parametrize("between", [",", ";", "\t"])
@given(pairs=some_pairs)
def test_spreadsheets_are_read(tmp_path_factory, between, pairs):
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    wide = max(len(before[0]) for before, _ in pairs) + (between != ",")
    rows = [row for two in pairs for grid in two for row in (*grid, [])]
    filled = [[*map(str, row), *[""] * (wide - len(row))] for row in rows]
    path.write_text("\n".join(between.join(row) for row in filled), encoding="utf-8-sig")
    assert found(path) == pairs
