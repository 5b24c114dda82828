"""The figure of a run: its learning curves, its time by phase, and its gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from difflogic.circuit.gates import DECIDED
from difflogic.evaluation.gate_counts import count
from difflogic.model.model import Model
from difflogic.run.measures import PHASES
from difflogic.run.metrics import MetricsRow
from difflogic.run.story import PHASE_NAMES
from difflogic.view.plotting.style import FAINT, HUES, MARKS, STYLES, unused
from difflogic.view.reports.contents import OpCounts, histograms
from difflogic.view.reports.curves import charts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "loss": "Loss: sum of squared errors",
    "accuracy": "Right bits of the hard circuit, %",
    "decided": f"Decided gates, %: an op is above {DECIDED}",
    "searches": "Searches for an exact circuit: wrong bits",
}
"""The titles of the curves, by their names in reports."""


def draw(model: Model, rows: Sequence[MetricsRow], exact_epoch: float | None) -> Figure:
    """Return the figure of a run."""
    from matplotlib.figure import Figure

    ops = histograms(model)
    made = Figure(figsize=(9.6, 12.8), layout="constrained")  # opens no window
    *curves, phases, perception, update, rest = made.subplots(4, 2).ravel()
    rest.set_axis_off()
    drawn = charts(rows, exact_epoch, model.config.published.learned_by)
    for axes, (name, title) in zip(curves, TITLES.items(), strict=True):
        axes.set_title(title)
        if name in drawn:
            _draw_chart(axes, drawn[name])
        else:
            unused(axes, "not recorded" if rows else "no metrics.csv")
    _draw_phases(phases, rows)
    for axes, part in ((perception, "perception"), (update, "update")):
        _draw_ops(axes, part, ops[f"{part}-ops"])
    made.suptitle(_title(model), fontweight="bold")
    return made


def _draw_chart(axes: Axes, chart: Mapping[str, Any]) -> None:
    factor = 100 if chart["scale"] == "percent" else 1
    values = []
    for number, (name, points) in enumerate(chart["lines"]):
        mark = MARKS[number] if name in ("before a search", "after it") else ""
        x = [epoch for epoch, _ in points]
        y = [factor * value for _, value in points]
        line = STYLES[number]
        color = HUES[number]
        axes.plot(x, y, line, color=color, label=name, marker=mark, markersize=3.5)
        values += y
    for epoch, name in chart["marks"]:
        line = "-" if name == "verified exact" else "--"
        axes.axvline(epoch, color=FAINT, linewidth=1, linestyle=line, label=name)
    for epoch in chart["starts"]:
        axes.axvline(epoch, color=FAINT, linewidth=1, linestyle=":", label="starts over")
    if factor == 1:  # log(1 + y), a logarithm with a zero
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
        axes.set_ylim(0, max(*values, 1) * 1.4)
    else:
        axes.set_ylim(max(0, min(values) - (101 - min(values)) / 2), 100.5)
    axes.set_xlabel("epoch")
    axes.locator_params(axis="x", integer=True)
    handles, labels = axes.get_legend_handles_labels()
    if len(named := dict(zip(labels, handles, strict=True))) > 1:
        # On white, since lines may cross it.
        axes.legend(
            named.values(), named, loc="best", frameon=True, framealpha=0.9, edgecolor="none"
        )


def _draw_phases(axes: Axes, rows: Sequence[MetricsRow]) -> None:
    axes.set_title("Seconds by phase")
    seconds = {name: sum(row.phase_seconds.get(name, 0.0) for row in rows) for name in PHASES}
    drawn = {PHASE_NAMES.get(name, name): spent for name, spent in seconds.items() if spent > 0}
    if drawn:
        bars = axes.barh(list(drawn), list(drawn.values()), color=HUES[0])
        axes.invert_yaxis()
        axes.bar_label(bars, fmt="%.3g", padding=3)
        axes.margins(x=0.15)
        axes.grid(axis="y", visible=False)
    else:
        unused(axes, "no metrics.csv")


def _title(model: Model) -> str:
    active = count(model)["active_gates_per_cell"]["loss_channels"]
    published = model.config.published.active_gates
    beside = "" if published is None else f" (published: {published})"
    seed = model.config.training.seed
    return f"{model.config.name}, seed {seed}: {active} active gates{beside}"


def _draw_ops(axes: Axes, part: str, ops: OpCounts) -> None:
    counts = [number for _, number, _ in ops]
    active = sum(number for _, number, passes in ops if not passes)
    axes.set_title(f"{part.capitalize()}: {active} of {sum(counts)} gates active")
    colors = ["#cccccc" if passes else HUES[0] for _, _, passes in ops]
    bars = axes.bar([sign for sign, _, _ in ops], counts, color=colors)
    axes.set_ylim(0, 2 * max(counts) + 1)
    axes.bar_label(bars, labels=[str(n) if n else "" for n in counts], fontsize=7)
    axes.set_yscale("symlog", linthresh=1, linscale=0.4)
    axes.tick_params(axis="x", rotation=90)
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("gates")
