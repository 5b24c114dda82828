"""Training for pictures that stay and grow back."""

import numpy as np
import pytest

from difflogic.circuit.gates import Op, one_hot
from difflogic.engine import oracle
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.circuit_test import Subject, exactness
from difflogic.evaluation.exactness import assure, check
from difflogic.evaluation.judge import Judge
from difflogic.evaluation.scene import Patches, Streams
from difflogic.evaluation.trial import Trial
from difflogic.search.finisher import Finisher
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.search.verifier import FIRST_STARTS
from difflogic.system.streams import Purpose
from difflogic.tasks import make_task
from tests.difflogic.evaluation.naive import random_model, rollout, wired
from tests.difflogic.training.tiny import growing, trained
from tests.marks import each_boundary

STREAMS = Streams(0, Purpose.CHECK_START, Purpose.CHECK_MASK)
HOLDING = (
    "task.hold=true",
    "training.weight_decay=0.0",
    "finishing.every=30",
    "training.epochs=90",
    "pool.batch=2",
    "pool.later=6",
    "pool.steps=3",
    "training.seed=8",
)
"""A plus that stays, found at epoch 90."""


@pytest.fixture(scope="module")
def held():
    trainer, _ = trained(growing(*HOLDING))
    assert trainer.exact_epoch is not None
    return trainer.result


def test_a_run_ends_with_a_picture_that_stays(held):
    assert assure(held).text == "proved at step 3 and at every later one"
    assert check(held).exact
    note = "Exact means at every later step, by proof: a run until its state repeats."
    assert note in exactness(Subject(held, held.config, 0))["notes"]
    task = make_task(held.config)
    states = oracle.rollout(held.netlist, one_hot(held.ops), task.start_state, 40, "periodic")
    for state in states[3:]:
        np.testing.assert_array_equal(state[:1], task.target)


def finisher_of(model, plan):
    config = model.config
    sensitivity = GradientSensitivity(model.netlist, plan, 3)
    return Finisher(model.netlist, plan, config.finishing, sensitivity, Judge(model.netlist, plan))


def healing_plan(*overrides):
    config = growing("task.hold=true", "task.heal=[2,3]", *overrides)
    return config, Plan.searched(make_task(config), 8, STREAMS.seed)


@each_boundary
def test_counts_of_damaged_runs(boundary):
    config, plan = healing_plan(f"automaton.boundary={boundary}")
    assert plan.starts == 1 + {"periodic": 50, "zero": 25}[boundary]
    assert plan.decisive == tuple(range(3, 11))
    model = random_model(config, 4)
    damage = plan.scene.damage
    assert isinstance(damage, Patches)
    assert not damage.draw(plan.scene.grid, STREAMS, (1,), range(damage.until, 10)).any()
    samples = (0, 1, 7, 25)
    expected = []
    target = make_task(config).target
    start = make_task(config).start_state
    for sample, zeroed in zip(samples, damage.of(samples), strict=True):
        assert zeroed.sum() == 0 if sample == 0 else zeroed.sum() in (4, 9)

        def hit(step, state, zeroed=zeroed):
            if step == 4:
                state[:, zeroed == 1] = 0

        states = rollout(model, start, 10, boundary, damage=hit)
        # The undamaged run must be right at every step, a damaged one when it is healed.
        counted = range(3, 11) if sample == 0 else (3, 7, 10)
        wrong = [int((states[at - 1][:1] != target).sum()) for at in range(3, 11)]
        expected.append([w if at in counted else 0 for at, w in enumerate(wrong, 3)])
    trial = Trial(model.netlist, plan.scene, samples)
    assert trial(model.ops).T.tolist() == expected


def ticking(at):
    """A circuit that rightly shows nothing, except one cell at step `at`.

    All channels of that cell are 1 at first. Channel 1 is 0 from the next step on, and each channel
    passes that on to the next. Channel 0 is 1 just before the 0 reaches channel `at`.
    """
    nothing = "\n".join(["....."] * 5)
    config = growing(
        f'task.target="""\n{nothing}"""',
        "task.hold=true",
        "task.heal=[2]",
        "automaton.channels=16",
        "perception.kernels=1",
        "update.gates=[16]",
    )
    tick = (Op.A_AND_NOT_B, at, at - 1)
    line = [(Op.A, channel - 1, channel) for channel in range(2, 16)]
    return config, wired(config, [[tick, (Op.FALSE, 0, 0), *line]])


def test_a_search_sees_errors_at_any_step():
    """Errors only at step 5, or only at step 14."""
    for at in (5, 14):
        config, model = ticking(at)
        task = make_task(config)
        states = rollout(model, task.start_state, 30, config.automaton.boundary)
        wrong = [int((state[:1] != task.target).sum()) for state in states]
        assert [step for step, cells in enumerate(wrong, 1) if cells and step >= 3] == [at]
        plan = Plan.holding(task, STREAMS)
        finisher = finisher_of(model, plan)
        found = Trial(model.netlist, plan.scene, range(1))(model.ops)[:, 0]
        assert found.tolist() == wrong[2:10]
        assert finisher._wrong_later(model.ops, plan.scene) == (None if at < 10 else at)
        assert not finisher.judge.keeps(model.ops)
        longer = plan.scene.until(at) if at > 10 else plan.scene
        counts = Trial(model.netlist, longer, range(9))(model.ops)
        assert counts[longer.at.index(at), 0] == wrong[at - 1]
        assert not counts[longer.at.index(at), 1:].any()
        # One gate lets the tick through; the search removes it.
        done = finisher.finish(model.logits.T.copy(), np.random.default_rng(0))
        assert done.wrong_before == (wrong[4] if at < 10 else 0)
        mended = rollout(model, task.start_state, 40, config.automaton.boundary, ops=done.ops)
        assert all((state[:1] == task.target).all() for state in mended[2:])


def test_a_search_tries_all_damages():
    config, plan = healing_plan("finishing.candidates=200")
    model = random_model(config, 4)
    finisher = finisher_of(model, plan)
    assert sorted(number for some in finisher._rounds() for number in some) == [*range(51)]
    found = finisher.finish(model.logits.T.copy(), np.random.default_rng(0))
    assert not found.exact
    assert found.wrong_fresh >= found.wrong > 0


def test_a_search_with_few_damages():
    config = growing(
        "task.hold=true", "task.heal=[4]", "automaton.boundary=zero", "training.epochs=10"
    )
    assert FIRST_STARTS > 1 + 1
    trained(config)
