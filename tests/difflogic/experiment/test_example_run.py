"""Rules learned from examples: the best one is kept, and applied to other grids."""

import json
import re
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

import difflogic
from difflogic.examples.pairs import Examples, Pair, local
from difflogic.examples.reading import read_inputs
from difflogic.experiment import example_run
from difflogic.experiment.example_options import ExampleOptions
from difflogic.experiment.example_run import train_examples
from difflogic.experiment.example_ways import ways_to_learn
from difflogic.formats.circuit_file import read_circuit, write_circuit
from difflogic.library.applying import save_grids
from difflogic.run.lock import holding, removable
from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import CircuitError, ConfigError, RunDirectoryError
from difflogic.system.files import ATTEMPTS
from difflogic.tasks import make_task


def moved(rng, symbols, width):
    """A block of one symbol, which moves one cell to the right."""
    row = np.zeros((1, width), np.uint8)
    first = int(rng.integers(0, width - 4))
    row[0, first : first + int(rng.integers(1, 4))] = rng.integers(1, symbols)
    return Pair(row, np.roll(row, 1, axis=1))


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(1)
    pairs = [moved(rng, 4, int(rng.integers(6, 10))) for _ in range(8)]
    return Examples(("0", "1", "2", "3"), tuple(pairs[:5]), tuple(pairs[5:]))


@pytest.fixture(scope="module")
def learned(examples, tmp_path_factory):
    return train_examples(
        examples, ExampleOptions(directory=tmp_path_factory.mktemp("runs") / "run", time_limit=600)
    )


@pytest.mark.once
@pytest.mark.slow
def test_the_smallest_right_circuit_becomes_the_run(learned):
    assert learned.right
    scores = learned.summary.scores
    assert scores.right_pairs == {"training": (5, 5), "held out": (3, 3)}
    assert scores.assurance.verdict == scores.padded.verdict == "proved"
    right = [each for each in learned.attempts if each.right]
    assert scores.checked.active_gates == min(each.gates for each in right)
    attempts = json.loads((learned.path / ATTEMPTS).read_text())
    assert attempts == [vars(each) for each in learned.attempts]
    assert not list(learned.path.glob(".attempt*"))
    assert difflogic.load(learned.path).model is not None
    (record,) = difflogic.runs(learned.path.parent)
    assert (record["state"], record["verdict"]) == ("finished", "right on its pairs")
    assert removable(learned.path).size > 0
    seconds = learned.summary.seconds
    parts = ("training", "start", "compilation", "tests", "others")
    total = sum(getattr(seconds, part) for part in parts)
    assert record["seconds"] == seconds.all == pytest.approx(total)
    assert seconds.processor > sum(each.processor_seconds for each in learned.attempts)


@pytest.mark.once
@pytest.mark.slow
def test_it_is_applied_to_wider_grids_and_unseen_symbols(learned, tmp_path):
    rng = np.random.default_rng(2)
    pairs = [moved(rng, 16, width) for width in (5, 9, 30)]
    circuit = tmp_path / "rule.json"
    difflogic.simplify(learned.path).save(circuit)
    for source in (learned.path, circuit):
        found = difflogic.apply(source, [pair.before for pair in pairs])
        for each, pair in zip(found, pairs, strict=True):
            assert [list(map(int, row)) for row in each.after] == pair.after.tolist()
    for name in ("out.json", "out.csv"):
        save_grids(found, tmp_path / name)
        grids = read_inputs(tmp_path / name)
        shown = [raw.after or raw.before for raw in grids]
        assert shown == [[list(row) for row in each.after] for each in found]


@pytest.mark.slow
def test_letters_that_no_example_has_are_more_symbols(tmp_path):
    pairs = tuple(map(Pair.parse, ["1000>0100", "02000>00200", "10200>01020"]))
    examples = Examples((".", "a", "b"), pairs)
    learned = train_examples(examples, ExampleOptions(directory=tmp_path / "run"))
    (found,) = difflogic.apply(learned.path, [["z", ".", ".", "y", ".", "b", "."]])
    assert found.after == ((".", "z", ".", ".", "y", ".", "b"),)
    with pytest.raises(ConfigError, match=r'no symbol "0": the examples have \., a, b$'):
        difflogic.apply(learned.path, [["0", "z", "0"]])


