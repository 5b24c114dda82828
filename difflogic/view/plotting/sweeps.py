"""The figure of a sweep: the share of exact seeds by epoch, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from difflogic.sweeps.comparison import median
from difflogic.sweeps.sweep_results import Row, VariantResult, wilson_interval
from difflogic.view.plotting.style import HUES, MARKS, STYLES, figure, unused

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_VARIANTS = 24
"""Number of variants that differ in colour, line or mark."""


def draw(title: str, results: Sequence[VariantResult], rows: Sequence[Row]) -> Figure:
    """Return the figure of a sweep, from one result per variant and one row per run."""
    made, ((by_epoch, gates),) = figure(1, 2)
    for number, result in enumerate(results):
        own = [row for row in rows if row.variant == result.variant]
        ended = [row for row in own if row.status != "missing"]
        _draw_share(by_epoch, number, result, ended)
        _draw_gates(gates, number, result, ended)
    by_epoch.set_title("Exact by epoch: share of seeds, 95 % intervals")
    by_epoch.set_xlabel("epoch")
    by_epoch.set_ylim(0, 1.02)
    gates.set_title("Exact circuits, and medians with 95 % intervals")
    gates.set_xlabel("epochs to exact")
    gates.set_ylabel("active gates")
    for axis in (by_epoch.xaxis, gates.xaxis, gates.yaxis):
        axis.get_major_locator().set_params(integer=True)  # no half epochs and gates
    for axes in (by_epoch, gates):
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc="best")
    if not any(row.epochs_to_exact is not None for row in rows):
        unused(gates, "no seed is exact")
    made.suptitle(title, fontweight="bold")
    return made


def share_by_epoch(ended: Sequence[Row]) -> list[tuple[float, int]]:
    """Return steps (epoch, number of exact runs), from epoch 0 to the last."""
    reached = sorted(row.epochs_to_exact for row in ended if row.epochs_to_exact is not None)
    last = max([row.epochs or 0 for row in ended], default=0)
    steps = [(0.0, 0), *((float(epoch), n) for n, epoch in enumerate(reached, 1))]
    return [*steps, (float(max(last, steps[-1][0])), len(reached))]


def _draw_share(axes: Axes, number: int, result: VariantResult, ended: Sequence[Row]) -> None:
    if not ended:
        return
    steps = share_by_epoch(ended)
    x = [epoch for epoch, _ in steps]
    bounds = [wilson_interval(exact, len(ended)) for _, exact in steps]
    color, line = _style(number)[:2]
    label = f"{result.variant}: {result.exact}/{result.seeds}"
    axes.step(x, [n / len(ended) for _, n in steps], line, where="post", color=color, label=label)
    low, high = zip(*bounds, strict=True)
    axes.fill_between(x, low, high, step="post", color=color, alpha=0.15, linewidth=0)


def _draw_gates(axes: Axes, number: int, result: VariantResult, ended: Sequence[Row]) -> None:
    exact = [row for row in ended if row.epochs_to_exact is not None]
    if not exact:
        return
    color, _, mark = _style(number)
    epochs = [row.epochs_to_exact or 0 for row in exact]
    gates = [row.active_gates or 0 for row in exact]
    axes.plot(epochs, gates, mark, color=color, label=result.variant, markersize=5, alpha=0.5)
    x = median(epochs)
    y = median(gates)
    bars = [[[each.value - each.low], [each.high - each.value]] for each in (x, y)]
    axes.errorbar(x.value, y.value, bars[1], bars[0], color=color, capsize=3, linewidth=2)


def _style(number: int) -> tuple[str, str, str]:
    return (HUES[number % len(HUES)], STYLES[number % len(STYLES)], MARKS[number % len(MARKS)])
