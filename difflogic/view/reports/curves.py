"""How a run was learned, as figures: losses, decided gates, and searches for an exact circuit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.circuit.gates import DECIDED
from difflogic.training.metrics import History, Restart, restarts

LOW = 170
"""Height of the figures below the first."""

Mark = tuple[float, str]
"""A place on the x axis, and its words."""

MOST_EVENTS = 400
"""That are marked: of more every second one, or fewer."""

MOST_POINTS = 360
"""Of a line: the points between are averaged."""


def figures(
    history: History | None, exact: float | None, published: int | None
) -> list[dict[str, Any]]:
    """Return charts for the page to draw, as far as the run has recorded what they show.

    Each has an `id`, a `label`, a `caption`, and a `chart` as `drawChart` of charts.js takes it.
    `exact` is the epoch after which a circuit was verified, `published` that of the article.
    """
    if not history:
        return []
    marks = [] if exact is None else [(exact, "verified exact")]
    begun = restarts(history)
    starts = [restart.epoch for restart in begun[:: -(-len(begun) // MOST_EVENTS) or 1]]
    found = [_losses(history, marks, starts, exact, published)]
    found[0]["caption"] += _told(begun)
    decided = [(row.epoch, row.decided) for row in history if row.decided is not None]
    if decided:
        found.append(_decided(decided, marks, starts))
    searches = [(row.epoch, row.search) for row in history if row.search is not None]
    if searches:
        before = [(epoch, search.wrong_before) for epoch, search in searches]
        after = [(epoch, search.wrong) for epoch, search in searches]
        found.append(_searches(before, after, marks, starts))
    return found


def _told(begun: Sequence[Restart]) -> str:
    """Say how often learning started over."""
    if not begun:
        return ""
    times = "once, at the dotted line"
    if len(begun) > 1:
        times = f"{len(begun):,} times, at dotted lines"
    return f" Learning started over {times}."


def _losses(
    history: History,
    marks: Sequence[Mark],
    starts: Sequence[int],
    exact: float | None,
    published: int | None,
) -> dict[str, Any]:
    soft = [(row.epoch, row.soft_loss) for row in history]
    hard = [(row.epoch, row.hard_loss) for row in history if row.hard_loss is not None]
    searched = [row.epoch for row in history if row.searched]
    events = searched[:: -(-len(searched) // MOST_EVENTS) or 1]
    if published is not None and published <= len(history.rows):
        marks = [*marks, (published, "published: learned")]
    caption = (
        "Loss is the sum of squared errors: of the soft gates that are trained, and of the hard "
        "circuit that they stand for, on the same batch. The scale is logarithmic, with a zero."
    )
    if events:
        caption += " Marks on the axis are searches for an exact circuit."
    if exact is not None:
        caption += (
            " Exact is a circuit that a search made of the gates at that epoch and that was "
            "verified on starts of its own; the hard loss is that of the gates themselves."
        )
    return _figure(
        "loss-chart",
        caption,
        {"soft loss": soft, "hard loss": hard},
        marks,
        starts,
        events=events,
        height=280,
    )


def _decided(
    points: Sequence[tuple[int, float]], marks: Sequence[Mark], starts: Sequence[int]
) -> dict[str, Any]:
    caption = (
        f"Gates with an op whose probability is above {DECIDED}. All begin decided, "
        "as gates that hand on their first input; gates that learn leave that op for another."
    )
    lines = {"decided gates": points}
    return _figure("decided-chart", caption, lines, marks, starts, scale="percent")


def _searches(
    before: Sequence[tuple[int, int]],
    after: Sequence[tuple[int, int]],
    marks: Sequence[Mark],
    starts: Sequence[int],
) -> dict[str, Any]:
    caption = (
        "Cells that the hard circuit had wrong before and after each search, which "
        "changes ops gate by gate. A search brings further starts in once it has solved the first "
        "ones, so that the counts may be of different starts."
    )
    lines = {"before a search": before, "after it": after}
    return _figure("searches-chart", caption, lines, marks, starts)


def _figure(
    id: str,
    caption: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    marks: Sequence[Mark],
    starts: Sequence[int],
    *,
    events: Sequence[int] = (),
    scale: str = "logarithmic",
    height: int = LOW,
) -> dict[str, Any]:
    chart = {
        "x": "epoch",
        "lines": [[name, _thinned(points)] for name, points in lines.items()],
        "scale": scale,
        "marks": marks,
        "starts": starts,
        "events": events,
        "height": height,
    }
    label = f"{' and '.join(lines)} over epochs"
    return {"id": id, "label": label, "caption": caption, "chart": chart}


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [points[first : first + size] for first in range(0, len(points), size)]
    means = [(group[-1][0], sum(y for _, y in group) / len(group)) for group in groups]
    # The x of a group is its last: a curve ends where the run does.
    return [(x, float(f"{y:.6g}")) for x, y in means if math.isfinite(y)]
