"""The pages' charts, in Node.js: places of lines, ticks and bars."""

import re
from pathlib import Path

import pytest

from tests.difflogic.view.node import needs_node, run_node

pytestmark = needs_node

RUNNER = Path(__file__).with_name("run_charts.mjs")
LEFT = 52
RIGHT = 700


def drawn(*calls):
    """The elements (name, attributes, text) that each call of a function of charts.js draws."""
    return run_node(RUNNER, calls=calls)


def chart(points, **options):
    return ["drawChart", {"x": "epoch", "lines": [["line", points]], **options}]


def lines_of(parts):
    """The points of each line, without keys."""
    found = [each["points"].split() for name, each, _ in parts if name == "polyline"]
    return [[tuple(map(float, pair.split(","))) for pair in pairs] for pairs in found[::2]]


def ticks_of(parts):
    """The texts beside the y axis, and below the x axis."""
    ticks = [(each, text) for name, each, text in parts if each.get("class") == "tick"]
    return (
        [text for each, text in ticks if float(each["x"]) < LEFT],
        [text for each, text in ticks if each["text-anchor"] == "middle"],
    )


def test_curves_keep_their_order_and_end_where_the_run_does():
    points = [(n + 1, 1000.0 / (n + 1)) for n in range(5000)]
    (parts,) = drawn(
        chart(
            points,
            marks=[(400, "a & b"), (6000, "beyond"), (None, "nowhere")],
            starts=[2500],
            events=[5000],
        )
    )
    (places,) = lines_of(parts)
    assert len(places) == 5000
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert places[-1][0] == RIGHT
    assert [y for _, y in places] == sorted(y for _, y in places), "falls: y grows downwards"
    texts = {text for name, _, text in parts if name == "text"}
    assert {"line", "a & b", "epoch", "0", "1,000"} <= texts
    assert not {"beyond", "nowhere"} & texts
    places = {each["class"]: float(each["x1"]) for name, each, _ in parts if name == "line"}
    assert (places["start"], places["event"]) == ((LEFT + RIGHT) / 2, RIGHT)


def test_a_scale_of_shares_begins_below_the_least_and_ends_at_1():
    shares = [0.0, 0.3, 0.85, 0.9, 0.969, 0.99, 0.9999, 1.0]
    for parts in drawn(*(chart([(1, each), (2, 1)], scale="percent") for each in shares)):
        ticks, _ = ticks_of(parts)
        assert ticks[-1] == "100 %"
        assert 2 <= len(ticks) <= 7
        heights = [float(each["y1"]) for _, each, _ in parts if each.get("class") == "axis"]
        assert heights == sorted(heights, reverse=True)
        ((_, least), (_, most)), *_ = lines_of(parts)
        assert heights[0] >= least >= most == heights[-1]


@pytest.mark.parametrize("first", [0, 30])
def test_ticks_are_few_and_round(first):
    ends = [11, 40, 300, 999, 4200, 123456]
    for end, parts in zip(
        ends, drawn(*(chart([(first + end, 1)], first=first) for end in ends)), strict=True
    ):
        _, ticks = ticks_of(parts)
        numbers = [int(text.replace(",", "")) for text in ticks]
        assert 2 <= len(numbers) <= 9
        assert first <= numbers[0]
        assert numbers[-1] <= first + end
        assert re.fullmatch(r"[125]0*", str(numbers[1] - numbers[0]))


def test_bars_have_logarithmic_lengths():
    (parts,) = drawn(["drawBars", [["a", 9999], ["b", 99], ["c", 0]], [1]])
    bars = [each for name, each, _ in parts if name == "rect"]
    widths = [float(bar["width"]) for bar in bars]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.1)
    assert widths[2] == 0
    assert [bar["class"] for bar in bars] == ["bar", "bar passing", "bar"]
    assert [text for _, each, text in parts if each.get("class") == "tick"] == ["9,999", "99", "0"]
