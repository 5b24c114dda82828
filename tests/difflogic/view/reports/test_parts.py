"""Parts of a report: charts, the command that repeats a training, and attempts."""

import re
import shlex
from dataclasses import replace
from itertools import pairwise

import pytest

from difflogic.config import load_config
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.metrics import History, Search
from difflogic.view.reports import build, curves
from difflogic.view.reports.contents import attempts, train_command
from difflogic.view.reports.source import Source
from tests.difflogic.training.tiny import tiny
from tests.difflogic.view.histories import rows


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
    old = History(replace(row, decided=None, accuracy=None) for row in rows(8))
    (losses,) = curves.charts(old, None, None).values()
    assert losses["events"] == [5]
    found = curves.charts(History(rows(20)), 8.0, 4)
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
    assert curves.charts(None, None, None) == curves.charts(History(), None, None) == {}


@pytest.mark.parametrize(
    ("ends", "said"),
    [((), None), ((1,), "once, at the dotted line"), ((2, 5), "2 times, at dotted lines")],
)
def test_charts_mark_restarts(ends, said):
    model = Model.create(tiny())
    history = History(rows(10, ends))
    found = curves.charts(history, None, None)
    assert [chart["starts"] for chart in found.values()] == [[*ends]] * 4
    trained = from_model(model)
    caption = re.search(r"Loss is .*", build(Source(trained, model, history), trained, None))[0]
    assert (f" Learning started over {said}.</figcaption>" in caption) == (said is not None)
    assert ("started over" in caption) == (said is not None)


def test_attempts_count_if_learning_started_over():
    assert attempts(History(rows(8, (2, 5)))) == "3"
    assert attempts(History(rows(1, (2, 5)))) is attempts(History()) is None
    assert attempts(History(rows(1))) is None


@pytest.mark.parametrize(
    ("wrong", "polished", "said"),
    [
        (None, None, "gradient descent and a search found them"),
        (0, None, "gradient descent found them"),
        (
            539,
            [245, 2],
            "gradient descent found them, and a search mended the last 539 wrong bits; polishing "
            "then left 2 of 245 gates",
        ),
    ],
)
def test_what_found_the_gates(wrong, polished, said):
    search = None if wrong is None else Search(wrong, 0, 1, 9, True)
    history = History([replace(rows(1)[0], search=search)])
    model = Model.create(tiny("finishing.every=5"))
    polishing = polished and {"gates": polished}
    summary = {
        **{"epochs": 1, "exact_epoch": 1, "seconds": {}, "versions": {}, "polished": polishing},
        "cpu": {"name": "", "count": 1},
    }
    trained = from_model(model)
    page = build(Source(trained, model, history, summary), trained, None)
    assert f" Nobody wrote these gates: {said}. <strong>" in page
