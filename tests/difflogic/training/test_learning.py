"""Learning by the gradient alone, without a search."""

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.tasks import make_task
from difflogic.tasks.base import draw_batch
from difflogic.training.plan import ParallelPlan
from difflogic.training.searching import Trainer

ALONE = ("finishing.every=0", "training.restart_every=0", "parallel.workers=1")
SMALL = "game-of-life-small"
INVERTED = 'task.rule="B012345678/S"'
"""Every cell changes: no board's target helps with another board."""


def learned(name, epochs, *overrides):
    with Trainer(load_config(name, [*ALONE, *overrides])) as trainer:
        return [trainer.step() for _ in range(epochs)]


@pytest.mark.parametrize("in_waves", [False, True])
def test_training_learns_from_every_sample(in_waves):
    seed = 0
    overrides = [INVERTED, "training.batch=32", f"training.seed={seed}"]
    config = load_config("game-of-life-small", [*ALONE, *overrides])
    starts, targets = draw_batch(make_task(config), seed, 0, 32)
    np.testing.assert_array_equal(targets, 1 - starts[:, :1])
    assert len(np.unique(targets, axis=0)) > 16
    more = [f"parallel.samples_at_once={8 if in_waves else 'auto'}"]
    plan = ParallelPlan.for_model(load_config(SMALL, [*ALONE, *overrides, *more]))
    assert (plan.waves > 1) is in_waves
    results = learned(SMALL, 150, *overrides, *more)
    first, last = results[0], results[-1]
    assert first.accuracy < 0.6
    # For 288 cells; it was 0.17.
    assert last.soft_loss < 1
    assert last.hard_loss == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "epochs", "soft", "hard"),
    [
        # Recorded with float32 and AVX-512. Lanes set the order of sums, so figures may differ.
        ("checkerboard-small", 50, 0.0722, 0.0),
        ("game-of-life-small", 100, 12.36, 15.0),
    ],
)
def test_the_gradient_alone_reaches_the_recorded_losses(name, epochs, soft, hard):
    last = learned(name, epochs, "training.seed=0")[-1]
    assert last.soft_loss == pytest.approx(soft, rel=0.25)
    assert last.hard_loss == pytest.approx(hard, abs=0.1 * hard)
