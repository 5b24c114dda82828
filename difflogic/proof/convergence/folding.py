"""Circuits without what does not matter: quick, and no more than folding."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.model.automaton import Automaton, live_channels


def live_part(automaton: Automaton) -> Automaton:
    """Return an automaton without what the future of its visible channels does not depend on."""
    return automaton.with_circuit(live_circuit(automaton.circuit, automaton.visible))


def live_circuit(circuit: Circuit, visible: tuple[int, ...]) -> Circuit:
    """Return the part of a circuit that the future of `visible` (labels) depends on, folded."""
    channels = np.flatnonzero(live_channels(circuit, visible)).tolist()
    # What is all needed already stays as it is: a certificate is to be of the file that was given.
    return fold(circuit) if len(channels) == circuit.channels else folded_part(circuit, channels)


def fold(circuit: Circuit) -> Circuit:
    """Return a circuit with equal gates merged, and without constants and pass-throughs.

    Where there is nothing to fold, the circuit stays as it is, gate by gate.
    """
    folded = folded_part(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def folded_part(circuit: Circuit, channels: list[int]) -> Circuit:
    """Return the part of a circuit that computes these channels, folded.

    Raises ValueError if they depend on others.
    """
    # Of a circuit as trained, hardly a gate in a hundred is needed.
    rows = np.flatnonzero(circuit.needed(channels)).tolist()
    xag = Xag(circuit.inputs)
    literals = evaluate(circuit, map(xag.input, range(circuit.inputs)), xag, rows)
    outputs = [literals[row] for row in circuit.outputs[channels].tolist()]
    return to_circuit(xag, outputs, tuple(circuit.labels[c] for c in channels), channels)
