"""Circuits without what does not matter: quick, and no more than folding."""

from __future__ import annotations

import numpy as np

from difflogic.logic.automaton import Automaton, live_channels
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.xag import FALSE, Xag, to_circuit


def live_part(automaton: Automaton) -> Automaton:
    """Return an automaton without what the future of its visible channels does not depend on."""
    return automaton.with_circuit(live_circuit(automaton.circuit, automaton.visible))


def live_circuit(circuit: LogicCircuit, visible: tuple[int, ...]) -> LogicCircuit:
    """Return the part of a circuit that the future of `visible` (labels) depends on."""
    return _rebuilt(circuit, np.flatnonzero(live_channels(circuit, visible)).tolist())


def fold(circuit: LogicCircuit) -> LogicCircuit:
    """Return a circuit with equal gates merged, and without constants and pass-throughs.

    Where there is nothing to fold, the circuit stays as it is, gate by gate.
    """
    folded = _rebuilt(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def _rebuilt(circuit: LogicCircuit, channels: list[int]) -> LogicCircuit:
    """Return the part of a circuit that computes these channels, folded."""
    xag = Xag(circuit.inputs)
    literals = [xag.input(row) for row in range(circuit.inputs)] + [FALSE] * circuit.gates
    # Of a circuit as trained, hardly a gate in a hundred is needed.
    for gate in np.flatnonzero(circuit.needed(channels)[circuit.inputs :]).tolist():
        a, b = literals[circuit.a[gate]], literals[circuit.b[gate]]
        literals[circuit.inputs + gate] = xag.apply(int(circuit.op[gate]), a, b)
    labels = tuple(circuit.labels[channel] for channel in channels)
    outputs = [literals[circuit.outputs[channel]] for channel in channels]
    return to_circuit(xag, outputs, labels, channels)
