"""Tasks with stages: each begins from the circuit that solved the one before."""

import pytest

from difflogic.config import load_config
from difflogic.evaluation.exactness import check
from difflogic.experiment.searching import Trainer
from tests.difflogic.training.tiny import resumed, steps

SHORT = (
    "task.width=2",
    "automaton.steps=4",
    "task.stages=[1]",
    "training.restart_every=30",
    "finishing.from_epoch=10",
    "parallel.workers=1",
)
SEED = 5
"""Its first attempt solves the first stage only."""


def short(*overrides):
    """Sums of two bits, learned from sums of one."""
    return load_config("addition", [f"training.seed={SEED}", *SHORT, *overrides])


@pytest.fixture(scope="module")
def run():
    """A trainer of a run that ended, and the stage after each epoch."""
    with Trainer(short()) as trainer:
        return trainer, [trainer.descent.stage for _ in steps(trainer, 10**9)]


@pytest.mark.once
def test_stages_follow_each_other(run):
    trainer, stages = run
    assert trainer.exact_epoch == trainer.epoch == len(stages)
    assert stages[0] == 0
    assert stages[-1] == 1
    assert trainer.descent.task.width == trainer.result.config.task.width == 2
    assert check(trainer.result).exact


def test_starting_over_goes_back_to_the_first_stage(run):
    trainer, stages = run
    assert trainer.descent.attempt > 1
    epochs = trainer.config.training.restart_every
    assert stages[epochs - 1] > 0
    assert stages[epochs] == 0


@pytest.mark.thorough
def test_a_run_resumes_in_its_stage(run):
    trainer, stages = run
    until = next(epoch for epoch, stage in enumerate(stages, 1) if stage == 1)
    first, second = resumed(short(), until)
    assert first.epoch == second.epoch == trainer.epoch
    assert second.descent.stage == 1
