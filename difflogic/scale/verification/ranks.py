"""Whether several ranks train to the bits of one process, however each of them shares its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.config import Config, load_config
from difflogic.scale.verification.checks import FINISHING, room_for, with_levers
from difflogic.scale.verification.findings import EXACT, Finding, distance
from difflogic.system.quantities import counted
from difflogic.system.ranks import ALONE, Ranks, in_threads
from difflogic.training.following import follow_all, gather
from difflogic.training.trainer import Trainer

STRATEGIES = {
    "samples": "whole samples shared",
    "cells": "cells shared",
    "steps": "pipelined",
    "gates": "gates shared",
}
ONE = {"strategy": "sequential"}
"""How one process does it, one thing after the other."""
WORKERS = (1, 2, 3, 5)
"""Of each rank."""

SMALL = (
    "task.height=6",
    "task.width=7",
    "automaton.channels=2",
    "automaton.steps=3",
    "perception.kernels=2",
    "update.gates=[8,4,2]",
)
"""Makes a circuit of the small checkerboard's that every way is tried on: workers of several ranks
that wait for each other are slow where cores are few, and those that share gates wait the most."""

BATCH, MOST = 5, 32
"""Samples, fewest and most: five divide evenly among neither two ranks nor three."""
EPOCHS, STEPS = 3, 2
"""Epochs, of fewer automaton steps. What one rank alone has wrong the others see in the next."""


def ranks_change_nothing(
    config: Config, sizes: Sequence[int], world: Ranks = ALONE
) -> Iterator[Finding]:
    """Compare training by several ranks with training by one process, bit for bit.

    Of `world`, whose other ranks `take_part`, the first so many are taken; where it is too small,
    threads stand for ranks. Yields the findings on rank 0.
    """
    small = _cut(load_config("checkerboard-small", SMALL, recipe="reference"))
    questions = [
        _Question(f"6×7 cells, {how}", small, [{"workers": n, "strategy": name} for n in WORKERS])
        for name, how in STRATEGIES.items()
    ]
    plain = _cut(config)
    levers = with_levers(plain).with_sections(finishing={**FINISHING, "candidates": 200})
    levers = levers.model_copy(update={"name": config.name})
    one_in_flight = {"workers": 2, "memory_budget": room_for(levers, 1, 2)}
    ways: list[dict[str, Any]] = [{"workers": 1}, one_in_flight]
    questions += [
        _Question(f"{config.name}, {plain.automaton.steps} steps", plain, ways),
        _Question(f"{config.name} with levers and searches", levers, ways),
    ]
    expected = [_train(each.config.with_sections(parallel=ONE), ALONE) for each in questions]
    for size in sizes:
        with _group(size, world) as (ranks, who):
            for asked, right in zip(questions, expected, strict=True):
                worst = 0.0
                for way in asked.ways:
                    found = _train(asked.config.with_sections(parallel=way), ranks)
                    differences = [distance(x, y) for x, y in zip(right, found, strict=True)]
                    worst = float(np.max([worst, *differences]))
                counts = ", ".join(str(way["workers"]) for way in asked.ways)
                what = f"training by {who}, {counts} workers each"
                where = f"{asked.where}, {EPOCHS} epochs"
                yield Finding(what, "one process", where, worst, EXACT)


def take_part(sizes: Sequence[int], world: Ranks) -> None:
    """Do the part of a rank other than the first in `ranks_change_nothing`."""
    for size in sizes:
        ranks = world.subgroup(size) if 1 < size <= world.size else None
        if ranks is not None:
            follow_all(ranks)


class _Question(NamedTuple):
    """What is trained in several ways."""

    where: str
    config: Config
    ways: Sequence[dict[str, Any]]
    """What they set in [parallel]."""


def _cut(config: Config) -> Config:
    """Return a configuration of few samples and steps, without searches."""
    return config.without_searches().with_sections(
        training={"batch": max(BATCH, min(config.training.batch, MOST))},
        automaton={"steps": min(STEPS, config.automaton.steps)},
    )


@contextmanager
def _group(size: int, world: Ranks) -> Iterator[tuple[Ranks, str]]:
    """Enter so many ranks, as rank 0 of them, and leave with words for them."""
    if size > world.size:
        with in_threads(size, follow_all) as ranks:
            yield ranks, f"{size} ranks as threads"
        return
    ranks_of_size = world.subgroup(size)
    assert ranks_of_size is not None, "rank 0 is of every group"
    yield ranks_of_size, counted(size, "rank")
    ranks_of_size.finish()


def _train(config: Config, ranks: Ranks) -> tuple[npt.NDArray, ...]:
    """Return losses and searches' results of a few epochs, and the logits after them."""
    with Trainer(config, ranks=ranks) as trainer:
        gather(trainer, ranks)
        results = []
        for _ in range(EPOCHS):
            with ranks.step():
                results.append(trainer.step())
        ranks.finish()
        numbers = [
            [
                result.soft_loss,
                result.hard_loss or 0.0,
                *((found.wrong, found.candidates) if (found := result.finished) else (0, 0)),
            ]
            for result in results
        ]
        state = trainer.state()
        return np.array(numbers), trainer.model.logits, state["best_logits"], state["best"]
