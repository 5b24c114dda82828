"""Learning by the gradient alone, without a search."""

import pytest

from difflogic.config import load_config
from difflogic.training.searching import Trainer

ALONE = ("finishing.every=0", "training.restart_every=0", "parallel.workers=1")


def learned(name, epochs, *overrides):
    with Trainer(load_config(name, [*ALONE, *overrides])) as trainer:
        return [trainer.step() for _ in range(epochs)]


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
