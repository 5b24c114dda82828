"""The figures of a training: losses, decided gates, and searches for an exact circuit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.circuit.gates import DECIDED
from difflogic.training.metrics import History, restarts

LOW = 170
"""Height of the figures below the first."""

MOST_EVENTS = 400
"""Most marks. Of more, every second or third is kept, and so on."""

MOST_POINTS = 360
"""Most points of a line. More are averaged in groups."""

LOSSES = (
    "Loss is the sum of squared errors, of the soft gates and of the hard circuit, on the same "
    "batch. The scale is logarithmic, with a zero."
)
EVENTS = " Marks on the axis are searches for an exact circuit."
EXACT = (
    " The exact circuit is one that a search made from the gates at that epoch, verified on other "
    "starts; the hard loss is that of the gates themselves."
)
GATES = (
    f"Gates with an op whose probability is above {DECIDED}. All begin decided, as gates that pass "
    "their first input on; gates that learn change from that op to another."
)
SEARCHES = (
    "Wrong cells of the hard circuit before and after each search, which changes ops gate by gate. "
    "Once a search has solved its first starts it adds others, so the counts may be of different "
    "starts."
)


def figures(
    history: History | None, exact: float | None, published: int | None
) -> list[dict[str, Any]]:
    """Return the charts that the page can draw from what the run has recorded.

    Each has an `id`, a `label`, a `caption`, and a `chart` for `drawChart` of charts.js. `exact` is
    the epoch after which a circuit was verified, `published` that of the article.
    """
    if not history:
        return []
    begun = restarts(history)
    marks = {
        "marks": [] if exact is None else [(exact, "verified exact")],
        "starts": [restart.epoch for restart in _some(begun)],
    }
    events = _some([row.epoch for row in history if row.searched])
    learned = published is not None and published <= len(history.rows)
    caption = LOSSES + EVENTS * bool(events) + EXACT * (exact is not None)
    if begun:
        once = len(begun) == 1
        times = "once, at the" if once else f"{len(begun):,} times, at"
        caption += f" Learning started over {times} dotted line{'' if once else 's'}."
    losses = {
        "soft loss": [(row.epoch, row.soft_loss) for row in history],
        "hard loss": [(row.epoch, row.hard_loss) for row in history if row.hard_loss is not None],
    }
    shown = [*marks["marks"], *([(published, "published: learned")] if learned else [])]
    found = [
        _figure(
            "loss-chart", caption, losses, **marks | {"marks": shown}, events=events, height=280
        )
    ]
    decided = [(row.epoch, row.decided) for row in history if row.decided is not None]
    if decided:
        lines = {"decided gates": decided}
        found.append(_figure("decided-chart", GATES, lines, **marks, scale="percent"))
    searches = [(row.epoch, row.search) for row in history if row.search is not None]
    if searches:
        wrong = {
            "before a search": [(epoch, search.wrong_before) for epoch, search in searches],
            "after it": [(epoch, search.wrong) for epoch, search in searches],
        }
        found.append(_figure("searches-chart", SEARCHES, wrong, **marks))
    return found


def _figure(
    id: str, caption: str, lines: Mapping[str, Sequence[tuple[float, float]]], **chart: Any
) -> dict[str, Any]:
    usual = {"x": "epoch", "scale": "logarithmic", "events": [], "height": LOW}
    thinned = [[name, _thinned(points)] for name, points in lines.items()]
    return {
        "id": id,
        "label": f"{' and '.join(lines)} over epochs",
        "caption": caption,
        "chart": usual | chart | {"lines": thinned},
    }


def _some(items: Sequence[Any]) -> Sequence[Any]:
    """Return at most MOST_EVENTS of the items, evenly spaced."""
    return items[:: -(-len(items) // MOST_EVENTS) or 1]


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [points[first : first + size] for first in range(0, len(points), size)]
    means = [(group[-1][0], sum(y for _, y in group) / len(group)) for group in groups]
    # A group stands at its last x, so that the curve ends where the run does.
    return [(x, float(f"{y:.6g}")) for x, y in means if math.isfinite(y)]
