"""Where the time of a training step goes, worker by worker, and what would make it shorter."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from difflogic.config import Config
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.tracing import SERIAL, TASK, WAIT, Event, Tracer
from difflogic.scale.speed.rows import WARM_UP_STEPS, ratio
from difflogic.system.json_values import chosen
from difflogic.training.trainer import Trainer

PERCEPTION, UPDATE, MOVES = "perception", "update", "moves"
"""Parts of a task: the gates of each, and moving rows between grid and tiles."""

NEVER = 2**62
"""An epoch that no run reaches."""


@dataclass(frozen=True)
class Bottleneck:
    """A part of a training step. Times in seconds of the step, by the clock."""

    what: str
    kind: str
    """Of its events: "task", "wait" or "serial"."""
    seconds: float
    """As a mean over the workers."""
    gain: float
    """By how much a step would be shorter without it, or if all workers shared it evenly."""
    remedy: str


@dataclass(frozen=True)
class Profile:
    """Traced training steps."""

    config: Config
    plan: ParallelPlan
    steps: Sequence[Sequence[Event]]
    seconds: Sequence[float]
    """Of each step."""
    untraced: Sequence[float]
    """Of a step beside each that was not traced."""
    search: float | None = None
    """Seconds of a search after these steps; None if nothing is searched."""

    @property
    def typical(self) -> Sequence[Event]:
        """The events of a step of median length."""
        order = sorted(range(len(self.seconds)), key=lambda index: self.seconds[index])
        return self.steps[order[(len(order) - 1) // 2]]

    @property
    def cost(self) -> float:
        """Part that tracing adds to a step: the median of pairs, less one."""
        return (ratio(list(self.seconds), list(self.untraced)) or 1.0) - 1

    @property
    def step_seconds(self) -> float:
        """Of a median step."""
        return median(self.seconds)

    @property
    def parts(self) -> dict[tuple[str, str], float]:
        """Seconds per step by kind and name of a part, added up over all workers.

        A task's gates and what moves rows between grid and tiles are parts of their own.
        """
        found: dict[tuple[str, str], float] = {}
        for event in (event for step in self.steps for event in step):
            shares = {event.name: event.seconds}
            if event.gates is not None:
                gates = zip((PERCEPTION, UPDATE), event.gates, strict=True)
                shares = {f"{event.name}: {part}": seconds for part, seconds in gates}
                shares[f"{event.name}: {MOVES}"] = max(0.0, event.seconds - sum(event.gates))
            for name, seconds in shares.items():
                key = event.kind, name
                found[key] = found.get(key, 0.0) + seconds / len(self.steps)
        return found

    @property
    def serial_share(self) -> float:
        """Part of a step in which one thread works alone, 0 to 1."""
        alone = sum(spent for (kind, _), spent in self.parts.items() if kind == SERIAL)
        return alone / (sum(self.seconds) / len(self.seconds))

    @property
    def search_per_epoch(self) -> float | None:
        """Seconds of searching as a mean over epochs; None if nothing is searched."""
        return None if self.search is None else self.search / self.config.finishing.every

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """The parts of a step, what would pay most first."""
        workers, found = self.plan.workers, []
        known = 0.0
        for (kind, name), spent in sorted(self.parts.items()):
            if kind == SERIAL:
                seconds, gain = spent, spent * (1 - 1 / workers) if workers > 1 else 0.0
                remedy = "share it among the workers, or do it while they work"
            else:
                seconds = spent / workers
                gain = seconds if kind == WAIT else 0.0
                remedy = (
                    "fewer barriers, or pieces that balance better"
                    if kind == WAIT
                    else "faster kernels, or more cores"
                )
            known += seconds
            found.append(Bottleneck(name, kind, seconds, gain, remedy))
        rest = sum(self.seconds) / len(self.seconds) - known
        if rest > 0:
            # Between what is timed: handing the batch over, and waking the workers.
            found.append(Bottleneck("hand over", SERIAL, rest, rest, "fewer and larger calls"))
        return sorted(found, key=lambda each: (-each.gain, -each.seconds))

    def as_dict(self) -> dict[str, Any]:
        """Everything but the events, for machines."""
        events = [event for step in self.steps for event in step]
        return {
            "experiment": self.config.name,
            "workers": self.plan.workers,
            "stolen": sum(event.stolen for event in events),
            "tasks": sum(event.kind == TASK for event in events),
            **chosen(self, "step_seconds", "cost", "serial_share", "search", "search_per_epoch"),
            **chosen(self, "bottlenecks"),
        }


def profile(
    config: Config, repeat: int, progress: Callable[[int], None] = lambda done: None
) -> Profile:
    """Trace `repeat` training steps, each beside one that is not traced; then a search, once."""
    # No step searches or starts over; what is found is not polished, as that happens once in a run.
    alone = config.with_sections(
        training={"restart_every": 0}, finishing={"from_epoch": NEVER, "polish": 0}
    )
    tracer = Tracer()
    steps: list[list[Event]] = []
    seconds: list[float] = []
    untraced: list[float] = []
    with Trainer(alone) as trainer:
        trainer.warm_up()
        for _ in range(WARM_UP_STEPS):
            trainer.step()
        for done in range(repeat):
            untraced.append(_timed(trainer))
            trainer.trace(tracer)
            seconds.append(_timed(trainer))
            trainer.trace(None)
            steps.append(tracer.events)
            tracer.clear()
            progress(done + 1)
        search = None
        if config.finishing.every:
            trainer.on_search_progress = lambda _: progress(repeat)
            trainer.search()
            search = trainer.phases.seconds["finish"]
        return Profile(config, trainer.plan, steps, seconds, untraced, search)


def _timed(trainer: Trainer) -> float:
    start = time.perf_counter()
    trainer.step()
    return time.perf_counter() - start


LETTERS = {
    "forward": "F",
    "loss": "L",
    "backward": "B",
    "wait": ".",
    "hard": "h",
    "sample": "s",
    "reduce": "r",
    "optimizer": "o",
    "finish": "f",
    "checkpoint": "c",
    "other": "x",
}
"""What stands for an event in a timeline: capitals for what workers share."""


def timeline(events: Sequence[Event], workers: int, columns: int = 80) -> list[str]:
    """Draw what each worker did when, a line for each: what took most of a column's time.

    A blank is no event at all.
    """
    if not events:
        return []
    start, end = min(e.since for e in events), max(e.until for e in events)
    width = max((end - start) / columns, 1e-12)
    lines = []
    for worker in range(workers):
        spent: list[dict[str, float]] = [{} for _ in range(columns)]
        for event in events:
            if event.worker != worker:
                continue
            letter = LETTERS.get(event.name, "?")
            if event.name == "forward" and event.kind == SERIAL:
                letter = "m"
            first = int((event.since - start) / width)
            last = min(columns - 1, int((event.until - start) / width))
            for column in range(min(first, columns - 1), last + 1):
                left, right = start + column * width, start + (column + 1) * width
                inside = min(right, event.until) - max(left, event.since)
                spent[column][letter] = spent[column].get(letter, 0.0) + max(0.0, inside)
        lines.append(
            "".join(max(each, key=lambda key: each[key]) if each else " " for each in spent)
        )
    return lines
