from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.engine.sharing import Strategy
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.tasks import Task
from difflogic.training.metrics import PHASES
from difflogic.training.sampling import draw_epoch
from difflogic.training.searching import Trainer
from tests.difflogic.training.clock import timed_steps
from tests.difflogic.training.tiny import resumed, steps, tiny


def train(config, epochs=4, model=None):
    """Numbers of all epochs, and the logits after them."""
    with Trainer(config, model) as trainer:
        results = [trainer.step() for _ in range(epochs)]
        return results, trainer.model.logits


def numbers(results):
    return [(r.epoch, r.soft_loss, r.hard_loss, r.accuracy) for r in results]


def test_a_seed_determines_a_run():
    results, logits = train(tiny())
    again, same_logits = train(tiny())
    assert numbers(results) == numbers(again)
    np.testing.assert_array_equal(logits, same_logits)
    for one, other in zip(results, again, strict=True):
        np.testing.assert_array_equal(one.hard_state, other.hard_state)
    others, other_logits = train(tiny("training.seed=24"))
    assert numbers(results) != numbers(others)
    assert (logits != other_logits).any()


FOUR_NUMBERS = (
    "training.initial_logit=3",
    "training.initial_spread=0.5",
    "training.batch=3",
    "training.form=truth-table",
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sharing", "more"),
    [
        *((f"strategy={each}", ["automaton.fire_rate=0.6"]) for each in get_args(Strategy)[1:]),
        ("workers=5", FOUR_NUMBERS),
    ],
)
def test_sharing_does_not_change_a_bit(sharing, more):
    size = ("task.height=9", "training.batch=3", *more)
    expected, logits = train(tiny(*size), epochs=3)
    found, other = train(tiny(*size, "parallel.workers=3", f"parallel.{sharing}"), epochs=3)
    assert numbers(found) == numbers(expected)
    np.testing.assert_array_equal(logits, other)


def test_the_truth_table_form_resumes_bit_for_bit():
    state = resumed(tiny(*FOUR_NUMBERS), 2, 5)[1].state()
    assert state["adamw_first"].shape == state["adamw_second"].shape == (4, 42)


def test_warming_up_does_not_change_training():
    _, logits = train(tiny("automaton.fire_rate=0.5"))
    with Trainer(tiny("automaton.fire_rate=0.5")) as trainer:
        before = trainer.model.logits
        seconds = trainer.warm_up()
        assert seconds > 0
        assert trainer.phases.around == {"start": 0.0, "compilation": seconds, "tests": 0.0}
        assert trainer.phases.seconds == dict.fromkeys(PHASES, 0.0)
        np.testing.assert_array_equal(trainer.model.logits, before)
        for _ in range(4):
            trainer.step()
        np.testing.assert_array_equal(trainer.model.logits, logits)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_infinite_numbers_end_the_run(value):
    config = tiny()
    model = Model.create(config)
    # A gate that outputs `value`: what a logit of NaN makes of it, or a state that overflows.
    broken = model.logits.copy()
    broken[-1] = value if value != 1e30 else broken[-1]
    with Trainer(config, replace(model, logits=broken)) as trainer:
        if value == 1e30:
            trainer.task = Huge(trainer.task)
        with pytest.raises(TrainingError, match=r"epoch 1: .* \[training\] learning_rate"):
            trainer.step()
        assert trainer.epoch == 0
        np.testing.assert_array_equal(trainer.model.logits, broken)


class Huge(Task):
    """A task whose targets are too large for the square of an error in float32."""

    def __init__(self, task):
        super().__init__(task.section, task.automaton)
        self.task = task

    def sample(self, rng):
        start, target = self.task.sample(rng)
        return start, target * 1e200


def test_phases_are_timed():
    with Trainer(tiny()) as trainer:
        trainer.step()
        seconds = trainer.phases.seconds
    absent = {"finish", "checkpoint"}
    assert {phase for phase, value in seconds.items() if value <= 0} - {"waiting"} == absent


def test_an_own_batch_trains_like_the_tasks():
    config = tiny("training.batch=3", "automaton.fire_rate=0.5")
    with Trainer(config) as one, Trainer(config) as other:
        for epoch in range(3):
            starts, targets, _ = draw_epoch(one.task, config, epoch)
            expected = one.step()
            found = other.step(starts.astype(float), targets.tolist())
            assert found.soft_loss == expected.soft_loss
            assert found.hard_loss == expected.hard_loss
        np.testing.assert_array_equal(one.model.logits, other.model.logits)
        assert other.step(1 - starts, targets).soft_loss != one.step(starts, targets).soft_loss


