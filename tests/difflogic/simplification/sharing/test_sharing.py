"""Planes do what the circuit does, at every cell of a grid, and take fewer operations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import Op
from difflogic.proof import prove
from difflogic.simplification.sharing import EFFORTS, Effort, SharedCircuit, graphs, search, share
from difflogic.simplification.sharing.starts import built_anew
from difflogic.simplification.sharing.text import lines, place
from difflogic.system.errors import CircuitError
from difflogic.system.jit import JIT
from tests.difflogic.logic.circuits import circuit_of, circuits, same_next_states, step
from tests.difflogic.logic.clocks import Clock
from tests.difflogic.logic.rules import life_like

BRIEF = Effort(30, 1) if JIT else Effort(1, 1)
compiled = pytest.mark.skipif(not JIT, reason="takes minutes")

NW, N, NE, W, C, E, SW, S, SE = range(9)


def same_steps(circuit: LogicCircuit, shared: SharedCircuit) -> bool:
    """Compare a step of both on grids of random states, under both boundaries."""
    rng = np.random.default_rng(1)
    for height, width in ((1, 1), (2, 5), (9, 8)):
        state = rng.integers(0, 2, (circuit.channels, height, width)).astype(bool)
        for boundary in ("zero", "periodic"):
            expected = step(circuit, state, boundary)  # type: ignore[arg-type]
            if not (shared.step(state, boundary) == expected).all():  # type: ignore[arg-type]
                return False
    return True


class TestHashing:
    @settings(max_examples=40)
    @given(circuits(), st.booleans())
    def test_keeps_every_next_state(self, circuit: LogicCircuit, by_rows: bool) -> None:
        found = graphs.to_shared(graphs.from_circuit(circuit, by_rows), circuit.labels)
        assert same_next_states(circuit, found.unfold())
        assert same_steps(circuit, found)
        assert found.operations <= circuit.gates + circuit.channels

    def test_gates_that_are_equal_at_another_cell_are_one(self) -> None:
        gates = [
            (Op.XOR, NW, N),
            (Op.XOR, C, E),
            (Op.XNOR, S, SE),
            (Op.AND, 9, 10),
            (Op.OR, 11, 12),
        ]
        circuit = circuit_of(gates, [13])
        found = graphs.to_shared(graphs.from_circuit(circuit), (0,))
        assert found.operations == 3
        assert same_steps(circuit, found)

    def test_mirrored_gates_are_not(self) -> None:
        circuit = circuit_of(
            [(Op.A_AND_NOT_B, C, E), (Op.A_AND_NOT_B, C, W), (Op.XOR, 9, 10)], [11]
        )
        assert graphs.to_shared(graphs.from_circuit(circuit), (0,)).operations == 3

    def test_outputs_that_are_no_gates(self) -> None:
        gates = [
            (Op.TRUE, 0, 0),
            (Op.NOT_A, 4 * NE, 0),
            (Op.AND, 4 * C, 4 * E),
            (Op.NAND, 4 * W, 4 * C),
        ]
        circuit = circuit_of(gates, [36, 37, 38, 39])
        found = graphs.to_shared(graphs.from_circuit(circuit), circuit.labels)
        # The NAND is the AND of the cell to the west, inverted.
        assert sorted(found.op.tolist()) == sorted([Op.TRUE, Op.NOT_A, Op.AND, Op.NOT_A])
        assert same_steps(circuit, found)


class TestSearch:
    @settings(max_examples=15, deadline=None)
    @given(circuits(channels=2, fewest=3, most=14), st.booleans())
    def test_any_circuit(self, circuit: LogicCircuit, by_rows: bool) -> None:
        found = share(circuit, BRIEF, by_rows=by_rows)
        assert found.proved
        assert same_next_states(circuit, found.circuit.unfold())
        assert same_steps(circuit, found.circuit)
        hashed = graphs.to_shared(graphs.from_circuit(circuit, by_rows), circuit.labels)
        assert found.circuit.operations <= hashed.operations
        if by_rows:
            offsets = np.concatenate([found.circuit.a_offset, found.circuit.b_offset])
            planes = np.concatenate([found.circuit.a, found.circuit.b])
            assert not offsets[planes >= circuit.channels, 1].any()

    @compiled
    def test_life_takes_fewer_operations_than_any_cell_alone(self) -> None:
        """No published count is claimed; 16 is what a longer search finds, here with some room."""
        circuit = life_like("3", "23")
        found = share(circuit, Effort(1000, 1))
        assert found.proved
        assert found.circuit.operations <= 20
        assert same_steps(circuit, found.circuit)
        again = share(circuit, Effort(1000, 1)).circuit
        assert (again.op == found.circuit.op).all()
        assert (again.a_offset == found.circuit.a_offset).all()

    @compiled
    def test_samples_that_hide_a_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What the proof finds becomes a sample, until the search no longer falls for it."""
        right, asked = search._samples, []

        def poor(circuit: LogicCircuit, cases: list) -> np.ndarray:
            asked.append(len(cases))
            return right(circuit, cases) if len(cases) > 1 else np.zeros((1, 64), np.uint64)

        monkeypatch.setattr(search, "_samples", poor)
        circuit = life_like("3", "23")
        found = share(circuit, Effort(300, 1))
        assert found.proved
        assert asked[:3] == [0, 1, 2]

    def test_a_planted_case_is_among_the_samples(self) -> None:
        circuit = circuit_of([(Op.AND, 2 * NW, 2 * SE + 1)], [18, 0])
        case = prove(circuit, circuit_of([(Op.FALSE, 0, 0)], [18, 0]), (0, 1)).counterexample
        assert case is not None
        samples = search._samples(circuit, [case])
        bits = np.unpackbits(samples.view(np.uint8), bitorder="little").reshape(2, 64, 64)
        assert bits[0, 0, 0:63:3].all()
        assert bits[1, 2, 2:63:3].all()

    def test_time_that_is_up(self) -> None:
        circuit = life_like("3", "23")
        found = share(circuit, EFFORTS["normal"], deadline=Clock(most=0))
        assert found.proved
        hashed = graphs.to_shared(graphs.from_circuit(circuit), circuit.labels)
        assert found.circuit.operations == hashed.operations

    def test_a_large_circuit_is_only_hashed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search, "MOST_GATES", 10)
        circuit = life_like("3", "23")
        found = share(circuit)
        assert found.proved
        hashed = graphs.to_shared(graphs.from_circuit(circuit), circuit.labels)
        assert found.circuit.operations == hashed.operations > 10

    def test_what_is_too_large_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search, "MOST_UNFOLDED", 2)
        assert share(circuit_of([(Op.XOR, 0, 1), (Op.AND, 9, 4)], [10]), BRIEF).proved
        with pytest.raises(CircuitError, match="has 3 gates that do something, and up to 2"):
            share(circuit_of([(Op.XOR, 0, 1), (Op.AND, 9, 4), (Op.OR, 10, 5)], [11]))


