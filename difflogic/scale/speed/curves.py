"""Speed-up over workers, simulated for each strategy and held against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log2
from typing import Any

from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.model.model import Model
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.replay import STRATEGIES, Meetings, replay, with_strategy
from difflogic.scale.speed.rows import measure, of_workers

MEASURED = (1, 2)
"""Worker counts that a simulation is held against."""
WITHIN = 0.15
"""Part by which it may be off there."""

COLORS = {"samples": "#0072b2", "cells": "#d55e00", "steps": "#009e73", "gates": "#cc79a7"}
"""Told apart by the colour-blind, too: Okabe and Ito 2008."""


@dataclass(frozen=True)
class Curves:
    """Seconds of a training step by workers, for each strategy."""

    config: Config
    seconds: Mapping[str, Mapping[int, float]]
    alone: float
    """On one worker."""
    planned: Mapping[int, float]
    """As the plan would share it, for the worker counts that were measured."""
    measured: Mapping[int, float]
    """What was measured there, the least of some steps; empty if nothing was."""

    @property
    def workers(self) -> list[int]:
        return sorted(next(iter(self.seconds.values())))

    def speedup(self, strategy: str, workers: int) -> float:
        """Return how many times as fast as one worker that is."""
        return self.alone / self.seconds[strategy][workers]

    @property
    def errors(self) -> dict[int, float]:
        """Part by which the simulation is above what was measured, by workers."""
        return {count: self.planned[count] / found - 1 for count, found in self.measured.items()}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines, in seconds."""
        return {
            "experiment": self.config.name,
            "alone": self.alone,
            "strategies": {name: dict(points) for name, points in self.seconds.items()},
            "planned": dict(self.planned),
            "measured": dict(self.measured),
            "errors": self.errors,
            "prediction_beyond": max(self.measured, default=1),
        }


def counts_between(first: int, last: int) -> list[int]:
    """Return worker counts between two: one, powers of two, halfway between, and both ends."""
    powers = [2**k for k in range(11)]
    every = {1, first, last, *powers, *(3 * power for power in powers)}
    return sorted(count for count in every if first <= count <= last or count == 1)


def simulate(
    config: Config,
    plan: ParallelPlan,
    costs: StepCosts,
    counts: Sequence[int],
    repeat: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Curves:
    """Replay a step for each strategy and number of workers; measure `repeat` steps to compare."""
    meetings = Meetings.of(Model.create(config).netlist)
    seconds = {
        strategy: {
            count: replay(with_strategy(plan, strategy, count), costs, meetings) for count in counts
        }
        for strategy in STRATEGIES
    }
    measured = {}
    if repeat:
        rows = measure(of_workers(config.without_searches(), MEASURED), repeat, progress).rows
        measured = {row.workers: row.total.minimum for row in rows}
    planned = {count: replay(plan.at(count), costs, meetings) for count in MEASURED}
    return Curves(config, seconds, replay(plan.at(1), costs), planned, measured)


def text_curves(curves: Curves, width: int = 40) -> list[str]:
    """Draw the best strategy's speed-up as bars, with the speed-up of each strategy."""
    names = list(curves.seconds)
    most = max(curves.speedup(name, count) for name in names for count in curves.workers)
    lines = [f"{'workers':>7}  " + "".join(f"{name:>9}" for name in names)]
    for count in curves.workers:
        speedups = [curves.speedup(name, count) for name in names]
        bar = "#" * round(width * max(speedups) / most)
        figures = "".join(f"{speedup:>8.2f}×" for speedup in speedups)
        lines.append(f"{count:>7}  {figures}  {bar}")
    return lines


def svg_curves(curves: Curves, width: int = 640, height: int = 420) -> str:
    """Draw speed-up over workers, both by powers of two, a line for each strategy."""
    left, right, top, bottom = 56, width - 96, 40, height - 48
    last = max(curves.workers)
    octaves = max(1.0, log2(last))

    def x(workers: float) -> float:
        return left + (right - left) * log2(workers) / octaves

    def y(speedup: float) -> float:
        return bottom - (bottom - top) * log2(max(speedup, 0.5) / 0.5) / (octaves + 1)

    title = f"{curves.config.name}: speed-up over workers, simulated from measured costs"
    known = max(curves.measured, default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="20" font-size="14">{escape(title)}</text>',
        f'<rect x="{x(known):.1f}" y="{top}" width="{right - x(known):.1f}" '
        f'height="{bottom - top}" fill="#f3f3f3"/>',
        f'<text x="{x(known) + 6:.1f}" y="{top + 14}" fill="#555">prediction</text>',
    ]
    ticks = [2**k for k in range(int(octaves) + 1)]
    for tick in ticks:
        parts += [
            f'<line x1="{x(tick):.1f}" y1="{top}" x2="{x(tick):.1f}" y2="{bottom}" stroke="#ddd"/>',
            f'<text x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick}</text>',
            f'<line x1="{left}" y1="{y(tick):.1f}" x2="{right}" y2="{y(tick):.1f}" stroke="#ddd"/>',
            f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}×</text>',
        ]
    middle = (left + right) / 2
    parts += [
        f'<text x="{middle:.0f}" y="{height - 10}" text-anchor="middle">workers</text>',
        f'<line x1="{x(1):.1f}" y1="{y(1):.1f}" x2="{x(last):.1f}" y2="{y(last):.1f}" '
        'stroke="#999" stroke-dasharray="4 4"/>',
    ]
    # Names beside the ends of their lines, none upon another.
    ends = sorted(curves.seconds, key=lambda name: y(curves.speedup(name, last)))
    place = float(top)
    for name in ends:
        color = COLORS.get(name, "#000")
        points = " ".join(
            f"{x(count):.1f},{y(curves.speedup(name, count)):.1f}" for count in curves.workers
        )
        place = max(place + 15, y(curves.speedup(name, last)) + 4)
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>',
            f'<text x="{right + 6}" y="{place:.1f}" fill="{color}">{escape(name)}</text>',
        ]
    for count, found in curves.measured.items():
        parts.append(
            f'<circle cx="{x(count):.1f}" cy="{y(curves.measured[1] / found):.1f}" r="4">'
            f"<title>measured with {count}</title></circle>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"