def test_nan_targets_do_not_count():
    """Both losses are the oracle's, over the cells that do count."""
    config = tiny("training.batch=2", "training.precision=float64")
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 2, (2, 2, 6, 7))
    targets = np.where(rng.random((2, 1, 6, 7)) < 0.5, np.nan, 0.25)
    targets[1] = np.nan  # a sample may be without any
    with Trainer(config) as trainer:
        soft = gates.mix(gates.softmax(trainer.model.logits))
        hard = gates.one_hot(trainer.model.ops)
        result = trainer.step(starts, targets)
    for found, coefficients in ((result.soft_loss, soft), (result.hard_loss, hard)):
        how = config.automaton.steps, config.automaton.boundary
        state = oracle.rollout(trainer.model.netlist, coefficients, starts[0], *how)[-1][0]
        counts = ~np.isnan(targets[0, 0])
        assert found == pytest.approx(((state[counts] - 0.25) ** 2).sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("starts", "targets", "message"),
    [
        (np.zeros((2, 2, 6, 7)), None, "give starts and targets"),
        (np.zeros((2, 2, 6, 6)), np.zeros((2, 1, 6, 7)), r"starts have shape \(2, 2, 6, 6\): give"),
        (np.zeros((2, 2, 6, 7)), np.full((2, 1, 6, 7), np.nan), "give more than NaN"),
        (np.zeros((2, 2, 6, 7)), np.full((2, 1, 6, 7), np.inf), r"inf at .*, or NaN for"),
        (
            np.full((2, 2, 6, 7), 0.5),
            np.zeros((2, 1, 6, 7)),
            r"starts of .*: 0.5 at .*give 0 and 1",
        ),
    ],
)
def test_invalid_batches_are_refused(starts, targets, message):
    with Trainer(tiny("training.batch=2")) as trainer, pytest.raises(ConfigError, match=message):
        trainer.step(starts, targets)


def test_a_target_of_a_half_accepts_both_bits():
    with Trainer(tiny("training.batch=2")) as trainer:
        result = trainer.step(np.zeros((2, 2, 6, 7)), np.full((2, 1, 6, 7), 0.5))
    assert (result.accuracy, result.hard_loss) == (1.0, 2 * 6 * 7 / 4)


def test_a_search_at_any_time():
    with Trainer(tiny("finishing.every=0")) as trainer:
        assert trainer.search() is None
    with Trainer(tiny("finishing.every=5", "finishing.candidates=50")) as trainer:
        found = trainer.search()
        assert trainer.epoch == 0
        np.testing.assert_array_equal(trainer.result.ops, found.ops)


def test_learning_starts_over_from_the_first_logits_with_another_wiring():
    config = tiny("training.restart_every=3", "finishing.every=100")
    with Trainer(config) as trainer:
        first = trainer.model.logits
        list(steps(trainer, 3))
        assert (trainer.model.logits != first).any()
        wiring = trainer.model.netlist
        trainer.step()
        moved = np.abs(trainer.model.logits - first)
        assert (trainer.model.netlist.a != wiring.a).any()
    # AdamW's first step moves a logit by at most the learning rate, and the decay.
    training = config.training
    most = training.learning_rate * (1 + training.weight_decay * training.initial_logit)
    assert 0 < moved.max() <= most * 1.001


@pytest.mark.parametrize(
    "more",
    [
        ["training.restart_every=1", "finishing.every=100"],
        ["parallel.workers=2", "finishing.every=1", "finishing.candidates=50"],
        ["parallel.workers=3", "training.batch=4", "parallel.strategy=samples"],
    ],
)
def test_phases_add_up_to_the_wall_time(more):
    found = list(timed_steps(tiny(*more), 10))
    assert all(min(phases.values()) >= 0 for _, phases in found)
    # A busy machine may stop this process between two clocks, but not each time.
    assert 0.98 < max(sum(phases.values()) / passed for passed, phases in found) <= 1


NEUTRAL = (
    "training.form=ops",
    "training.initial_spread=0",
    "training.later_steps=0",
    "finishing.every=2",
    "finishing.candidates=60",
)


def test_levers_that_are_off_change_no_bit():
    """Checks and searches change no bit either."""
    found = []
    for overrides in ((), NEUTRAL):
        with Trainer(tiny("automaton.fire_rate=0.6", *overrides)) as trainer:
            losses = [trainer.step().soft_loss for _ in range(5)]
            found.append((losses, trainer.model.logits, trainer._learned.state()))
    (losses, logits, moments), (same_losses, same_logits, same_moments) = found
    assert losses == same_losses
    np.testing.assert_array_equal(logits, same_logits)
    for name, values in moments.items():
        np.testing.assert_array_equal(values, same_moments[name])
