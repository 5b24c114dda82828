"""The figures of a training: losses, decided gates, and searches for an exact circuit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.run.metrics import MetricsRow, restarts

LOW_HEIGHT = 170
"""Height of the figures below the first."""

MOST_EVENTS = 400
"""Most marks. Of more, every second or third is kept, and so on."""

MOST_POINTS = 360
"""Most points of a line. More are averaged in groups."""


def noise_chart(test: Mapping[str, Any]) -> dict[str, Any]:
    """Return one of the `charts`: that of `dct eval --test noise`."""
    lines = [
        [name, [(100 * probability, share) for probability, share in points]]
        for name, points in test["curves"].items()
    ]
    return {
        "x": "% of bits flipped per step",
        "scale": "share",
        "height": LOW_HEIGHT,
        "lines": lines,
    }


def charts(
    rows: Sequence[MetricsRow], exact: float | None, published: int | None
) -> dict[str, dict[str, Any]]:
    """Return what a run has recorded as charts by name, each for `drawChart` of charts.js.

    `exact` is the epoch after which a circuit was verified, `published` that of the article.
    """
    searches = [(row.epoch, row.search) for row in rows if row.search is not None]

    def measured(name: str) -> list[tuple[float, float]]:
        pairs = [(row.epoch, getattr(row, name)) for row in rows]
        return [(epoch, value) for epoch, value in pairs if value is not None]

    lines: dict[str, dict[str, list[tuple[float, float]]]] = {
        "loss": {"soft loss": measured("soft_loss"), "hard loss": measured("hard_loss")},
        "decided": {"decided gates": measured("decided")},
        "searches": {
            "before a search": [(epoch, search.wrong_before) for epoch, search in searches],
            "after it": [(epoch, search.wrong) for epoch, search in searches],
        },
    }
    found: dict[str, dict[str, Any]] = {
        name: {
            "x": "epoch",
            "scale": "percent" if name == "decided" else "logarithmic",
            "events": [],
            "height": LOW_HEIGHT,
            "marks": [] if exact is None else [(exact, "verified exact")],
            "starts": _some(restarts(rows)),
            "lines": [[line, _thinned(points)] for line, points in own.items()],
        }
        for name, own in lines.items()
        if any(own.values())
    }
    if chart := found.get("loss"):
        chart["height"] = 280
        chart["events"] = _some([row.epoch for row in rows if row.searched])
        if published is not None and published <= len(rows):
            chart["marks"].append((published, "published: learned"))
    return found


def _some(items: Sequence[Any]) -> Sequence[Any]:
    """Return at most MOST_EVENTS of the items, evenly spaced."""
    return items[:: -(-len(items) // MOST_EVENTS) or 1]


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [points[first : first + size] for first in range(0, len(points), size)]
    means = [(group[-1][0], sum(y for _, y in group) / len(group)) for group in groups]
    # A group stands at its last x, so that the curve ends where the run does.
    return [(x, float(f"{y:.6g}")) for x, y in means if math.isfinite(y)]
