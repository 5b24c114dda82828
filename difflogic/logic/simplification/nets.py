"""Nets, the circuits that the kernels work on: made, read back, and given buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.gates import Op
from difflogic.logic.cases import words, words_of
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.simplification.kernels.nets import clean, invert_a, invert_b
from difflogic.logic.simplification.kernels.structures import VIRTUAL, Net, Work
from difflogic.logic.xag import FALSE, Kind, Xag, to_circuit


def new_net(inputs: int, outputs: int, gates: int) -> Net:
    """Return a net without gates, with room for so many."""
    nodes = 1 + inputs + gates
    return Net(
        np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32), np.zeros(nodes, np.int32),
        np.zeros(outputs, np.int32), np.array([1 + inputs]), inputs,
    )  # fmt: skip


def gates(net: Net) -> int:
    """Return how many gates a net has."""
    return int(net.size[0]) - 1 - net.inputs


def from_circuit(circuit: LogicCircuit, room: int = 0) -> Net:
    """Return a circuit as a net, folded and hashed, with room for some more gates."""
    net = new_net(circuit.inputs, circuit.channels, circuit.gates)
    size = 1 + circuit.rows
    net.op[1 + circuit.inputs :] = circuit.op
    net.a[1 + circuit.inputs :] = circuit.a + 1
    net.b[1 + circuit.inputs :] = circuit.b + 1
    net.outputs[:] = 2 * (circuit.outputs + 1)
    net.size[0] = size
    return cleaned(net, room)


def from_xag(xag: Xag, outputs: Sequence[int]) -> Net:
    """Return a Xag as a net."""
    net = new_net(xag.inputs, len(outputs), len(xag.kind))
    for node, (kind, x, y) in enumerate(
        zip(xag.kind, xag.x, xag.y, strict=True), start=xag.first_gate
    ):
        op = int(Op.AND if kind is Kind.AND else Op.XOR)
        op = invert_a(op) if x & 1 else op
        net.op[node] = invert_b(op) if y & 1 else op
        net.a[node], net.b[node] = x >> 1, y >> 1
    net.size[0] = xag.nodes
    net.outputs[:] = outputs
    return cleaned(net)


def cleaned(net: Net, room: int = 0) -> Net:
    """Return the gates that the outputs need, each once, folded, in topological order."""
    new = new_net(net.inputs, len(net.outputs), gates(net) + room)
    clean(net, new, new_work(len(net.op), 0))
    return new


def to_xag(net: Net) -> tuple[Xag, list[int]]:
    """Return a net as a Xag, and the literals of its outputs."""
    xag = Xag(net.inputs)
    literals = [FALSE, *(xag.input(row) for row in range(net.inputs))]
    for node in range(1 + net.inputs, net.size[0]):
        literals.append(xag.apply(net.op[node], literals[net.a[node]], literals[net.b[node]]))
    return xag, [literals[output >> 1] ^ (output & 1) for output in net.outputs.tolist()]


def back_to_circuit(net: Net, labels: Sequence[int]) -> LogicCircuit:
    """Return a net over all inputs of an automaton as its circuit."""
    xag, outputs = to_xag(net)
    return to_circuit(xag, outputs, tuple(labels), range(len(labels)))


def input_tables(inputs: int) -> npt.NDArray[np.uint64]:
    """Return the truth tables of the inputs, shape (inputs, words), case 0 in the lowest bit.

    Fewer than 64 cases are repeated to fill the word.
    """
    every = words_of(inputs)
    return np.array([words(number, 0, every) for number in range(inputs)], np.uint64)


def new_work(nodes: int, inputs: int, seed: int = 1) -> Work:
    """Return buffers for nets of at most so many nodes, with the tables of the inputs."""
    count = words_of(inputs)
    table = np.zeros((nodes + VIRTUAL, count), np.uint64)
    if inputs:
        table[1 : 1 + inputs] = input_tables(inputs)
    slots = 1 << int(4 * nodes).bit_length()
    return Work(
        table, np.zeros((nodes, count), np.uint64), np.zeros((3, count), np.uint64),
        np.zeros(nodes, np.bool_), np.zeros(nodes + VIRTUAL, np.int32),
        np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.zeros(nodes, np.int32),
        np.zeros(slots, np.int32), _random_state(seed),
    )  # fmt: skip


def _random_state(seed: int) -> npt.NDArray[np.uint64]:
    # xorshift needs a state that is not 0, and its first numbers show a poor one.
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
