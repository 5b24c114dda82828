"""The figure of a run: its learning curves, its time by phase, and its gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from difflogic.circuit.gates import DECIDED, SYMBOLS, Op, softmax
from difflogic.evaluation.gates import PASSING
from difflogic.model.model import Model
from difflogic.training.metrics import History, MetricsRow, restarts
from difflogic.view.plotting import style
from difflogic.view.plotting.style import COLORS, FAINT, LINES, MARKS, figure, logarithmic, unused

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 1000
"""Most points of a curve. More are averaged in groups, with their range shaded."""

MOST_RESTARTS = 100
"""Most restarts marked. Of more, every second or third is, and so on."""


def draw(
    model: Model, history: History | None, exact_epoch: float | None, gates: Mapping[str, Any]
) -> Figure:
    """Return the figure of a run. `gates` comes from `evaluation.gates.count`."""
    made, places = figure(4, 2)
    (losses, accuracy), (decided, searches), (phases, sure), (perception, update) = places
    published = model.config.published.learned_by
    _draw_losses(losses, history, exact_epoch, published)
    title = "Right cells of the hard circuit, %"
    _draw_shares(accuracy, title, "accuracy", history, "no hard evaluation")
    title, missing = f"Decided gates, %: an op is above {DECIDED}", "not recorded"
    _draw_shares(decided, title, "decided", history, missing if history else "no metrics.csv")
    _draw_searches(searches, history, exact_epoch)
    for axes in (losses, accuracy, decided, searches):
        if axes.get_lines():
            _mark_restarts(axes, history or [])
    _draw_phases(phases, history)
    _draw_probabilities(sure, model)
    for axes, part in ((perception, "perception"), (update, "update")):
        _draw_ops(axes, part, gates)
    made.suptitle(_title(model, gates), fontweight="bold")
    return made


def _draw_losses(
    axes: Axes, history: History | None, exact: float | None, published: int | None
) -> None:
    axes.set_title("Loss: sum of squared errors")
    if not history:
        unused(axes, "no metrics.csv")
        return
    soft = [(row.epoch, row.soft_loss) for row in history]
    hard = [(row.epoch, row.hard_loss) for row in history if row.hard_loss is not None]
    for number, (name, points) in enumerate((("soft", soft), ("hard", hard))):
        _curve(axes, points, name, number)
    logarithmic(axes, max([y for _, y in [*soft, *hard]], default=1))
    for name, epoch, line in (
        ("verified exact", exact, "-"),
        ("published: learned", published, "--"),
    ):
        if epoch is not None:
            axes.axvline(epoch, color=FAINT, linewidth=1, linestyle=line, label=name)
    axes.set_xlabel("epoch")


def _draw_shares(axes: Axes, title: str, name: str, history: History | None, missing: str) -> None:
    """Draw a share that some rows of the history have, in percent."""
    axes.set_title(title)
    shares = [(row.epoch, getattr(row, name)) for row in history or []]
    points = [(epoch, 100 * share) for epoch, share in shares if share is not None]
    if not points:
        unused(axes, missing)
        return
    _curve(axes, points, name, 0)
    least = min(share for _, share in points)
    axes.set_ylim(max(0, least - (101 - least) / 2), 100.5)
    axes.set_xlabel("epoch")


def _draw_searches(axes: Axes, history: History | None, exact: float | None) -> None:
    axes.set_title("Searches for an exact circuit: wrong cells")
    found = [(row.epoch, row.search) for row in history or [] if row.search is not None]
    if not found:
        known = history is not None and any(row.searched for row in history)
        unused(axes, "not recorded" if known else "no searches")
        return
    before = [(epoch, search.wrong_before) for epoch, search in found]
    after = [(epoch, search.wrong) for epoch, search in found]
    for number, (name, points) in enumerate((("before", before), ("after", after))):
        _curve(axes, points, name, number, MARKS[number])
    if exact is not None:
        axes.axvline(exact, color=FAINT, linewidth=1, label="verified exact")
    logarithmic(axes, max(wrong for _, wrong in [*before, *after]))
    axes.set_xlabel("epoch")


def _mark_restarts(axes: Axes, history: Iterable[MetricsRow]) -> None:
    """Mark where learning started over, and draw the legend."""
    found = restarts(history)
    for restart in found[:: -(-len(found) // MOST_RESTARTS) or 1]:
        axes.axvline(restart.epoch, color=FAINT, linewidth=1, linestyle=":", label="starts over")
    handles, labels = axes.get_legend_handles_labels()
    if len(set(labels)) > 1:
        named = dict(zip(labels, handles, strict=True))
        # On white, since lines may cross it.
        axes.legend(
            named.values(), named, loc="best", frameon=True, framealpha=0.9, edgecolor="none"
        )


def _draw_phases(axes: Axes, history: History | None) -> None:
    axes.set_title("Seconds by phase")
    seconds = {} if not history else {k: v for k, v in history.seconds.items() if v > 0}
    if not seconds:
        unused(axes, "no metrics.csv")
        return
    style.bars(axes, dict(reversed(seconds.items())), COLORS[0])


def _draw_probabilities(axes: Axes, model: Model) -> None:
    sure = softmax(model.logits.astype(np.float64)).max(axis=1)
    architecture = model.config.architecture
    parts = architecture.kernels * architecture.kernel_gates
    share = 100 * float((sure > DECIDED).mean())
    axes.set_title(f"Gates by the probability of their op: {share:.0f} % above {DECIDED}")
    bins = np.linspace(0, 1, 21).tolist()
    axes.hist(
        [sure[:parts], sure[parts:]],
        bins=bins,
        stacked=True,
        color=COLORS[:2],
        label=["perception", "update"],
    )
    axes.axvline(DECIDED, color=FAINT, linewidth=1, linestyle="--")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_xlabel("probability")
    axes.set_ylabel("gates")
    axes.legend(loc="upper left")


def _title(model: Model, gates: Mapping[str, Any]) -> str:
    published = model.config.published.active_gates
    beside = "" if published is None else f" (published: {published})"
    active = gates["scopes"]["all"]["both"]["active"]
    seed = model.config.training.seed
    return f"{model.config.name}, seed {seed}: {active} active gates{beside}"


def _draw_ops(axes: Axes, part: str, gates: Mapping[str, Any]) -> None:
    found = gates["scopes"]["all"][part]
    counts = {Op[name]: count for name, count in found["ops"].items()}
    axes.set_title(f"{part.capitalize()}: {found['active']} of {found['gates']} gates active")
    names = [SYMBOLS[op] for op in counts]
    colors = ["#cccccc" if op in PASSING else COLORS[0] for op in counts]
    bars = axes.bar(names, list(counts.values()), color=colors)
    axes.set_ylim(0, 2 * max(counts.values()) + 1)
    axes.bar_label(bars, labels=[str(n) if n else "" for n in counts.values()], fontsize=7)
    axes.set_yscale("symlog", linthresh=1, linscale=0.4)
    axes.tick_params(axis="x", rotation=90)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("gates")


def _curve(
    axes: Axes, points: Sequence[tuple[float, float]], name: str, number: int, mark: str = ""
) -> None:
    """Draw a line, or of many points the means of groups, with their ranges shaded."""
    size = -(-len(points) // MOST_POINTS) or 1
    groups = [np.array(points[first : first + size]) for first in range(0, len(points), size)]
    x = [group[-1, 0] for group in groups]
    color, line = COLORS[number], LINES[number]
    means = [group[:, 1].mean() for group in groups]
    axes.plot(x, means, line, color=color, label=name, marker=mark, markersize=3.5)
    if size > 1:
        low, high = ([f(group[:, 1]) for group in groups] for f in (np.min, np.max))
        axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
