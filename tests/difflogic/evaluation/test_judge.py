"""Certificates in finishing: proved, late, or open."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit import hard_netlist
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import OPS, Op, one_hot
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.circuit.live_part import live_circuit
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config, load_config
from difflogic.engine import oracle
from difflogic.evaluation.assurance import keeps
from difflogic.evaluation.judge import DOUBTFUL, Judge
from difflogic.evaluation.scene import FIRST_FOUND, NumberedStarts
from difflogic.model.hardening import automaton_of
from difflogic.model.model import Model
from difflogic.search.finisher import Finisher
from tests.difflogic.proof.convergence.trained import trained
from tests.difflogic.search.finishers import finisher_of, judge_of, plan_of


def netlist_of(name: str, more: int = 0) -> tuple[Netlist, np.ndarray]:
    """A trained circuit as a netlist with more channels, and its op for each gate."""
    circuit = trained(name).circuit
    labels = tuple(range(circuit.channels))
    plain = Circuit(circuit.op, circuit.a, circuit.b, circuit.outputs, labels)
    return hard_netlist.netlist_of(plain, circuit.channels + more)


def config_of(channels: int, *overrides: str) -> Config:
    """A checkerboard of 8×8 cells for circuits from elsewhere."""
    return load_config(
        "checkerboard",
        [
            f"automaton.channels={channels}",
            f"update.gates=[16,8,{channels}]",
            "perception.kernels=1",
            "task.height=8",
            "task.width=8",
            *overrides,
        ],
    )


def test_proved_in_time_needs_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    netlist, ops = netlist_of("checkerboard-seed-1")
    config = config_of(netlist.channels)
    finisher = finisher_of(config, netlist)
    monkeypatch.setattr(Finisher, "_fresh", property(lambda self: pytest.fail("samples")))
    assert finisher.verify(ops) == (True, [])


@pytest.mark.once
@pytest.mark.parametrize(("steps", "exact"), [(20, True), (3, False)])
def test_samples_decide_about_a_late_proof(steps: int, exact: bool) -> None:
    netlist, ops = netlist_of("checkerboard-seed-2")
    config = config_of(netlist.channels, f"automaton.steps={steps}")
    judge = judge_of(config, netlist)
    assert judge.proves(ops)
    assert judge.certified_step(ops) == 13
    assert judge.is_late(ops) != exact
    finisher = finisher_of(config, netlist)
    found, failing = finisher.verify(ops)
    assert found == exact
    assert bool(failing) != exact
    assert all(number < FIRST_FOUND for number in failing)


def test_rounds_do_not_count_as_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    netlist, ops = netlist_of("checkerboard-async-seed-1")
    config = config_of(netlist.channels, "automaton.fire_rate=0.6", "automaton.steps=1000")
    judge = judge_of(config, netlist)
    assert judge.proves(ops)
    assert judge.latest_step is None
    # An early round does not make up for samples.
    finisher = finisher_of(config, netlist)
    monkeypatch.setattr(Finisher, "_fresh", property(lambda self: pytest.fail("samples")))
    with pytest.raises(pytest.fail.Exception, match="samples"):
        finisher.verify(ops)


def stained() -> tuple[Netlist, np.ndarray]:
    """The checkerboard, except cells whose last channel is 1: they stay 1 for ever."""
    netlist, ops = netlist_of("checkerboard-seed-1", 1)
    stain = 5 * netlist.channels - 1
    # The last gate, which gave the last channel its 0, stains the first one.
    shown = netlist.outputs[0]
    a = np.append(netlist.a[:-1], shown)
    b = np.append(netlist.b[:-1], np.int32(stain))
    outputs = netlist.outputs.copy()
    outputs[[0, -1]] = [netlist.rows - 1, stain]
    ops[-1] = Op.OR
    return replace(netlist, a=a, b=b, outputs=outputs), ops


def test_a_refuted_circuit_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counterexamples come from the open starts of the certificate, and really fail."""
    netlist, ops = stained()
    config = config_of(netlist.channels)
    judge, again = (judge_of(config, netlist) for _ in range(2))
    assert not judge.proves(ops)
    starts = judge.doubtful_starts(ops)
    assert starts.shape == (DOUBTFUL, netlist.channels, 8, 8)
    assert (starts == again.doubtful_starts(ops)).all()
    finisher = finisher_of(config, netlist)
    monkeypatch.setattr(Finisher, "_fresh", [])  # as if samples had found nothing
    exact, failing = finisher.verify(ops)
    assert not exact
    assert failing
    for number in failing:
        assert number >= FIRST_FOUND
        start = starts[number - FIRST_FOUND]
        last = oracle.rollout(netlist, one_hot(ops), start, config.automaton.steps, "zero")[-1]
        y, x = np.indices((8, 8)) // 2
        assert (last[0] != (x + y) % 2).any()


