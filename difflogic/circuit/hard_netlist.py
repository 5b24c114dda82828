"""Netlists with an op for each gate, as hard circuits; and back."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.circuit.netlist import Netlist
from difflogic.system.array_types import Bits


def hard_circuit(netlist: Netlist, ops: Bits) -> Circuit:
    """Return a netlist's gates with `ops` (parameters,)."""
    labels = tuple(range(netlist.channels))
    return Circuit(ops[netlist.param], netlist.a, netlist.b, netlist.outputs, labels)


def unchanging() -> Circuit:
    """Return a circuit without gates: its only channel keeps its state."""
    none = np.zeros(0, np.int32)
    return Circuit(none.astype(np.uint8), none, none, np.array([CENTER], np.int32), (0,))


def netlist_of(circuit: Circuit, channels: int) -> tuple[Netlist, Bits]:
    """Return a circuit as a netlist of `channels` channels, with its ops; missing ones become 0."""
    labels = np.array(circuit.labels)
    gates = np.arange(circuit.gates + 1, dtype=np.int32)
    inputs = NEIGHBORHOOD * [*labels] + channels * np.repeat(range(NEIGHBORHOOD), len(labels))
    rows = np.append(inputs, NEIGHBORHOOD * channels + gates).astype(np.int32)
    outputs = np.full(channels, rows[-1])
    outputs[labels] = rows[circuit.outputs]
    a, b = (np.append(rows[wires], 0).astype(np.int32) for wires in (circuit.a, circuit.b))
    netlist = Netlist(channels, a, b, gates, outputs, len(gates))
    return netlist, np.append(circuit.op, np.uint8(Op.FALSE))