class TestStarts:
    @settings(max_examples=20, deadline=None)
    @given(circuits(channels=1, fewest=2, most=12))
    def test_do_the_same(self, circuit: LogicCircuit) -> None:
        for built in built_anew(circuit):
            assert same_next_states(circuit, built)

    def test_sums_of_rows_and_of_columns(self) -> None:
        circuit = life_like("36", "125")
        built = list(built_anew(circuit))
        assert len(built) >= 7
        assert all(same_next_states(circuit, each) for each in built)
        assert min(graphs.gates(graphs.from_circuit(each)) for each in built) < 40


class TestText:
    def test_lines(self) -> None:
        circuit = circuit_of([(Op.NOT_A_AND_B, W, C), (Op.NAND, 9, NE), (Op.TRUE, 0, 0)], [10])
        found = graphs.to_shared(graphs.from_circuit(circuit), (5,))
        assert list(lines(found)) == ["p1 = ¬c5 ∧ c5[E]", "p2 = ¬(c5[EE] ∧ p1[S])", "n5' = p2[NW]"]

    @pytest.mark.parametrize(
        ("offset", "name"), [((0, 0), "C"), ((-1, 1), "NE"), ((2, -1), "SSW"), ((0, 2), "EE")]
    )
    def test_places(self, offset: tuple[int, int], name: str) -> None:
        assert place(*offset) == name


def test_reading_too_far_is_refused() -> None:
    offset = np.array([[0, 2]], np.int32)
    none = np.zeros((1, 2), np.int32)
    op, zero = np.array([Op.AND], np.uint8), np.zeros(1, np.int32)
    far = SharedCircuit(op, zero, zero, none, offset, np.array([1], np.int32), none, (0,))
    with pytest.raises(ValueError, match="reads beyond the neighbourhood"):
        far.unfold()


@given(st.integers(-200, 200), st.integers(-2, 2))
@settings(max_examples=30)
def test_a_plane_seen_from_elsewhere(row: int, x: int) -> None:
    from difflogic.simplification.sharing.kernels.planes import at

    rows = np.random.default_rng(0).integers(0, 2**64, 16, np.uint64)
    bits = np.unpackbits(rows.view(np.uint8), bitorder="little").reshape(16, 64)
    seen = np.array([at(rows, row % 16, 1, x)], np.uint64).view(np.uint8)
    expected = np.roll(bits[(row + 1) % 16], -x)
    assert (np.unpackbits(seen, bitorder="little") == expected).all()