def test_a_second_process_is_refused_and_touches_nothing(tmp_path, examples, monkeypatch):
    """The first begins in the same directory while the second reads its examples."""
    run = RunDirectory.at(tmp_path / "run")
    held = ExitStack()

    def begin(*_):
        held.enter_context(holding(run))
        (run.attempt(1).path).mkdir()
        return ways_to_learn(*_)

    monkeypatch.setattr(example_run, "ways_to_learn", begin)
    with held, pytest.raises(RunDirectoryError, match="is not empty"):
        train_examples(examples, ExampleOptions(directory=run.path))
    assert run.attempt(1).path.exists()


def test_what_decides_a_cell():
    rng = np.random.default_rng(0)
    grids = [rng.integers(0, 2, (9, 9), np.uint8) for _ in range(20)]
    moves = [Pair(grid, np.roll(grid, 1, axis=1)) for grid in grids]
    far = [Pair(grid, np.roll(grid, 2, axis=1)) for grid in grids]
    known = [[local(pairs, periodic) for periodic in (False, True)] for pairs in (moves, far)]
    assert known == [[False, True], [False, False]]


@pytest.mark.once
@pytest.mark.slow
def test_a_search_that_its_time_limit_ends_is_finished(tmp_path):
    # Which of two cells remains depends on nothing that a cell can know in one step.
    texts = ("0101>0100", "0010100>0010000")
    pairs = (replace(Pair.parse(each), place=f"pair {n}") for n, each in enumerate(texts))
    examples = Examples(("0", "1"), (*pairs,))
    found = train_examples(
        examples, ExampleOptions(steps=1, time_limit=0.01, directory=tmp_path / "run")
    )
    assert not found.right
    assert found.summary.scores.right_pairs["training"][0] < 2
    assert len(found.differences) == len(found.wrong) > 0
    said = rf"{found.wrong[0]}, row 0, column \d: the file says \d, the rule (\d|two symbols)"
    assert re.fullmatch(said, found.differences[0])
    assert found.wrong[0] in found.hint
    (record,) = difflogic.runs(tmp_path)
    assert (record["state"], record["verdict"]) == ("finished", "not exact")


def test_a_circuit_of_something_else_is_refused():
    with pytest.raises(ConfigError, match="was not learned from examples"):
        difflogic.apply("docs/gallery/flood.json", [[[0]]])


def test_a_contradicting_encoding_is_refused():
    pairs = (Pair.parse("12>21"), Pair.parse("13>13"))
    examples = Examples(("0", "1", "2", "3"), pairs)
    with pytest.raises(ConfigError, match="no encoding fits with --symbols alike"):
        train_examples(examples, ExampleOptions(symbols="alike"))


def test_examples_of_background_alone_are_no_stage():
    pairs = tuple(map(Pair.parse, ["000>000", "1000>0100", "00>00"]))
    for way in ways_to_learn(Examples(("0", "1"), pairs)):
        for stage in make_task(way.config).stages:
            start, target = stage.sample(np.random.default_rng(0))
            assert start.any()
            assert target.any()


@pytest.mark.parametrize(
    "encoding",
    [
        {"symbols": ["0"]},
        {"background": 2},
        {"features": ["=2"]},
        {"features": ["those"]},
        {"outputs": ["this", "=1"]},
    ],
)
def test_a_damaged_encoding_is_refused(tmp_path, encoding):
    text = write_circuit(difflogic.load("docs/gallery/flood.json").automaton)
    good = {"symbols": ["0", "1"], "background": 0, "features": [], "outputs": ["this"]}
    data = json.loads(text) | {"encoding": good | encoding}
    (tmp_path / "a.json").write_text(json.dumps(data))
    with pytest.raises(CircuitError, match="encoding"):
        read_circuit(tmp_path / "a.json")
