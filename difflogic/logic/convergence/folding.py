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
    return folded_part(circuit, np.flatnonzero(live_channels(circuit, visible)).tolist())


def fold(circuit: LogicCircuit) -> LogicCircuit:
    """Return a circuit with equal gates merged, and without constants and pass-throughs.

    Where there is nothing to fold, the circuit stays as it is, gate by gate.
    """
    folded = folded_part(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def folded_part(circuit: LogicCircuit, channels: list[int]) -> LogicCircuit:
    """Return the part of a circuit that computes these channels, folded.

    Raises ValueError if they depend on others.
    """
    inputs = circuit.inputs
    xag = Xag(inputs)
    literals = [xag.input(row) for row in range(inputs)] + [FALSE] * circuit.gates
    # Of a circuit as trained, hardly a gate in a hundred is needed.
    needed = np.flatnonzero(circuit.needed(channels)[inputs:])
    gates = (each[needed].tolist() for each in (circuit.op, circuit.a, circuit.b))
    for gate, op, a, b in zip(needed.tolist(), *gates, strict=True):
        literals[inputs + gate] = xag.apply(op, literals[a], literals[b])
    labels = tuple(circuit.labels[channel] for channel in channels)
    outputs = [literals[circuit.outputs[channel]] for channel in channels]
    return to_circuit(xag, outputs, labels, channels)
