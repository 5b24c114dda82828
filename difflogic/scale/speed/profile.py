"""Where each worker's time goes in a training step, and what would make the step shorter."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from difflogic.config import Config
from difflogic.engine.tracing import SERIAL, WAIT, Event, Tracer, WorkStats
from difflogic.scale.speed.rows import WARM_UP_STEPS, ratio
from difflogic.system.json_values import chosen
from difflogic.training.plan import ParallelPlan
from difflogic.training.searching import Trainer

PERCEPTION, UPDATE, MOVES = "perception", "update", "moves"
"""Parts of a task: its gates, and moving rows between grid and tiles."""

NEVER = 2**62
"""An epoch that no run reaches."""

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
"""Letters of events in a timeline; capitals for shared work."""


@dataclass(frozen=True)
class Bottleneck:
    """A part of a training step. Times are wall time, in seconds."""

    what: str
    kind: str
    """"task", "wait" or "serial"."""
    seconds: float
    """Mean over the workers."""
    gain: float
    """Time that a step would save without it, or if all workers shared it evenly."""
    remedy: str


@dataclass(frozen=True)
class Profile:
    """Traced training steps."""

    config: Config
    plan: ParallelPlan
    steps: Sequence[Sequence[Event]]
    seconds: Sequence[float]
    """Time of each traced step."""
    untraced: Sequence[float]
    """Time of an untraced step before each."""
    work: WorkStats
    """What all workers did in these steps, traced and untraced."""
    search: float | None = None
    """Time of a search after these steps; None if the configuration has no searches."""

    @property
    def typical(self) -> Sequence[Event]:
        """The events of a step of median length."""
        order = sorted(range(len(self.seconds)), key=lambda index: self.seconds[index])
        return self.steps[order[(len(order) - 1) // 2]]

    @property
    def cost(self) -> float:
        """Relative cost of tracing: the median ratio of pairs, minus one."""
        return (ratio(self.seconds, self.untraced) or 1.0) - 1

    @property
    def step_seconds(self) -> float:
        """Time of a median step."""
        return median(self.seconds)

    @property
    def parts(self) -> dict[tuple[str, str], float]:
        """Seconds per step by kind and name of a part, summed over all workers.

        The gates of a task and its moves of rows between grid and tiles are separate parts.
        """
        found: dict[tuple[str, str], float] = {}
        for event in self._events:
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
    def tasks(self) -> dict[str, float]:
        """Tasks created, taken by their own worker, and stolen, per step."""
        return self.work.per_step(len(self.seconds) + len(self.untraced))

    @property
    def serial_share(self) -> float:
        """Share of a step in which one thread works alone, 0 to 1."""
        alone = sum(spent for (kind, _), spent in self.parts.items() if kind == SERIAL)
        return alone / fmean(self.seconds)

    @property
    def search_per_epoch(self) -> float | None:
        """Mean time of searches per epoch; None if the configuration has no searches."""
        return None if self.search is None else self.search / self.config.finishing.every

    @property
    def bottlenecks(self) -> list[Bottleneck]:
        """The parts of a step, largest gain first."""
        workers, found = self.plan.workers, []
        for (kind, name), spent in sorted(self.parts.items()):
            seconds = spent if kind == SERIAL else spent / workers
            if kind == SERIAL:
                gain = spent * (1 - 1 / workers)
                remedy = "share it among the workers, or do it while they work"
            elif kind == WAIT:
                gain, remedy = seconds, "fewer barriers, or pieces that balance better"
            else:
                gain, remedy = 0.0, "faster kernels, or more cores"
            found.append(Bottleneck(name, kind, seconds, gain, remedy))
        rest = fmean(self.seconds) - sum(each.seconds for each in found)
        if rest > 0:
            # Untimed: handing the batch over and waking the workers.
            found.append(Bottleneck("hand over", SERIAL, rest, rest, "fewer and larger calls"))
        return sorted(found, key=lambda each: (-each.gain, -each.seconds))

    @property
    def _events(self) -> list[Event]:
        return [event for step in self.steps for event in step]

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the events as JSON values."""
        return {
            "experiment": self.config.name,
            "workers": self.plan.workers,
            **chosen(self, "step_seconds", "cost", "serial_share", "search", "search_per_epoch"),
            **chosen(self, "tasks", "bottlenecks"),
        }


def profile(config: Config, repeat: int, progress: Callable[[int], None]) -> Profile:
    """Trace `repeat` training steps, each after an untraced one; then one search."""
    # Steps neither search nor restart. Polishing is off, since it happens only once in a run.
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
        before = trainer.engine.work
        for done in range(repeat):
            untraced.append(_timed(trainer))
            trainer.trace(tracer)
            seconds.append(_timed(trainer))
            trainer.trace(None)
            steps.append(tracer.events)
            tracer.clear()
            progress(done + 1)
        work, search = trainer.engine.work - before, None
        if config.finishing.every:
            trainer.on_search_progress = lambda _: progress(repeat)
            trainer.search()
            search = trainer.phases.seconds["finish"]
        return Profile(config, trainer.plan, steps, seconds, untraced, work, search)


def _timed(trainer: Trainer) -> float:
    start = time.perf_counter()
    trainer.step()
    return time.perf_counter() - start


def timeline(events: Sequence[Event], workers: int, columns: int = 80) -> list[str]:
    """Draw a line per worker; each column shows the event that took most of its time.

    A blank column has no event.
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
