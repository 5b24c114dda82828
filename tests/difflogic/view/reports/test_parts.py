"""Parts of a report: charts, the command that repeats a training, and attempts."""

from __future__ import annotations

import shlex
from itertools import pairwise
from types import SimpleNamespace

import pytest

from difflogic.config import load_config
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.training.metrics import History, MetricsRow, Search
from difflogic.view.reports import contents, curves
from difflogic.view.reports.contents import _attempts, train_command
from difflogic.view.reports.source import Source
from tests.difflogic.training.tiny import tiny


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
    old = History(
        [MetricsRow(n, 9.0 / n, 4.0, 0.5, {"finish": float(n == 5)}) for n in range(1, 9)]
    )
    (losses,) = curves.figures(old, None, None)
    assert losses["chart"]["events"] == [5]
    new = History(
        [
            MetricsRow(
                n,
                9.0 / n,
                decided=1 - n / 100,
                search=Search(40, 4, 0, 9, n == 8) if n % 4 == 0 else None,
            )
            for n in range(1, 9)
        ]
    )
    losses, decided, searches = curves.figures(new, 8.0, 4)
    assert "started over" not in losses["caption"]
    assert losses["chart"]["events"] == [4, 8]
    assert losses["chart"]["marks"] == [(8.0, "verified exact"), (4, "published: learned")]
    assert dict(decided["chart"]["lines"]) == {
        "decided gates": [(n, round(1 - n / 100, 2)) for n in range(1, 9)]
    }
    assert dict(searches["chart"]["lines"]) == {
        "before a search": [(4, 40), (8, 40)],
        "after it": [(4, 4), (8, 4)],
    }
    assert curves.figures(None, None, None) == curves.figures(History(), None, None) == []


def test_figures_mark_restarts():
    begun = [
        MetricsRow(
            n,
            9.0 / n,
            decided=1 - n / 100,
            search=Search(40, 4, 0, 9, False),
            attempt=1 + (n > 2) + (n > 5),
        )
        for n in range(1, 9)
    ]
    found = curves.figures(History(begun), None, None)
    assert found[0]["caption"].endswith(" Learning started over 2 times, at dotted lines.")
    assert [figure["chart"]["starts"] for figure in found] == [[2, 5]] * len(found)
    (once,) = curves.figures(History([MetricsRow(n, 1.0, attempt=n) for n in (1, 2)]), None, None)
    assert once["caption"].endswith(" Learning started over once, at the dotted line.")
    assert _attempts(History(begun)) == "3"
    assert _attempts(History(begun[:1])) is _attempts(History()) is None
    assert _attempts(History([MetricsRow(1, 1.0)])) is None


@pytest.mark.parametrize(
    ("wrong", "polished", "said"),
    [
        (None, None, "gradient descent and a search found them"),
        (0, None, "gradient descent found them"),
        (1, None, "gradient descent found them, and a search mended the last 1 wrong bit"),
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
