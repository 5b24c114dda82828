"""How far training comes by the gradient alone: no search corrects what it learns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from difflogic.config import Config
from difflogic.training.trainer import Trainer

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Learned:
    """What one seed came to; or of several, medians."""

    seed: int | None
    """None for medians."""
    soft_loss: float
    hard_loss: float | None
    accuracy: float | None
    """Share of right cells of the hard circuit, 0 to 1, on the last epoch's samples."""
    decided: float | None
    """Share of gates, 0 to 1, with an op of a probability above `gates.DECIDED`."""
    seconds: float
    """Of this process's threads together."""


def learn(
    config: Config,
    epochs: int,
    seeds: Sequence[int] = SEEDS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Learned]:
    """Train one attempt without searches on each of `seeds`; the last row has the medians.

    `progress` is called after each epoch.
    """
    found = []
    for index, seed in enumerate(seeds):
        alone = config.without_searches().with_sections(training={"seed": seed})
        with Trainer(alone) as trainer:
            trainer.warm_up()
            begun = time.process_time()
            for done in range(epochs):
                last = trainer.step()
                progress(index * epochs + done + 1)
            seconds = time.process_time() - begun
        scores = last.soft_loss, last.hard_loss, last.accuracy, last.decided, seconds
        found.append(Learned(seed, *scores))
    columns = zip(*(list(vars(each).values())[1:] for each in found), strict=True)
    return [*found, Learned(None, *map(median, columns))]
