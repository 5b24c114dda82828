"""Nets, the circuits that the kernels work on: conversion, cleaning and buffers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difflogic.circuit.case_words import words, words_of
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.xag import Xag, absorb_inverters
from difflogic.simplification.kernels.nets import VIRTUAL, Net, NetMemory, clean
from difflogic.simplification.kernels.windows import extract
from difflogic.system.array_types import Flags, Int32s


def new_net(inputs: int, outputs: int, gates: int) -> Net:
    """Return a net without gates, with room for `gates`."""
    nodes = 1 + inputs + gates
    return Net(
        np.zeros(nodes, np.uint8),
        np.zeros(nodes, np.int32),
        np.zeros(nodes, np.int32),
        np.zeros(outputs, np.int32),
        np.array([1 + inputs]),
        inputs,
    )


def gates(net: Net) -> int:
    return int(net.size[0]) - 1 - net.inputs


def from_circuit(circuit: Circuit, hashing: bool = True) -> Net:
    """Return a circuit as a folded net; without `hashing`, equal gates are not merged."""
    net = new_net(circuit.inputs, circuit.channels, circuit.gates)
    size = 1 + circuit.rows
    net.op[1 + circuit.inputs :] = circuit.op
    net.a[1 + circuit.inputs :] = circuit.a + 1
    net.b[1 + circuit.inputs :] = circuit.b + 1
    net.outputs[:] = 2 * (circuit.outputs + 1)
    net.size[0] = size
    return cleaned(net, hashing=hashing)


def from_xag(xag: Xag, outputs: Sequence[int]) -> Net:
    """Return a Xag as a net."""
    net = new_net(xag.inputs, len(outputs), len(xag.kind))
    for array, gates_of in zip((net.op, net.a, net.b), xag.lists, strict=True):
        array[xag.first_gate :] = gates_of
    net.size[0] = xag.nodes
    net.outputs[:] = outputs
    return cleaned(net)


def cleaned(net: Net, room: int = 0, hashing: bool = True) -> Net:
    """Return the net of the gates that the outputs need, folded, in topological order.

    The net has room for `room` more gates. Without `hashing`, equal gates are not merged.
    """
    new = new_net(net.inputs, len(net.outputs), gates(net) + room)
    work = new_work(len(net.op), 0)
    clean(net, new, work if hashing else work._replace(slots=work.slots[:0]))
    return new


def window(net: Net, leaves: Int32s, count: int, member: Flags) -> Net:
    """Return the members of a window as a net whose inputs are the `count` leaves.

    Appends its outputs to `leaves`: the members that others read.
    """
    members = int(member.sum())
    part = new_net(count, members, members)
    outputs = extract(net, leaves, count, member, np.zeros(len(member), np.int32), part)
    return part._replace(outputs=part.outputs[:outputs])


def to_circuit(net: Net, labels: Sequence[int]) -> Circuit:
    """Return a cleaned net over all inputs of an automaton as its circuit.

    An inverter before an output melts into the gate that it reads. It stays if that is an input,
    or a gate whose plain value is also used. A constant output keeps a gate.
    """
    op, a, b = (array[: net.size[0]] for array in (net.op, net.a, net.b))
    return absorb_inverters(op, a, b, 1 + net.inputs, net.outputs, labels)


def new_work(nodes: int, inputs: int, seed: int = 1) -> NetMemory:
    """Return buffers for nets of at most `nodes` nodes, with the tables of the inputs."""
    count = words_of(inputs)
    table = np.zeros((nodes + VIRTUAL, count), np.uint64)
    if inputs:
        # Fewer than 64 cases are repeated to fill the word.
        table[1 : 1 + inputs] = [words(number, 0, count) for number in range(inputs)]
    slots = 1 << int(4 * nodes).bit_length()
    return NetMemory(
        table=table,
        flipped=np.zeros((nodes, count), np.uint64),
        care=np.zeros((3, count), np.uint64),
        after=np.zeros(nodes, np.bool_),
        divisors=np.zeros(nodes + VIRTUAL, np.int32),
        literal=np.zeros(nodes, np.int32),
        stack=np.zeros(nodes, np.int32),
        level=np.zeros(nodes, np.int32),
        slots=np.zeros(slots, np.int32),
        # xorshift needs a state other than 0; after a poor one its first numbers are poor.
        random=np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1),
    )
