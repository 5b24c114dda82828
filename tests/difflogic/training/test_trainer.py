from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.config import load_config
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.measures import PHASES
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.work import working
from difflogic.training.optimizer import Learned
from difflogic.training.sampling import draw_samples
from difflogic.training.trainer import Descent
from tests.difflogic.training.tiny import resumed, tiny, trained

START = (2, 2, 6, 7)
TARGET = (2, 1, 6, 7)
FOUR_NUMBERS = (
    "training.initial_logit=3",
    "training.initial_spread=0.5",
    "training.batch=3",
    "training.form=truth-table",
)


def test_the_truth_table_form_resumes_bit_for_bit():
    state = resumed(tiny(*FOUR_NUMBERS), 2, 5)[1].state()
    assert state["adamw_first"].shape == state["adamw_second"].shape == (4, 42)


@pytest.mark.thorough
def test_lessons_about_wounds_give_the_same_bits_with_two_workers_and_resumed():
    """Also across a check under damage, and learning that starts over."""
    small = ("update.gates=[64,32,16,8]", "perception.kernels=4", "automaton.steps=4")
    checks = ("finishing.every=2", "finishing.from_epoch=2", "training.restart_every=4")
    few = ("task.height=8", "task.width=8", "finishing.tough=4096", "training.epochs=7")
    settings = (*small, *checks, *few, "training.seed=3")
    ends = [
        resumed(load_config("checkerboard-tough", [*settings, f"parallel.workers={workers}"]), at)
        for workers, at in ((1, 3), (2, 4))
    ]
    first, *others = (trainer.state() for pair in ends for trainer in pair)
    assert first["epoch"] == 7
    assert first["best"][1] > 0
    for state in others:
        assert state.keys() == first.keys()
        for name, value in first.items():
            assert_array_equal(state[name], value, err_msg=name)


def test_warming_up_does_not_change_training():
    logits = trained(tiny("automaton.fire_rate=0.5"), 4)[0].model.logits
    with Trainer(tiny("automaton.fire_rate=0.5")) as trainer:
        before = trainer.model.logits
        seconds = trainer.warm_up()
        assert seconds > 0
        assert trainer.phases.around == {"start": 0.0, "compilation": seconds, "tests": 0.0}
        assert trainer.phases.seconds == dict.fromkeys(PHASES, 0.0)
        assert_array_equal(trainer.model.logits, before)
        for _ in range(4):
            trainer.step()
        assert_array_equal(trainer.model.logits, logits)
        idle = {phase for phase, value in trainer.phases.seconds.items() if value <= 0}
        assert idle - {"waiting"} == {"finish", "checkpoint"}


def test_infinite_numbers_end_the_run():
    config = tiny()
    model = Model.create(config)
    broken = model.logits.copy()
    broken[-1] = np.inf  # a gate that outputs NaN
    learner = partial(Learned, training=config.training)
    with Descent(config.problem, replace(model, logits=broken), learner) as descent:
        with pytest.raises(TrainingError, match=r"epoch 1: .* \[training\] learning_rate"):
            descent.step()
        assert descent.epoch == 0
        assert_array_equal(descent.circuit.logits, broken)


def test_an_own_batch_trains_like_the_tasks():
    config = tiny("training.batch=3", "automaton.fire_rate=0.5")
    with Trainer(config) as one, Trainer(config) as other:
        for epoch in range(3):
            starts, targets, *_ = draw_samples(config.problem, epoch)
            expected = one.step()
            found = other.step(starts.astype(float), targets.tolist())
            assert found.soft_loss == expected.soft_loss
            assert found.hard_loss == expected.hard_loss
        assert_array_equal(one.model.logits, other.model.logits)
        assert other.step(1 - starts, targets).soft_loss != one.step(starts, targets).soft_loss


@pytest.mark.parametrize(
    ("starts", "targets", "message"),
    [
        (np.zeros(START), None, "give starts and targets"),
        (np.zeros((2, 2, 6, 6)), np.zeros(TARGET), r"starts have shape \(2, 2, 6, 6\): give"),
        (np.zeros(START), np.full(TARGET, np.nan), "give more than NaN"),
        (np.zeros(START), np.full(TARGET, np.inf), r"inf at .*, or NaN for"),
        (np.full(START, 0.5), np.zeros(TARGET), r"starts of .*: 0.5 at .*give 0 and 1"),
    ],
)
def test_invalid_batches_are_refused(starts, targets, message):
    with Trainer(tiny("training.batch=2")) as trainer, pytest.raises(ConfigError, match=message):
        trainer.step(starts, targets)


def test_a_target_of_a_half_accepts_both_bits():
    with Trainer(tiny("training.batch=2")) as trainer:
        result = trainer.step(np.zeros(START), np.full(TARGET, 0.5))
    assert (result.accuracy, result.hard_loss) == (1.0, 2 * 6 * 7 / 4)


def test_a_search_at_any_time():
    with Trainer(tiny("finishing.every=0")) as trainer:
        assert trainer.search() is None
    with Trainer(tiny("finishing.every=5", "finishing.candidates=50")) as trainer:
        found = trainer.search()
        assert trainer.epoch == 0
        assert_array_equal(trainer.result.ops, found.ops)


def test_one_thread_at_a_time_takes_steps_until_the_trainer_is_closed():
    found = []
    with Trainer(tiny()) as trainer, ThreadPoolExecutor(1) as thread:
        with working(hear=lambda pause: found.append(thread.submit(trainer.step).exception())):
            trainer.step()
        trainer.step()
    assert {str(error).partition(":")[0] for error in found} == {
        "another thread takes a step of this trainer"
    }
    with pytest.raises(TrainingError, match="the trainer is closed"):
        trainer.step()
