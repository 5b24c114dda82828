from __future__ import annotations

from cli import proving
from difflogic.circuit.gates import Op
from difflogic.proof import Counterexample, prove
from tests.difflogic.circuit.circuits import circuit_of

NAMES = ("one", "the other")


class TestPicture:
    def test_nine_cells_of_each_channel_that_has_a_one(self) -> None:
        bits = {(0, 3): True, (4, 3): False, (8, 3): True, (5, 7): True, (1, 9): False}
        assert proving.picture(Counterexample(3, False, True, bits), NAMES, 80) == [
            "in this neighbourhood, where · is a bit that neither of them reads:",
            "",
            "channel 3  channel 7",
            "  1 · ·      · · ·",
            "  · 0 ·      · · 1",
            "  · · 1      · · ·",
            "",
            "In channel 9, all bits that are read are 0",
            "the next state of channel 3 is",
            "  0  in one",
            "  1  in the other",
        ]

    def test_boards_fold_where_the_terminal_is_narrow(self) -> None:
        bits = {(4, label): True for label in range(12)}
        for width in (10, 24, 80):
            text = proving.picture(Counterexample(0, False, True, bits), ("a", "b"), width)
            boards = [line for line in text if line.startswith("channel ")]
            assert sum(line.count("channel") for line in boards) == 12
            assert max(len(line) for line in boards) <= width

    def test_nothing_but_zeros(self) -> None:
        found = Counterexample(0, True, False, {(4, 1): False, (4, 2): False})
        assert proving.picture(found, NAMES, 80)[:2] == [
            "In channels 1, 2, if all bits that are read are 0,",
            "the next state of channel 0 is",
        ]

    def test_constants(self) -> None:
        text = proving.picture(Counterexample(0, True, False, {}), NAMES, 80)
        assert text[0] == "Always, for no bit is read,"


class TestLines:
    def test_equal(self) -> None:
        circuit = circuit_of([(Op.AND, 0, 3)], [18, 1])
        first, *others = proving.lines(prove(circuit, circuit, (0,)))
        assert first.startswith("proved equal: 2 next states of up to 2 inputs, ")
        assert others == ["  2 outputs in all 6 cases"]
        first, *others = proving.lines(prove(circuit, circuit, (0,), exhaustive=1))
        assert others[0] == "  1 output in all 2 cases"
        assert others[1].startswith("  1 output by SAT, ")

    def test_different(self) -> None:
        proof = prove(circuit_of([], [0]), circuit_of([], [1]), (0,))
        assert proving.lines(proof)[0].startswith("NOT EQUAL, found after 1 next state ")

    def test_unknown(self) -> None:
        circuit = circuit_of([(Op.AND, 0, 3)], [18, 1])
        proof = prove(circuit, circuit, (0,), -1)
        assert proving.lines(proof)[0].startswith("UNKNOWN: 2 of 2 next states undecided after ")
