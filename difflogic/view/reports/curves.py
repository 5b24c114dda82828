"""How a run was learned, as figures: losses, decided gates, and searches for an exact circuit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from difflogic.circuit.gates import DECIDED
from difflogic.training.metrics import History, Restart, restarts, tells_attempts
from difflogic.view.reports import charts

LOW = 170
"""Height of the figures below the first."""

MOST_EVENTS = 400
"""That are marked: of more every second one, or fewer."""


def figures(
    history: History | None, exact: float | None, published: int | None
) -> list[dict[str, Any]]:
    """Return charts with their captions, as far as the run has recorded what they show.

    `exact` is the epoch after which a circuit was verified, `published` that of the article.
    """
    if not history:
        return []
    marks = {} if exact is None else {"verified exact": exact}
    begun = restarts(history)
    starts = [restart.epoch for restart in begun[:: -(-len(begun) // MOST_EVENTS) or 1]]
    found = [_losses(history, marks, starts, exact, published)]
    found[0]["caption"] += _told(begun, tells_attempts(history.rows))
    decided = [(row.epoch, row.decided) for row in history if row.decided is not None]
    if decided:
        found.append(_decided(decided, marks, starts))
    searches = [(row.epoch, row.search) for row in history if row.search is not None]
    if searches:
        before = [(epoch, search.wrong_before) for epoch, search in searches]
        after = [(epoch, search.wrong) for epoch, search in searches]
        found.append(_searches(before, after, marks, starts))
    return found


def _told(begun: Sequence[Restart], all_of_them: bool) -> str:
    """Say how often learning started over, and why, if these are `all_of_them`."""
    if not begun:
        return ""
    if not all_of_them:
        return " Learning started over at dotted lines, and before these, which is not recorded."
    given_up = sum(restart.given_up for restart in begun)
    times = "once, at the dotted line"
    if len(begun) > 1:
        times = f"{len(begun):,} times, at dotted lines"
    why = f", where {given_up:,} of {len(begun):,} attempts were given up" if given_up else ""
    return f" Learning started over {times}{why}."


def _losses(
    history: History,
    marks: dict[str, float],
    starts: Sequence[int],
    exact: float | None,
    published: int | None,
) -> dict[str, Any]:
    soft = [(row.epoch, row.soft_loss) for row in history]
    hard = [(row.epoch, row.hard_loss) for row in history if row.hard_loss is not None]
    searched = [row.epoch for row in history if row.searched]
    events = searched[:: -(-len(searched) // MOST_EVENTS) or 1]
    if published is not None and published <= len(history.rows):
        marks = marks | {"published: learned": float(published)}
    drawn = [charts.Line("soft loss", soft), charts.Line("hard loss", hard)]
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
    chart = charts.lines(drawn, "epoch", marks, starts=starts, events=events)
    return {"chart": chart, "caption": caption}


def _decided(
    points: Sequence[tuple[int, float]], marks: dict[str, float], starts: Sequence[int]
) -> dict[str, Any]:
    scale = charts.percent(min(share for _, share in points))
    drawn = [charts.Line("decided gates", points)]
    return {
        "chart": charts.lines(drawn, "epoch", marks, scale=scale, starts=starts, height=LOW),
        "caption": f"Gates one op of which has a probability above {DECIDED}. All begin decided, "
        "as gates that hand on their first input; gates that learn leave that op for another.",
    }


def _searches(
    before: Sequence[tuple[int, int]],
    after: Sequence[tuple[int, int]],
    marks: dict[str, float],
    starts: Sequence[int],
) -> dict[str, Any]:
    drawn = [charts.Line("before a search", before), charts.Line("after it", after)]
    return {
        "chart": charts.lines(drawn, "epoch", marks, starts=starts, height=LOW),
        "caption": "Cells that the hard circuit had wrong before and after each search, which "
        "changes ops gate by gate. A search brings further starts in once it has solved the first "
        "ones, so that the counts may be of different starts.",
    }
