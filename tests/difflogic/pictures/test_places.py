"""Counters of rows and columns, from any state and beside any other gates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit import gates
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.engine import oracle
from difflogic.experiment.searching import Trainer
from difflogic.model.hardening import automaton_of
from difflogic.model.model import Model
from difflogic.pictures.picture import Picture
from difflogic.pictures.places import Places, place_bits
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import right_from
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.difflogic.pictures.counting import counting
from tests.examples import any_seed


def config(height, width, *overrides):
    """A picture of two colours whose cells count their places."""
    y, x = np.mgrid[:height, :width]
    bits = ((y - height / 2) ** 2 + (x - width / 3) ** 2 < (height + width) ** 2 / 32)[None]
    return counting(Picture("disc", bits.astype(np.uint8)), *overrides)


@pytest.mark.once
@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(1, 9), any_seed)
def test_cells_count_from_any_state_whatever_the_other_gates_do(height, width, seed):
    rng = np.random.default_rng(seed)
    bits = place_bits(height, width)
    sizes = [*(size + sum(bits) + 2 for size in (36, 20, 10, 5, 3, 2)), 1 + sum(bits)]
    made = config(height, width, f"update.gates={sizes}")
    model = Model.create(made)
    netlist = model.netlist
    ops = np.where(model.layers.fixed, model.ops, rng.integers(0, gates.OPS, len(model.ops)))
    channels = made.automaton.channels
    start = rng.integers(0, 2, (channels, height, width), dtype=np.uint8)
    steps = max(height, width)
    states = oracle.rollout(netlist, gates.one_hot(ops), start, steps + 2, "zero")
    wanted = Places(bits).settled(channels, height, width)
    own = slice(channels - sum(bits), None)
    for state in states[steps:]:
        assert_array_equal(state[own], wanted[own])
    # Other gates read nothing else, so the visible state stays too, which sets prove.
    assert_array_equal(states[-1], states[-2])
    automaton = automaton_of(hard_circuit(netlist, ops), make_task(made))
    shown = states[-1][:1]
    assert right_from(Convergence.of(automaton, shown.astype(np.uint8))) <= steps + 1
    shown[0, 0, 0] = 1 - shown[0, 0, 0]
    assert right_from(Convergence.of(automaton, shown.astype(np.uint8))) is None


@pytest.mark.thorough
def test_learning_and_searching_leave_the_counters_alone_and_any_start_ends_in_the_picture():
    made = config(11, 13, "training.seed=5")
    with Trainer(made) as trainer:
        fixed = trainer.first_model.layers.fixed
        first = trainer.first_model.logits
        trainer.step()
        moved = (trainer.model.logits != first).any(axis=1)
        assert moved.any()
        assert not moved[fixed].any()
        while not trainer.done:
            trainer.step()
        assert trainer.exact_epoch is not None
        model = trainer.result
        target = trainer.descent.stages[-1].target
    assert_array_equal(model.ops[fixed], trainer.first_model.ops[fixed])
    start = np.random.default_rng(0).integers(0, 2, (made.automaton.channels, 11, 13), np.uint8)
    states = oracle.rollout(model.netlist, gates.one_hot(model.ops), start, 16, "zero")
    for state in states[14:]:
        assert_array_equal(state[: len(target)], target)


@pytest.mark.parametrize(
    ("override", "message"),
    {
        "perception.kernels=2": "neighbours are passed on to them: set [perception] kernels = 1",
        "automaton.boundary=periodic": 'set [automaton] boundary = "zero"',
        "automaton.fire_rate=0.5": "set [automaton] fire_rate = 1.0",
        "training.form=truth-table": 'set [training] form = "ops"',
        "automaton.steps=9": "too few to count 9 cells",
        "update.gates=[20,40,9]": "more than 10 gates",
    }.items(),
)
def test_settings_without_counting_are_refused(override, message):
    with pytest.raises(ConfigError) as raised:
        config(9, 9, override)
    assert message in str(raised.value)
