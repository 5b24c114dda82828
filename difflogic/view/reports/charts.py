"""Charts as SVG, in the colours that the page's style sheet gives them: no library, no script."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 26, 34
MOST_POINTS = 360
"""Of a line: the points between are averaged."""

_BAR = 20


@dataclass(frozen=True)
class Line:
    """A curve: its name, and points (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """The y axis: values that are ticked, with their texts, and where a value stands."""

    ticks: Mapping[float, str]
    place: Callable[[float], float]
    """Of a value, from 0 at the foot to 1."""


def logarithmic(most: float) -> Scale:
    """Return a scale up to `most` that is logarithmic and has a zero: log(1 + y)."""
    top = max(most, 1)
    powers = range(1 if top > 1000 else 0, 9)  # 1 stands too close to 0 then
    ticks = [0, *(10**power for power in powers if 10**power <= top)]
    return Scale(
        {tick: f"{tick:,}" for tick in ticks}, lambda y: math.log1p(max(y, 0)) / math.log1p(top)
    )


def percent(least: float) -> Scale:
    """Return a scale of shares, 0 to 1, that begins below `least` where little happens."""
    step = next((s for s in (20, 10, 5, 2, 1) if 100 * (1 - least) > 2 * s), 0.5)
    low = min(max(0.0, math.floor(100 * least / step) * step), 100 - step)
    ticks = [low + step * n for n in range(round((100 - low) / step) + 1)]
    return Scale(
        {tick / 100: f"{tick:g} %" for tick in ticks}, lambda y: (100 * y - low) / (100 - low)
    )


def lines(
    drawn: Sequence[Line],
    x_name: str,
    marks: Mapping[str, float] = {},
    *,
    scale: Scale | None = None,
    starts: Iterable[float] = (),
    events: Iterable[float] = (),
    height: int = HEIGHT,
) -> Markup:
    """Return curves over a common x, y on a logarithmic scale unless another one is given.

    `marks` are places on the x axis with a name, `starts` and `events` such without one: at a start
    something begins anew, and a line goes all the way up.
    """
    points = [point for line in drawn for point in line.points]
    end = max([x for x, _ in points] + list(marks.values()), default=1) or 1
    y_scale = scale or logarithmic(max([y for _, y in points], default=1))
    foot = height - BOTTOM

    def x_at(x: float) -> float:
        return LEFT + x / end * (WIDTH - LEFT - RIGHT)

    def y_at(y: float) -> float:
        return foot - y_scale.place(y) * (foot - TOP)

    parts = []
    for tick, text in y_scale.ticks.items():
        parts.append(_rule(LEFT, WIDTH - RIGHT, y_at(tick), y_at(tick)))
        parts.append(_text(text, LEFT - 6, y_at(tick) + 4, "end", "tick"))
    for place in _ticks(end):
        parts.append(_text(f"{place:,}", x_at(place), foot + 17, "middle", "tick"))
    parts.append(_text(x_name, WIDTH - RIGHT, height - 3, "end", "tick"))
    parts += [_rule(x_at(x), x_at(x), TOP, foot, "start") for x in starts]
    parts += [_rule(x_at(x), x_at(x), foot - 4, foot + 4, "event") for x in events]
    for number, line in enumerate(drawn, 1):
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in _thinned(line.points))
        parts.append(Markup('<polyline class="s{}" points="{}"/>').format(number, path))
        left = LEFT + 150 * (number - 1)
        sample = f"{left},10 {left + 22},10"
        parts.append(Markup('<polyline class="s{}" points="{}"/>').format(number, sample))
        parts.append(_text(line.name, left + 28, 14))
    for name, x in marks.items():
        at = x_at(x)
        parts.append(_rule(at, at, TOP, foot))
        near_end = x > 0.75 * end
        shift, anchor = (-5, "end") if near_end else (5, "start")
        parts.append(_text(name, at + shift, foot - 8, anchor))
    names = " and ".join(line.name for line in drawn)
    return _svg(WIDTH, height, f"{names} over {x_name}", parts)


def bars(counts: Mapping[str, int], name: str, passing: Iterable[str] = ()) -> Markup:
    """Return lying bars with their names and counts; those in `passing` are drawn faintly.

    They are as long as log(1 + count): of gates most hand an input on, which would hide the others.
    """
    most = max(counts.values(), default=0) or 1
    width, left, faint = 420, 96, set(passing)
    parts = []
    for row, (label, count) in enumerate(counts.items()):
        y = row * _BAR
        length = math.log1p(count) / math.log1p(most) * (width - left - 56)
        kind = "bar passing" if label in faint else "bar"
        parts.append(_text(label, left - 8, y + 14, "end"))
        parts.append(
            Markup('<rect class="{}" x="{}" y="{}" width="{:.1f}" height="13" rx="2"/>').format(
                kind, left, y + 3, length
            )
        )
        parts.append(_text(f"{count:,}", left + length + 6, y + 14, kind="tick"))
    return _svg(width, _BAR * len(counts) + 2, name, parts)


def _svg(width: int, height: int, label: str, parts: Sequence[Markup]) -> Markup:
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return head.format(width, height, label) + Markup("").join(parts) + Markup("</svg>")


def _text(text: str, x: float, y: float, anchor: str = "start", kind: str = "") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        kind, x, y, anchor, escape(text)
    )


def _rule(x0: float, x1: float, y0: float, y1: float, kind: str = "axis") -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
        kind, x0, x1, y0, y1
    )


def _ticks(end: float) -> list[int]:
    """Return at most nine round numbers from 0 to `end`."""
    steps = (digit * 10**power for power in range(16) for digit in (1, 2, 5))
    step = next(step for step in steps if end / step <= 8)
    return list(range(0, int(end) + 1, step))


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [points[first : first + size] for first in range(0, len(points), size)]
    return [
        (group[-1][0], sum(y for _, y in group) / len(group)) for group in groups
    ]  # the x of a group is its last: a curve ends where the run does
