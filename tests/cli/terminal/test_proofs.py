"""Proofs in words."""

from dataclasses import replace

import pytest

from cli.terminal.proofs import equality, show_healing
from difflogic.circuit.gates import Op
from difflogic.proof import Difference, decide_equality
from difflogic.proof.answer import Healing
from difflogic.proof.cases import _verdict_on
from difflogic.proof.convergence.orbits import LASTING, NOT_KNOWN
from difflogic.proof.verdict import Verdict
from tests.difflogic.circuit.circuits import circuit_of

NAMES = ("one", "the other")
DIFFERENT = decide_equality(circuit_of([], [0]), circuit_of([], [1]), (0,))


@pytest.mark.parametrize(
    ("bits", "where"),
    [
        (
            {"NW3": 1, "C3": 0, "E7": 1, "SE3": 1, "N9": 0},
            "if NW3, E7, SE3 are 1 and all other bits that are read are 0,",
        ),
        ({"C1": 1}, "if C1 is 1,"),
        ({"C1": 0, "C2": 0}, "if all bits that are read are 0,"),
        ({}, "always,"),
    ],
)
def test_a_counterexample(bits, where):
    end = ["the next state of channel 3 is", "  0  in one", "  1  in the other"]
    found = replace(DIFFERENT, counterexample=Difference(3, 0, 1, bits))
    assert equality(found, names=NAMES).splitlines()[2:] == ["", where, *end]


def test_equality_in_words():
    circuit = circuit_of([(Op.AND, 0, 3)], [18, 1])
    first, *others = equality(decide_equality(circuit, circuit, (0,))).splitlines()
    assert first.startswith("proved equal: 2 next states with up to 2 inputs, ")
    assert others == ["  2 outputs by trying all 6 cases"]
    first, *others = equality(decide_equality(circuit, circuit, (0,), exhaustive=1)).splitlines()
    assert others[0] == "  1 output by trying all 2 cases"
    assert others[1] == "  1 output by SAT"
    assert equality(DIFFERENT).startswith("NOT EQUAL, found after comparing 1 next state ")
    unknown = equality(decide_equality(circuit, circuit, (0,), -1))
    assert unknown.startswith("UNKNOWN: 2 of 2 next states undecided after ")


def test_damage_of_which_nothing_is_known_does_not_count_as_healed(capsys):
    found = Healing(2, 3, (4, NOT_KNOWN, LASTING, 9, NOT_KNOWN))
    show_healing([found.as_dict()])
    shown = capsys.readouterr().out.splitlines()[-1]
    assert shown.split() == ["2×2", "5", "3", "2", "of", "5", "9", "steps"]
    assert (found.damages, found.lasting, found.unknown, found.within) == (5, 1, 2, 9)
    verdict, text = _verdict_on((Healing(1, 1, (2, NOT_KNOWN)),), "proved at step 3")
    assert verdict is Verdict.open
    assert text.startswith("not proved: 1 of 2 cases of damage may heal later")
    assert _verdict_on((Healing(1, 1, (2, NOT_KNOWN, LASTING)),), "")[0] is Verdict.refuted
    assert _verdict_on((Healing(1, 1, (2, 0)),), "")[0] is Verdict.proved