def test_other_tasks_have_no_certificate() -> None:
    config = load_config("lizard")
    netlist, _ = netlist_of("checkerboard-seed-1")
    assert not judge_of(config, netlist).can_prove


def test_found_starts_have_their_own_numbers() -> None:
    def draw(first: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
        return np.full((batch, 1, 2, 2), first, np.uint8), np.zeros((batch, 1, 2, 2))

    numbered_starts = NumberedStarts(draw, np.ones((1, 2, 2), np.uint8))
    assert numbered_starts.draw(3, 2)[0].tolist() == np.full((2, 1, 2, 2), 3).tolist()
    found = np.arange(8, dtype=np.uint8).reshape(2, 1, 2, 2)
    assert numbered_starts.add(found) == range(FIRST_FOUND, FIRST_FOUND + 2)
    assert numbered_starts.add(found[:1]) == range(FIRST_FOUND + 2, FIRST_FOUND + 3)
    starts, targets = numbered_starts.draw(FIRST_FOUND + 1, 2)
    assert (starts == found[[1, 0]]).all()
    assert (targets == 1).all()
    numbered_starts.clear()
    assert numbered_starts.add(found) == range(FIRST_FOUND, FIRST_FOUND + 2)


@pytest.mark.parametrize("seed", range(3))
def test_the_judged_circuit_is_the_live_part(seed: int) -> None:
    config = config_of(6)
    rng = np.random.default_rng(seed)
    netlist = Model.create(config, attempt=seed).netlist
    # Mostly wires, as when trained; then hardly anything is live.
    ops = rng.integers(0, OPS, netlist.parameters, np.uint8)
    ops[rng.random(netlist.parameters) < 0.5] = Op.A
    whole = hard_circuit(netlist, ops)
    visible = tuple(config.task.loss_channels)
    judged = judge_of(config, netlist)._by_sets(ops).question.circuit
    expected = live_circuit(whole, visible)
    assert judged.labels == expected.labels
    for name in ("op", "a", "b", "outputs"):
        np.testing.assert_array_equal(getattr(judged, name), getattr(expected, name))


@pytest.mark.parametrize(
    ("width", "leads_on", "kept"), [(2, False, False), (2, True, True), (3, True, False)]
)
def test_a_line_may_fail_on_other_lengths_in_a_stage_before_the_last(
    width: int, leads_on: bool, kept: bool
) -> None:
    """The parity of a cell and its neighbour is that of all up to there on two cells only."""
    keys = ["task.computes=parity", f"task.width={width}", "task.stages=[]", "task.inputs=[0]"]
    keys += ["task.loss_channels=[1]", f"automaton.steps={width}"]
    plan = replace(plan_of(load_config("addition", keys)), leads_on=leads_on)
    own = 4 * 4
    east = 5 * 4
    wires = [np.array([row], np.int32) for row in (own, east, 0)]
    netlist = Netlist(4, *wires, np.array([own, 36, own, own], np.int32), 1)
    ops = np.array([Op.XOR], np.uint8)
    assert Judge(netlist, plan).keeps(ops) == kept
    assert plan.proved is not None
    assert not keeps(automaton_of(hard_circuit(netlist, ops), plan.proved), plan.proved)
