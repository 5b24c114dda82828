"""Parts of a report: charts, the command that repeats a training, and attempts."""

import shlex
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from difflogic.config import load_config
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.training.metrics import History
from difflogic.view.reports import contents, curves
from difflogic.view.reports.contents import _attempts, train_command
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


def test_figures_show_what_was_recorded():
    old = History(replace(row, decided=None) for row in rows(8))
    (losses,) = curves.figures(old, None, None)
    assert losses["chart"]["events"] == [5]
    losses, decided, searches = curves.figures(History(rows(20)), 8.0, 4)
    assert "started over" not in losses["caption"]
    assert losses["chart"]["events"] == [5, 10, 15, 20]
    assert losses["chart"]["marks"] == [(8.0, "verified exact"), (4, "published: learned")]
    assert dict(decided["chart"]["lines"]) == {
        "decided gates": [(n, 1 - n / 5000) for n in range(1, 21)]
    }
    assert dict(searches["chart"]["lines"]) == {
        "before a search": [(10, 40), (20, 80)],
        "after it": [(10, 10), (20, 20)],
    }
    drawn = curves.noise_figure({"curves": {"synchronous": [[0.0, 0.0], [0.5, 0.3]]}})
    assert drawn["chart"]["lines"] == [["synchronous", [(0.0, 0.0), (50.0, 0.3)]]]
    assert curves.figures(None, None, None) == curves.figures(History(), None, None) == []


def test_figures_mark_restarts():
    found = curves.figures(History(rows(10, (2, 5))), None, None)
    assert found[0]["caption"].endswith(" Learning started over 2 times, at dotted lines.")
    assert [figure["chart"]["starts"] for figure in found] == [[2, 5]] * 3
    (once, _) = curves.figures(History(rows(2, (1,))), None, None)
    assert once["caption"].endswith(" Learning started over once, at the dotted line.")
    assert _attempts(History(rows(8, (2, 5)))) == "3"
    assert _attempts(History(rows(1, (2, 5)))) is _attempts(History()) is None
    assert _attempts(History(rows(1))) is None


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
    row = SimpleNamespace(search=None)
    if wrong is not None:
        row.search = SimpleNamespace(wrong_before=wrong, exact=True)
    model = Model.create(tiny("finishing.every=5"))
    summary = {"polished": polished and {"gates": polished}}
    source = Source(from_model(model), model, SimpleNamespace(rows=[row]), summary)
    assert contents.origin(source) == said
