"""Graphs of planes, which the kernels work on: made of circuits, cleaned, and read back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.grid import CENTER, OFFSETS
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.inverters import melt
from difflogic.logic.sharing import kernels as k
from difflogic.logic.sharing.circuit import SharedCircuit
from difflogic.logic.sharing.kernels import Graph, Work

Samples = npt.NDArray[np.uint64]

DIVISORS_PER_NODE = 9
"""Places at which a target may read a node, at most."""


def new_graph(inputs: int, outputs: int, gates: int) -> Graph:
    """Return a graph without gates, with room for so many."""
    nodes = 1 + inputs + gates
    return Graph(
        np.zeros(nodes, np.uint8), np.zeros((nodes, 6), np.int32), np.zeros((nodes, 2), np.int32),
        np.zeros((outputs, 3), np.int32), np.array([1 + inputs]), inputs,
    )  # fmt: skip


def gates(graph: Graph) -> int:
    """Return how many gates a graph has: operations per cell."""
    return int(graph.size[0]) - 1 - graph.inputs


def from_circuit(circuit: LogicCircuit) -> Graph:
    """Return a circuit as a graph, in which gates that are equal up to a translation are one."""
    channels = circuit.channels
    first = 1 + channels
    graph = new_graph(channels, channels, circuit.gates)
    rows = np.arange(circuit.rows)
    neighbor, channel = np.divmod(rows, channels)
    is_input = rows < circuit.inputs
    node = np.where(is_input, 1 + channel, first + rows - circuit.inputs)
    offset = np.array(OFFSETS)[np.where(is_input, neighbor, CENTER)]
    graph.op[first:] = circuit.op
    for place, wires in ((0, circuit.a), (3, circuit.b)):
        graph.reads[first:, place] = node[wires]
        graph.reads[first:, place + 1 : place + 3] = offset[wires]
    graph.outputs[:, 0] = 2 * node[circuit.outputs]
    graph.outputs[:, 1:] = offset[circuit.outputs]
    graph.size[0] = first + circuit.gates
    return cleaned(graph)


def cleaned(graph: Graph, room: int = 0) -> Graph:
    """Return the planes that the outputs need, folded, each once, with room for some more."""
    new = new_graph(graph.inputs, len(graph.outputs), gates(graph) + room)
    k.clean(graph, new, _work_of_cleaning(len(graph.op)))
    return new


def next_states(graph: Graph, channels: Samples) -> Samples:
    """Return the outputs' values (outputs, rows) for the channels' (C, rows) on a torus."""
    values = np.zeros((int(graph.size[0]), channels.shape[1]), np.uint64)
    values[1 : 1 + len(channels)] = channels
    k.simulate(graph, values)
    found = np.empty((len(graph.outputs), channels.shape[1]), np.uint64)
    for output, (literal, y, x) in enumerate(graph.outputs.tolist()):
        inverse = ~np.uint64(0) if literal & 1 else np.uint64(0)
        for row in range(channels.shape[1]):
            found[output, row] = k.at(values[literal >> 1], row, y, x) ^ inverse
    return found


def _work_of_cleaning(nodes: int) -> Work:
    """Return the buffers that cleaning needs, and nothing for the others."""
    none = np.zeros((1, 1), np.uint64)
    return new_work(1, none, none, seed=1)._replace(
        literal=np.zeros((nodes, 3), np.int32), stack=np.zeros(nodes, np.int32),
        slots=_slots(nodes),
    )  # fmt: skip


def _slots(nodes: int) -> npt.NDArray[np.int32]:
    return np.zeros(1 << int(4 * nodes).bit_length(), np.int32)


def new_work(nodes: int, channels: Samples, wanted: Samples, seed: int) -> Work:
    """Return buffers for graphs of at most so many nodes, on samples of the channels' states.

    `channels` has shape (C, rows), and `wanted` (outputs, rows) is what the outputs are to be.
    """
    rows = channels.shape[1]
    most = DIVISORS_PER_NODE * nodes + k.VIRTUAL
    values = np.zeros((nodes + k.VIRTUAL, rows), np.uint64)
    values[1 : 1 + len(channels)] = channels
    return Work(
        values, wanted, np.zeros((nodes, 3), np.int32), np.zeros(nodes, np.int32),
        _slots(nodes), np.zeros(nodes, np.bool_),
        np.zeros((nodes, 9), np.bool_), np.zeros((nodes, 9), np.bool_),
        np.zeros((nodes, 9, rows), np.uint64), np.zeros((most, 3), np.int32),
        np.zeros((most, rows), np.uint64), np.zeros((3, rows), np.uint64),
        np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1),
    )  # fmt: skip


def to_shared(graph: Graph, labels: tuple[int, ...]) -> SharedCircuit:
    """Return a cleaned graph as a shared circuit.

    An inverter that an output needs melts into the gate before it if nothing else wants that
    upright; else it is a gate of its own, as a constant is.
    """
    first, size = 1 + graph.inputs, int(graph.size[0])
    a, b = graph.reads[:size, 0], graph.reads[:size, 3]
    op, besides, outputs = melt(graph.op[:size], a, b, first, graph.outputs[:, 0])
    a, b = (np.concatenate([wires[first:], besides[:, 1]]) - 1 for wires in (a, b))
    none = np.zeros((len(besides), 2), np.int32)
    a_offset, b_offset = (
        np.concatenate([graph.reads[first:size, at : at + 2], none]) for at in (1, 4)
    )
    return SharedCircuit(
        np.concatenate([op, besides[:, 0].astype(np.uint8)]), a, b, a_offset, b_offset,
        outputs - 1, graph.outputs[:, 1:].copy(), labels,
    )  # fmt: skip
