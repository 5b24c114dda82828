"""Graphs of planes, which the kernels work on: made of circuits, cleaned, and read back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.grid import CENTER, OFFSETS
from difflogic.circuit.inverters import melt
from difflogic.simplification.sharing.circuit import SharedCircuit
from difflogic.simplification.sharing.kernels.planes import at, clean, simulate
from difflogic.simplification.sharing.kernels.structures import SIDE, VIRTUAL, Graph, Work

Samples = npt.NDArray[np.uint64]

DIVISORS_PER_NODE = 9
"""Places at which a target may read a node, at most."""


def new_graph(inputs: int, outputs: int, gates: int) -> Graph:
    """Return a graph without gates, with room for so many."""
    nodes = 1 + inputs + gates
    return Graph(
        np.zeros(nodes, np.uint8),
        np.zeros((nodes, 6), np.int32),
        np.zeros((nodes, 2), np.int32),
        np.zeros((outputs, 3), np.int32),
        np.array([1 + inputs]),
        inputs,
    )


def gates(graph: Graph) -> int:
    """Return how many gates a graph has: operations per cell."""
    return int(graph.size[0]) - 1 - graph.inputs


def from_circuit(circuit: LogicCircuit, by_rows: bool = False) -> Graph:
    """Return a circuit as a graph, in which gates that are equal up to a translation are one.

    With `by_rows` only those are one that are equal above or below each other: input c + C·n then
    is channel c as seen from the west, straight, or from the east, for n = 0, 1, 2.
    """
    channels = circuit.channels
    inputs = channels * (SIDE if by_rows else 1)
    first = 1 + inputs
    graph = new_graph(inputs, channels, circuit.gates)
    rows = np.arange(circuit.rows)
    neighbor, channel = np.divmod(rows, channels)
    is_input = rows < circuit.inputs
    offset = np.array(OFFSETS)[np.where(is_input, neighbor, CENTER)]
    if by_rows:
        channel = channel + channels * (offset[:, 1] + 1)
        offset = offset * (1, 0)
    node = np.where(is_input, 1 + channel, first + rows - circuit.inputs)
    graph.box[1:first] = (1, SIDE if by_rows else 1)  # so that nothing is read to the side
    graph.op[first:] = circuit.op
    for place, wires in ((0, circuit.a), (3, circuit.b)):
        graph.reads[first:, place] = node[wires]
        graph.reads[first:, place + 1 : place + 3] = offset[wires]
    graph.outputs[:, 0] = 2 * node[circuit.outputs]
    graph.outputs[:, 1:] = offset[circuit.outputs] - (0, 1 if by_rows else 0)
    graph.size[0] = first + circuit.gates
    return cleaned(graph)


def cleaned(graph: Graph, room: int = 0) -> Graph:
    """Return the planes that the outputs need, folded, each once, with room for some more."""
    new = new_graph(graph.inputs, len(graph.outputs), gates(graph) + room)
    clean(graph, new, _work_of_cleaning(len(graph.op)))
    return new


def as_seen(channels: Samples, by_rows: bool) -> Samples:
    """Return the values of a graph's inputs, given those of the channels, shape (C, rows)."""
    if not by_rows:
        return channels
    one, most = np.uint64(1), np.uint64(63)
    west, east = channels << one | channels >> most, channels >> one | channels << most
    return np.concatenate([west, channels, east])


def next_states(graph: Graph, channels: Samples) -> Samples:
    """Return the outputs' values (outputs, rows) for the channels' (C, rows) on a torus."""
    values = np.zeros((int(graph.size[0]), channels.shape[1]), np.uint64)
    values[1 : 1 + len(channels)] = channels
    simulate(graph, values)
    found = np.empty((len(graph.outputs), channels.shape[1]), np.uint64)
    for output, (literal, y, x) in enumerate(graph.outputs.tolist()):
        inverse = ~np.uint64(0) if literal & 1 else np.uint64(0)
        for row in range(channels.shape[1]):
            found[output, row] = at(values[literal >> 1], row, y, x) ^ inverse
    return found


def _work_of_cleaning(nodes: int) -> Work:
    """Return the buffers that cleaning needs, and nothing for the others."""
    none = np.zeros((1, 1), np.uint64)
    return new_work(1, none, none, seed=1)._replace(
        literal=np.zeros((nodes, 3), np.int32), stack=np.zeros(nodes, np.int32), slots=_slots(nodes)
    )


def _slots(nodes: int) -> npt.NDArray[np.int32]:
    return np.zeros(1 << int(4 * nodes).bit_length(), np.int32)


def new_work(nodes: int, channels: Samples, wanted: Samples, seed: int) -> Work:
    """Return buffers for graphs of at most so many nodes, on samples of the channels' states.

    `channels` has shape (C, rows), and `wanted` (outputs, rows) is what the outputs are to be.
    """
    rows = channels.shape[1]
    most = DIVISORS_PER_NODE * nodes + VIRTUAL
    values = np.zeros((nodes + VIRTUAL, rows), np.uint64)
    values[1 : 1 + len(channels)] = channels
    return Work(
        values,
        wanted,
        np.zeros((nodes, 3), np.int32),
        np.zeros(nodes, np.int32),
        _slots(nodes),
        np.zeros(nodes, np.bool_),
        np.zeros((nodes, 9), np.bool_),
        np.zeros((nodes, 9), np.bool_),
        np.zeros((nodes, 9, rows), np.uint64),
        np.zeros((most, 3), np.int32),
        np.zeros((most, rows), np.uint64),
        np.zeros((3, rows), np.uint64),
        np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1),
    )


def to_shared(graph: Graph, labels: tuple[int, ...]) -> SharedCircuit:
    """Return a cleaned graph as a shared circuit, made by rows or not, of channels with `labels`.

    An inverter that an output needs melts into the gate before it if nothing else wants that
    upright; else it is a gate of its own, as a constant is.
    """
    channels, first, size = len(labels), 1 + graph.inputs, int(graph.size[0])
    a, b = graph.reads[:size, 0], graph.reads[:size, 3]
    op, besides, outputs = melt(graph.op[:size], a, b, first, graph.outputs[:, 0])
    none = np.zeros((len(besides), 2), np.int32)
    wires = []
    for node, place in ((a, 1), (b, 4)):
        node = np.concatenate([node[first:], besides[:, 1]]) - 1
        wires.append((node, np.concatenate([graph.reads[first:size, place : place + 2], none])))
    wires.append((outputs - 1, graph.outputs[:, 1:].copy()))
    if graph.inputs > channels:
        wires[-1][1][:, 1] += 1
        wires = [_by_channels(node, offset, channels) for node, offset in wires]
    (a, a_offset), (b, b_offset), (outputs, output_offset) = wires
    op = np.concatenate([op, besides[:, 0].astype(np.uint8)])
    return SharedCircuit(op, a, b, a_offset, b_offset, outputs, output_offset, labels)


def _by_channels(
    node: npt.NDArray[np.int32], offset: npt.NDArray[np.int32], channels: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return planes and offsets, given those of a graph that was made by rows."""
    is_input = node < SIDE * channels
    aside = np.where(is_input, node // channels - 1, 0)
    plane = np.where(is_input, node % channels, node - (SIDE - 1) * channels)
    moved = offset + np.stack([np.zeros_like(aside), aside], axis=1)
    return plane.astype(np.int32), moved.astype(np.int32)
