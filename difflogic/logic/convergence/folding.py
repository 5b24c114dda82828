"""Circuits without what does not matter: quick, and no more than folding."""

from __future__ import annotations

import numpy as np

from difflogic.logic.automaton import Automaton, live_channels
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.xag import from_circuit, to_circuit


def live_part(automaton: Automaton) -> Automaton:
    """Return an automaton without what the future of its visible channels does not depend on."""
    live = np.flatnonzero(live_channels(automaton.circuit, automaton.visible)).tolist()
    return automaton.with_circuit(_rebuilt(automaton.circuit, live))


def fold(circuit: LogicCircuit) -> LogicCircuit:
    """Return a circuit with equal gates merged, and without constants and pass-throughs.

    Where there is nothing to fold, the circuit stays as it is, gate by gate.
    """
    folded = _rebuilt(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def _rebuilt(circuit: LogicCircuit, channels: list[int]) -> LogicCircuit:
    xag, outputs = from_circuit(circuit)
    labels = tuple(circuit.labels[channel] for channel in channels)
    return to_circuit(xag, [outputs[channel] for channel in channels], labels, channels)
