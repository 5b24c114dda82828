"""Tasks with stages: each begins from the circuit that solved the one before."""

from pathlib import Path

import pytest

from difflogic.config import load_config
from difflogic.evaluation.exactness import check
from difflogic.training.searching import Trainer
from tests.difflogic.training.tiny import resumed, steps

ROOT = Path(__file__).parents[3]
SHORT = (
    "task.width=2",
    "automaton.steps=4",
    "task.stages=[1]",
    "training.restart_every=30",
    "finishing.from_epoch=10",
    "parallel.workers=1",
)
SEED = 0
"""Its first attempt solves the first stage only."""


def short(*overrides):
    """Sums of two bits, learned from sums of one."""
    return load_config("addition", [f"training.seed={SEED}", *SHORT, *overrides])


@pytest.fixture(scope="module")
def run():
    """A trainer of a run that ended, and the stage after each epoch."""
    with Trainer(short()) as trainer:
        return trainer, [trainer.stage for _ in steps(trainer, 10**9)]


@pytest.mark.thorough
def test_stages_follow_each_other(run):
    trainer, stages = run
    assert trainer.exact_epoch == trainer.epoch == len(stages)
    assert stages[0] == 0
    assert stages[-1] == 1
    assert trainer.task.width == trainer.result.config.task.width == 2
    assert check(trainer.result)["exact"]


def test_starting_over_goes_back_to_the_first_stage(run):
    trainer, stages = run
    assert trainer.attempt > 1
    epochs = trainer.config.training.restart_every
    assert stages[epochs - 1] > 0
    assert stages[epochs] == 0


@pytest.mark.thorough
def test_a_run_resumes_in_its_stage(run):
    trainer, stages = run
    until = next(epoch for epoch, stage in enumerate(stages, 1) if stage == 1)
    first, second = resumed(short(), until)
    assert first.epoch == second.epoch == trainer.epoch
    assert second.stage == 1


OWN = '''
import numpy as np
from difflogic import Task


class Copy(Task):
    """Channel 1 becomes channel 0."""

    def sample(self, rng):
        start = rng.integers(0, 2, (self.channels, 1, self.width), dtype=np.uint8)
        return start, start[:1].astype(float)

    @property
    def stages(self):
        return (*(self.on_grid(1, width) for width in (1, 2)), self)
'''


def test_stages_of_an_own_task(tmp_path):
    (tmp_path / "copy_task.py").write_text(OWN)
    config = own(tmp_path)
    with Trainer(config) as trainer:
        assert trainer.task.width == 1
        list(steps(trainer, 200))
        assert trainer.stage == 2
        assert trainer.exact_epoch is not None
        assert trainer.result.config.task.width == 3


def own(folder):
    """The configuration with the task above."""
    text = (ROOT / "configs" / "addition.toml").read_text()
    before, _, after = text.partition("[task]")
    task = '[task]\nkind = "copy_task.py:Copy"\nheight = 1\nwidth = 3\nloss_channels = [1]\n\n'
    path = folder / "copy.toml"
    path.write_text(before + task + "[automaton]" + after.partition("[automaton]")[2])
    return load_config(path, ["automaton.steps=3", "parallel.workers=1"], allow_code=True)
