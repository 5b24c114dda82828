"""Toughness: damage that is measured, and what polishing must not forget."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from difflogic.circuit.gates import Op
from difflogic.circuit.hard_netlist import netlist_of
from difflogic.config import load_config
from difflogic.evaluation import toughness
from difflogic.evaluation.toughness import Toughness
from difflogic.proof.answer import Confinement, left_open
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.search.verifier import Verifier
from difflogic.tasks import make_task
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.difflogic.proof.convergence.trained import trained
from tests.difflogic.search.finishers import plan_of

CONFIG = load_config("checkerboard-tough")


def test_cells_that_are_wrong_under_damage() -> None:
    """The rule by hand heals where it is hurt; a one-way circuit leaves wakes; zeros do nothing."""
    circuits = (
        tough_checkerboard().circuit,
        trained("checkerboard-seed-2").circuit,
        circuit_of([(Op.FALSE, 0, 0)], [9]),
    )
    wrong = []
    for circuit in circuits:
        netlist, ops = netlist_of(circuit, 8)
        wrong.append(Toughness(netlist, make_task(CONFIG), 0)(ops))
    assert 100 < wrong[0] < 300
    assert wrong[1] > 900
    assert wrong[2] == 64 * 64 / 2


@pytest.mark.once
def test_only_circuits_whose_damage_stays_local_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rule by hand keeps wounds off the edges where they are, and no others."""
    for circuit, margin, kept in (
        (tough_checkerboard().circuit, 1, True),
        (tough_checkerboard().circuit, 0, False),
        (trained("checkerboard-seed-2").circuit, 1, False),
    ):
        monkeypatch.setattr(toughness, "WOUND", Wound(4, margin=margin, zeros=False))
        netlist, ops = netlist_of(circuit, 8)
        measured = Toughness(netlist, make_task(CONFIG), 0)
        assert measured.confines(ops) == kept
        assert (measured.limits(ops) is not None) == kept


@pytest.mark.parametrize("synchronous", [False, True])
def test_wounds_that_close_only_if_all_cells_fire_do_not_count(
    synchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Confinement(toughness.WOUND, Verdict.proved, margin=1, synchronous=synchronous)
    monkeypatch.setattr(toughness, "prove", lambda asked: replace(left_open(""), confinement=kept))
    netlist, ops = netlist_of(tough_checkerboard().circuit, 8)
    assert Toughness(netlist, make_task(CONFIG), 0).confines(ops) != synchronous


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("wrong", [9.0, 9.5])
@pytest.mark.parametrize("confined", [False, True])
def test_a_search_ends_with_what_is_in_time_tough_and_confined(
    late: bool, wrong: float, confined: bool
) -> None:
    netlist, ops = netlist_of(tough_checkerboard().circuit, 8)
    judge = Mock(can_prove=True, is_late=lambda ops: late)
    measured = Mock(return_value=wrong, confines=lambda ops: confined)
    found = Verifier(netlist, plan_of(CONFIG), judge, measured, most_wrong=9.0)
    assert found.verify(ops) == (not late and wrong == 9.0 and confined, [])
