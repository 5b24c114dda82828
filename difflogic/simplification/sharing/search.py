"""The search for a circuit whose cells share most, from several starts, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import LogicCircuit
from difflogic.proof import Limits, Proof, prove
from difflogic.proof.findings import Counterexample
from difflogic.simplification.sharing import graphs
from difflogic.simplification.sharing.circuit import SharedCircuit
from difflogic.simplification.sharing.kernels.annealing import anneal
from difflogic.simplification.sharing.kernels.planes import copy
from difflogic.simplification.sharing.kernels.structures import VIRTUAL, Graph
from difflogic.simplification.sharing.starts import built_anew
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import CircuitError

ROWS = 64
"""Of the torus of samples, of 64 cells each."""
DENSITIES = (0.5, 0.25, 0.75, 0.5)
"""Of ones among the states, a quarter of the torus each."""
MOST_GATES = 160
"""Of a graph that is searched: the time of a move grows with the square of its gates."""
MOST_UNFOLDED = 2**16
"""Of any graph: it is unfolded to be proved."""
CHUNK = 500
"""Moves per call of the kernel, which Ctrl-C cannot stop: some tenths of a second."""
HOT, COLD = 2.0, 0.3
"""Temperatures in gates, as of the search for unshared circuits."""
ROUNDS = 8
"""Searches after as many counterexamples, before the graph of before is kept."""


@dataclass(frozen=True)
class Effort:
    """How long the search goes on, in moves; the result is the same every time."""

    moves: int
    """From each start; then twice as many from the better half of what was found, and so on."""
    last_runs: int
    """Times that the best is annealed in the end, as long as the longest before."""


EFFORTS = {"low": Effort(0, 0), "normal": Effort(3000, 2), "high": Effort(30_000, 8)}


@dataclass(frozen=True)
class Shared:
    """A circuit whose cells share what they compute, and the proof that it does the same."""

    original: LogicCircuit
    circuit: SharedCircuit
    proof: Proof

    @property
    def proved(self) -> bool:
        return self.proof.equal


def share(
    circuit: LogicCircuit,
    effort: Effort = EFFORTS["normal"],
    progress: Callable[[], object] = lambda: None,
    deadline: Deadline = NEVER,
    limits: Limits | None = None,
    by_rows: bool = False,
) -> Shared:
    """Find planes with few operations per cell that make the same next states, and prove it.

    Equal gates at neighbouring cells are one plane, `by_rows` only at those above and below each
    other, which costs a simulator that goes from row to row nothing. Small circuits are then
    searched, from the circuit as it is and from others that are built anew out of rows, columns and
    counts. A result that differs, by the proof's counterexample, is not returned: the search begins
    again with that case among its samples, and in the end the circuit stays as it was hashed.
    Raises CircuitError for a circuit of more than MOST_UNFOLDED gates.
    """
    start = graphs.from_circuit(circuit, by_rows)
    if graphs.gates(start) > MOST_UNFOLDED:
        raise CircuitError(
            f"the circuit has {graphs.gates(start)} gates that do something, and up to "
            f"{MOST_UNFOLDED} are looked at for what cells share: simplify it first"
        )
    hashed = graphs.to_shared(start, circuit.labels)

    def proof(found: SharedCircuit) -> Proof:
        return prove(circuit, found.unfold(), circuit.labels, limits)

    best = Shared(circuit, hashed, proof(hashed))
    if not effort.moves or not 0 < graphs.gates(start) <= MOST_GATES:
        return best
    cases: list[Counterexample] = []
    for _ in range(ROUNDS):
        if deadline.passed:
            break
        samples = _samples(circuit, cases)
        samples = graphs.as_seen(samples, by_rows)
        starts = [start, *(graphs.from_circuit(each, by_rows) for each in built_anew(circuit))]
        annealing = _Annealing(graphs.next_states(start, samples), samples, progress, deadline)
        found = graphs.to_shared(_search(starts, annealing, effort), circuit.labels)
        if found.operations >= best.circuit.operations:
            break
        candidate = Shared(circuit, found, proof(found))
        if candidate.proved:
            return candidate
        if candidate.proof.counterexample is None:
            break
        cases.append(candidate.proof.counterexample)
    return best


def _samples(circuit: LogicCircuit, cases: list[Counterexample]) -> npt.NDArray[np.uint64]:
    """Return random states (C, ROWS) of a torus, with the neighbourhoods `cases` among them."""
    rng = np.random.default_rng(len(cases))
    share_of_rows = ROWS // len(DENSITIES)
    density = np.repeat(DENSITIES, share_of_rows)[:, None]
    bits = rng.random((circuit.channels, ROWS, 64)) < density
    place_of = {label: place for place, label in enumerate(circuit.labels)}
    for number, case in enumerate(cases):
        # Often, in rows of its own: what differs there must not be lost among other samples.
        top = 3 * number
        for (neighbor, label), bit in case.bits.items():
            row, column = divmod(neighbor, 3)
            bits[place_of[label], top + row, column:63:3] = bit
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)[..., 0]


def _search(starts: Sequence[Graph], annealing: _Annealing, effort: Effort) -> Graph:
    found = [graph for graph in starts if graphs.gates(graph) <= MOST_GATES]
    moves = effort.moves
    while True:
        found = [annealing(graph, moves, place) for place, graph in enumerate(found)]
        found.sort(key=graphs.gates)
        if len(found) == 1:
            break
        found, moves = found[: len(found) // 2], 2 * moves
    best = found[0]
    for seed in range(effort.last_runs):
        best = min(best, annealing(found[0], moves, 1 + seed), key=graphs.gates)
    return best


@dataclass(frozen=True)
class _Annealing:
    """Makes graphs smaller that have the outputs `wanted` on the samples."""

    wanted: npt.NDArray[np.uint64]
    samples: npt.NDArray[np.uint64]
    progress: Callable[[], object]
    deadline: Deadline

    def __call__(self, graph: Graph, moves: int, seed: int) -> Graph:
        graph = graphs.cleaned(graph, room=2 * VIRTUAL)
        room = len(graph.op)
        work = graphs.new_work(room, self.samples, self.wanted, seed)
        best, spare, tried = (
            graphs.new_graph(graph.inputs, len(graph.outputs), room) for _ in range(3)
        )
        copy(graph, best)
        temperature, cooling = HOT, (COLD / HOT) ** (1 / moves)
        for first in range(0, moves, CHUNK):
            if self.deadline.passed:
                break
            count = min(CHUNK, moves - first)
            anneal(graph, best, spare, tried, work, count, temperature, cooling)
            temperature *= cooling**count
            self.progress()
        return best
