"""Circuits to test with, and their values, computed in the plainest way."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.circuit.grid import OUTSIDE, Boundary, neighbors

USED_INPUTS = (0, 2, 3, 4, 7)
"""Few inputs, so that random circuits have many equal, constant or unneeded signals."""


class Builder:
    """Collects gates (op, a, b) of a circuit; a call adds one, and returns its row."""

    def __init__(self, channels=1):
        self.channels = channels
        self.gates = []

    def __call__(self, op, a, b):
        self.gates.append((op, a, b))
        return 9 * self.channels + len(self.gates) - 1


def circuit_of(
    gates: list[tuple[int, int, int]], outputs: list[int], labels: tuple[int, ...] | None = None
) -> Circuit:
    """Return the circuit of (op, a, b) and output rows, one channel per output."""
    ops, a, b = zip(*gates, strict=True) if gates else ((), (), ())
    return Circuit(ops, a, b, outputs, labels or tuple(range(len(outputs))))


@st.composite
def circuits(draw: st.DrawFn, channels: int = 2, fewest: int = 0, most: int = 25) -> Circuit:
    """A circuit of this many channels, with `fewest` to `most` gates."""
    any_row = st.integers(0, 2**16)
    drawn = draw(
        st.lists(st.tuples(st.integers(0, 15), any_row, any_row), min_size=fewest, max_size=most)
    )
    inputs = [9 * channels * used // 9 + used % channels for used in USED_INPUTS]
    inputs = sorted({min(row, 9 * channels - 1) for row in inputs})
    rows = list(inputs)
    gates = []
    for op, a, b in drawn:
        gates.append((op, rows[a % len(rows)], rows[b % len(rows)]))
        rows.append(9 * channels + len(gates) - 1)
    outputs = [
        # Mostly late gates, with deep cones.
        rows[-1 - draw(st.integers(0, len(rows) - 1)) // (2 if draw(st.booleans()) else 1)]
        for _ in range(channels)
    ]
    return circuit_of(gates, outputs)


def deep_circuit(gates: int, channels: int = 16) -> Circuit:
    """Return a deep circuit of random gates that read recent ones; always the same."""
    rng = np.random.default_rng(gates)
    inputs = 9 * channels
    own = np.arange(inputs, inputs + gates)
    a, b = (own - 1 - rng.integers(0, np.minimum(own, 500)) for _ in range(2))
    outputs = np.arange(inputs + gates - channels, inputs + gates)
    return Circuit(rng.integers(1, 15, gates), a, b, outputs, tuple(range(channels)))


def automaton(circuit: Circuit, **changes: object) -> Automaton:
    """Return an automaton on a small periodic grid, with all channels visible."""
    settings: dict = {
        "name": "example",
        "visible": circuit.labels,
        "boundary": "periodic",
        "height": 5,
        "width": 7,
        "steps": 4,
        "fire_rate": 1.0,
        "start": "random",
    }
    return Automaton(circuit=circuit, **{**settings, **changes})


def automaton_of(circuit: Circuit, visible: tuple[int, ...] = (0,)) -> Automaton:
    """Return an automaton of which only the circuit and the visible channels matter."""
    return automaton(circuit, visible=visible)


def all_cases(inputs: int) -> npt.NDArray[np.bool_]:
    """Return all cases of `inputs` inputs, (inputs, 2^inputs)."""
    return ((np.arange(2**inputs) >> np.arange(inputs)[:, None]) & 1).astype(np.bool_)


def naive(circuit: Circuit, cases: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the next states by looking every gate up in its op's truth table."""
    return looked_up(circuit, cases)[circuit.outputs]


def looked_up(circuit: Circuit, cases: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return the values of all rows, (rows, cases)."""
    rows = list(cases)
    for op, a, b in zip(circuit.op, circuit.a, circuit.b, strict=True):
        rows.append(TRUTH_TABLES[op][2 * rows[a].astype(int) + rows[b]].astype(np.bool_))
    return np.array(rows)


def read_by(circuit: Circuit, gate: int) -> list[int]:
    """Return the rows that a gate reads, by its truth table."""
    table = TRUTH_TABLES[circuit.op[gate]].reshape(2, 2)
    rows = [int(circuit.a[gate])] if (table[0] != table[1]).any() else []
    return rows + [int(circuit.b[gate])] * bool((table[:, 0] != table[:, 1]).any())


def reached(circuit: Circuit, rows: Iterable[int]) -> set[int]:
    """Return these rows, and all that their gates read."""
    found = set()
    waiting = [*rows]
    while waiting:
        row = waiting.pop()
        if row not in found:
            found.add(row)
            waiting += read_by(circuit, row - circuit.inputs) if row >= circuit.inputs else []
    return found


def reached_in_time(circuit: Circuit, channels: Iterable[int]) -> set[int]:
    """Return all rows that matter to channels, of the same step or of earlier ones."""
    live = {*channels}
    while True:
        rows = reached(circuit, (int(circuit.outputs[channel]) for channel in live))
        read = {row % circuit.channels for row in rows if row < circuit.inputs}
        if read <= live:
            return rows
        live |= read


def step(
    circuit: Circuit, state: npt.NDArray, boundary: Boundary, fire: npt.NDArray | None = None
) -> npt.NDArray[np.uint8]:
    """Return the state (C, H, W) after a step; cells fire where `fire` (H, W) is 1."""
    channels, height, width = state.shape
    table = neighbors(height, width, boundary)
    cells = state.reshape(channels, -1).astype(bool)
    seen = np.where(table[:, None] == OUTSIDE, False, cells[:, table].swapaxes(0, 1))
    after = circuit.next_state(seen.reshape(circuit.inputs, -1)).reshape(state.shape)
    return (after if fire is None else np.where(fire, after, state)).astype(np.uint8)


def same_next_states(before: Circuit, after: Circuit) -> bool:
    """Compare the channels of `after`, by label, in all cases of the inputs that are read."""
    kept = [before.labels.index(label) for label in after.labels]
    rows = [before.channels * neighbor + channel for neighbor in range(9) for channel in kept]
    read = {*before.read_inputs.tolist(), *(rows[row] for row in after.read_inputs)}
    cases = np.zeros((before.inputs, 2 ** len(read)), bool)
    cases[sorted(read)] = all_cases(len(read))
    return bool((naive(before, cases)[kept] == naive(after, cases[rows])).all())


LIFE_TABLE = sum(
    1 << case
    for case in range(512)
    if (ones := (case & 0b111101111).bit_count()) == 3 or (ones == 2 and case >> 4 & 1)
)
"""The Game of Life as a truth table of the nine cells: birth on 3, survival on 2 or 3."""
