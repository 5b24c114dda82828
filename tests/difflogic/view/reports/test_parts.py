"""Parts of a report: charts, the command that repeats a training, and attempts."""

import shlex
from dataclasses import replace
from itertools import pairwise

import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.config import load_config
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.view.reports import curves
from difflogic.view.reports.contents import ReportSource, attempts, facts, origin, train_command
from tests.difflogic.run.summaries import summary
from tests.difflogic.run.test_story import GAIN
from tests.difflogic.training.tiny import tiny
from tests.difflogic.view.histories import rows
from tests.difflogic.view.reports.pages import automaton


@pytest.mark.parametrize("name", ["checkerboard", "lizard"])
@pytest.mark.parametrize("changes", [[], ["training.seed=7", 'training.precision="float64"']])
def test_the_command_gives_the_same_configuration(name, changes):
    config = load_config(name, changes)
    words = shlex.split(train_command(config)[0])
    assert words[:3] == ["dct", "train", name]
    sets = [after for before, after in pairwise(words) if before == "--set"]
    seed = words[words.index("--seed") + 1]
    assert load_config(name, [*sets, f"training.seed={seed}"]).to_dict() == config.to_dict()


def test_a_training_that_no_command_line_repeats_needs_a_file():
    config = load_config("checkerboard")
    assert train_command(config.model_copy(update={"name": "mine"}))[0] == "dct train mine.toml"
    started = config.with_facts(start_sha256=64 * "0")
    line, words = train_command(started)
    assert line == "dct train checkerboard.toml --from start.npz"
    assert words.endswith("and start.npz from the run")


def test_charts_show_what_was_recorded():
    old = [replace(row, decided=None, accuracy=None) for row in rows(8)]
    (losses,) = curves.charts(old, None, None).values()
    assert losses["events"] == [5]
    found = curves.charts(rows(20), 8.0, 4)
    assert found["loss"]["events"] == [5, 10, 15, 20]
    assert found["loss"]["marks"] == [(8.0, "verified exact"), (4, "published: learned")]
    assert dict(found["decided"]["lines"]) == {
        "decided gates": [(n, 1 - n / 5000) for n in range(1, 21)]
    }
    assert dict(found["searches"]["lines"]) == {
        "before a search": [(10, 40), (20, 80)],
        "after it": [(10, 10), (20, 20)],
    }
    drawn = curves.noise_chart({"curves": {"synchronous": [[0.0, 0.0], [0.5, 0.3]]}})
    assert drawn["lines"] == [["synchronous", [(0.0, 0.0), (50.0, 0.3)]]]
    assert curves.charts((), None, None) == {}


@pytest.mark.parametrize(("ends", "attempt"), [((), 1), ((1,), 2), ((2, 5), 3)])
def test_restarts_are_marked_and_counted(ends, attempt):
    found = curves.charts(rows(10, ends), None, None)
    assert [chart["starts"] for chart in found.values()] == [[*ends]] * 3
    assert attempts(rows(10, ends)) == attempt
    assert attempts(rows(1, ends)) == attempts(()) == 1


def test_what_found_the_gates():
    model = Model.create(tiny("finishing.every=5"))
    for given, said in (
        (None, "gradient descent found them"),
        (
            summary(exact_epoch=20, polished=GAIN),
            "gradient descent got 77.34 % of its samples' bits right at epoch 30; a search "
            "from the learned circuit found an exact one at epoch 20; polishing: random "
            "changes left 6 of 7 active gates, right from step 18 → 16 on",
        ),
    ):
        source = ReportSource(from_model(model), model, rows(1), given)
        assert origin(source) == f"Nobody wrote these gates: {said}."


def test_each_count_of_gates_says_what_it_counts():
    model = Model.create(tiny())
    trained = from_model(model)
    parameters = model.config.architecture.parameters
    found = dict(facts(ReportSource(trained, model), automaton("checkerboard")))
    assert found["gates with logits"] == f"{parameters:,}"
    assert found["active gates of a cell"] == "0"
    fewer = automaton("checkerboard").with_circuit(Circuit([], [], [], [4], (0,)))
    assert dict(facts(ReportSource(trained, model), fewer))["bits per cell"] == "1"
    assert found["gates of a cell"] == f"{trained.circuit.gates:,} as trained, 2 simplified"
