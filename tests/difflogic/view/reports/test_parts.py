"""Charts, the command to repeat a run, and what is said of numbers."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from difflogic.config import load_config, shipped_configs
from difflogic.scale.verification.checks import with_sections
from difflogic.training.metrics import History, MetricsRow, Search
from difflogic.view.reports import charts, contents, curves
from difflogic.view.reports.repeating import command


@pytest.mark.parametrize("name", shipped_configs())
@pytest.mark.parametrize(
    "changes", [[], ["training.seed=7", "training.learning_rate=0.01", 'hardening.op="sample"']]
)
def test_the_command_gives_the_same_configuration(name, changes):
    config = load_config(name, changes)
    words = shlex.split(command(config)[0])
    assert words[:3] == ["dct", "train", name]
    options = dict(zip(words[3::2], words[4::2], strict=True)) if len(words) == 5 else {}
    sets = [after for before, after in pairwise(words) if before == "--set"]
    seed = words[words.index("--seed") + 1]
    assert load_config(name, [*sets, f"training.seed={seed}"]).to_dict() == config.to_dict()
    assert not options or options == {"--seed": seed}


def test_what_no_command_line_says_needs_a_file():
    config = load_config("checkerboard")
    assert command(config.model_copy(update={"name": "mine"}))[0] == "dct train mine.toml"
    started = with_sections(config, training={"start_from": 64 * "0"})
    line, words = command(started)
    assert line == "dct train checkerboard.toml --from start.npz"
    assert words.endswith("and start.npz out of the run's directory")


def test_curves_keep_their_order_and_end_where_the_run_does():
    points = [(n + 1, 1000.0 / (n + 1)) for n in range(5000)]
    drawn = charts.lines([charts.Line("soft <loss>", points)], "epoch", {"a & b": 400.0})
    root = ElementTree.fromstring(str(drawn))
    curve, sample = root.iter("polyline")
    places = [tuple(map(float, pair.split(","))) for pair in curve.attrib["points"].split()]
    assert len(places) <= charts.MOST_POINTS + 1
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert places[-1][0] == pytest.approx(charts.WIDTH - charts.RIGHT)
    assert [y for _, y in places] == sorted(y for _, y in places), "falls: y grows downwards"
    texts = ["".join(text.itertext()) for text in root.iter("text")]
    assert {"soft <loss>", "a & b", "epoch", "0", "1,000"} <= set(texts)
    assert sample.attrib["class"] == "s1"


@pytest.mark.parametrize("least", [0.0, 0.3, 0.85, 0.9, 0.969, 0.99, 0.9999, 1.0])
def test_a_scale_of_shares_reaches_from_below_the_least_to_all(least):
    scale = charts.percent(least)
    assert 0 <= scale.place(least) <= 1
    assert scale.place(1.0) == pytest.approx(1)
    assert scale.ticks[1.0] == "100 %"
    assert 2 <= len(scale.ticks) <= 7
    places = [scale.place(tick) for tick in scale.ticks]
    assert places == sorted(places)
    assert places[0] == pytest.approx(0, abs=1e-9)


def test_figures_show_what_the_run_has_recorded():
    old = History(
        [MetricsRow(n, 9.0 / n, 4.0, 0.5, {"finish": float(n == 5)}) for n in range(1, 9)]
    )
    (losses,) = curves.figures(old, None, None)
    assert str(losses["chart"]).count('class="event"') == 1
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
    assert str(losses["chart"]).count('class="event"') == 2
    for figure, words in (
        (losses, {"soft loss", "verified exact", "published: learned"}),
        (decided, {"decided gates", "92 %", "100 %"}),
        (searches, {"before a search", "after it", "10"}),
    ):
        root = ElementTree.fromstring(str(figure["chart"]))
        assert words <= {"".join(text.itertext()) for text in root.iter("text")}
    assert curves.figures(None, None, None) == curves.figures(History(), None, None) == []


def test_figures_mark_where_learning_started_over():
    begun = [
        MetricsRow(
            n,
            9.0 / n,
            decided=1 - n / 100,
            search=Search(40, 4, 0, 9, False),
            attempt=1 + (n > 2) + (n > 5),
            given_up=n in (2, 8),
        )
        for n in range(1, 9)
    ]
    found = curves.figures(History(begun), None, None)
    assert "started over 2 times, at dotted lines, where 1 of 2 attempts" in found[0]["caption"]
    for figure in found:
        root = ElementTree.fromstring(str(figure["chart"]))
        marked = [line.get("x1") for line in root.iter("line") if line.get("class") == "start"]
        width = charts.WIDTH - charts.LEFT - charts.RIGHT
        assert marked == [f"{charts.LEFT + epoch / 8 * width:.1f}" for epoch in (2, 5)]
    (once,) = curves.figures(History([MetricsRow(n, 1.0, attempt=n) for n in (1, 2)]), None, None)
    assert once["caption"].endswith(" Learning started over once, at the dotted line.")
    assert contents._attempts(History(begun), 1) == "3, 2 given up"
    assert contents._attempts(History(begun[2:5]), 1) == "2"
    assert contents._attempts(History(begun[:1]), 1) is contents._attempts(History(), 1) is None
    assert contents._attempts(History([MetricsRow(1, 1.0)]), 1) is None


def test_a_run_that_an_earlier_version_began_has_attempts_that_are_not_recorded():
    rows = [MetricsRow(n, 1.0, attempt=None if n < 3 else n - 1) for n in range(1, 6)]
    assert contents._attempts(History(rows), 1) == "4, how many were given up is not recorded"
    assert contents._attempts(History(rows), 0) == "4"
    (found,) = curves.figures(History(rows), None, None)
    assert found["caption"].endswith(" at dotted lines, and before these, which is not recorded.")


@pytest.mark.parametrize("end", [1, 2, 7, 40, 300, 999, 4200, 123456])
def test_ticks_are_few_and_round(end):
    ticks = charts._ticks(end)
    assert 2 <= len(ticks) <= 9
    assert ticks[0] == 0
    assert ticks[-1] <= end
    assert all(re.fullmatch(r"[125]0*", str(tick)) for tick in ticks[1:2])


def test_bars_are_as_long_as_the_logarithms_of_their_counts():
    root = ElementTree.fromstring(str(charts.bars({"a": 99, "b": 9, "c": 0}, "ops", ["b"])))
    widths = [float(rect.attrib["width"]) for rect in root.iter("rect")]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.1)
    assert widths[2] == 0
    assert [rect.attrib["class"] for rect in root.iter("rect")] == ["bar", "bar passing", "bar"]


@pytest.mark.parametrize("value", ["x", None, True, [1], {"a": 1}, float("nan"), 1e400])
def test_what_is_no_number_is_left_out(value):
    assert contents._number({"epochs": value}, "epochs") is None
