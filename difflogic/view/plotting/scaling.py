"""The figure of a simulated speed-up over workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from difflogic.scale.speed.curves import Curves
from difflogic.view.plotting.style import COLORS, FAINT, LINES, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(curves: Curves) -> Figure:
    """Return a figure of the speed-up over workers, both by powers of two, a line a strategy."""
    made, ((axes,),) = figure(1, 1, 7.2, 4.8)
    last, least = max(curves.workers), 1.0
    axes.set_title(f"{curves.config.name}: speed-up over workers, simulated from measured costs")
    axes.axvspan(max(curves.measured, default=1), last, color="#f3f3f3", label="prediction")
    axes.plot([1, last], [1, last], color=FAINT, linewidth=1, label="ideal")
    for number, name in enumerate(curves.seconds):
        speedups = [curves.speedup(name, count) for count in curves.workers]
        axes.plot(curves.workers, speedups, LINES[number], color=COLORS[number], label=name)
        least = min(least, *speedups)
    if curves.measured:
        found = [curves.measured[1] / seconds for seconds in curves.measured.values()]
        axes.plot(list(curves.measured), found, "o", color="black", label="measured")
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, 1.1 * last)
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.9 * least, 1.1 * last)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}×")
    axes.set_xlabel("workers")
    axes.legend(loc="upper left")
    return made
