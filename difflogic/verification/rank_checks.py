"""Compares training with several ranks to training in one process, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from difflogic.config import Config
from difflogic.experiment.following import gather
from difflogic.experiment.searching import Trainer
from difflogic.system.array_types import Array
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.strategy import STRATEGIES
from difflogic.verification.case import uneven
from difflogic.verification.checks import FINISHING, in_waves, with_levers
from difflogic.verification.deviation import EXACT, Deviation, distance

ONE = {"strategy": "sequential"}
"""The [parallel] section of the single process."""
WORKERS = (1, 2, 3, 5)
"""Workers of each rank."""

BATCH = 5
MOST_SAMPLES = 32
"""Fewest and most samples; five divide evenly among neither two nor three ranks."""
RANK_EPOCHS = 3
STEPS = 2
"""Epochs and automaton steps. An error of one rank reaches the others in the next epoch."""


def ranks_change_nothing(config: Config, ranks: Ranks) -> Iterator[Deviation]:
    """Compare training by `ranks` to training in one process.

    Rank 0 calls this; the others call `follow_all`.
    """
    # On few cores, waiting workers of several ranks are slow.
    small = _cut(uneven())
    questions = [
        _Question(f"6×7 cells, {name}", small, [{"workers": n, "strategy": name} for n in WORKERS])
        for name in STRATEGIES
    ]
    plain = _cut(config)
    levers = with_levers(plain).with_sections(finishing={**FINISHING, "candidates": 200})
    levers = levers.model_copy(update={"name": config.name})
    questions += [
        _Question(where, each, [{"workers": 1}, *in_waves(each).values()])
        for where, each in (
            (f"{config.name}, {plain.automaton.steps} steps", plain),
            (f"{config.name} with levers and searches", levers),
        )
    ]
    expected = [_train(each.config.with_sections(parallel=ONE), ALONE) for each in questions]
    for question, right in zip(questions, expected, strict=True):
        worst = 0.0
        for way in question.ways:
            found = _train(question.config.with_sections(parallel=way), ranks)
            worst = max(worst, *map(distance, right, found))
        counts = ", ".join(str(way["workers"]) for way in question.ways)
        what = f"training by {ranks.size} ranks, {counts} workers each"
        yield Deviation(
            what, "one process", f"{question.where}, {RANK_EPOCHS} epochs", worst, EXACT
        )


class _Question(NamedTuple):
    """A configuration to train in several ways."""

    where: str
    config: Config
    ways: Sequence[dict[str, Any]]
    """[parallel] sections."""


def _cut(config: Config) -> Config:
    """Return the configuration with few samples and steps, and without searches."""
    return config.without_searches().with_sections(
        training={"batch": max(BATCH, min(config.training.batch, MOST_SAMPLES))},
        automaton={"steps": min(STEPS, config.automaton.steps)},
    )


def _train(config: Config, ranks: Ranks) -> tuple[Array, ...]:
    """Return losses and results of searches in a few epochs, and the logits after them."""
    with Trainer(config, ranks=ranks) as trainer:
        gather(trainer, ranks)
        numbers = []
        for _ in range(RANK_EPOCHS):
            with ranks.step():
                result = trainer.step()
            found = result.finished
            searched = (found.wrong, found.candidates) if found else (0, 0)
            numbers.append([result.soft_loss, result.hard_loss or 0.0, *searched])
        ranks.finish()
        state = trainer.state()
        return np.array(numbers), trainer.model.logits, state["best_logits"], state["best"]
