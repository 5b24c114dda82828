"""Quickly removes the parts of a circuit that do not matter."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.automaton import Automaton, live_channels
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import Xag, to_circuit


def live_part(automaton: Automaton) -> Automaton:
    """Reduce an automaton's circuit to `live_circuit`."""
    return automaton.with_circuit(live_circuit(automaton.circuit, automaton.visible))


def live_circuit(circuit: Circuit, visible: tuple[int, ...]) -> Circuit:
    """Return the part of a circuit that the future of `visible` (labels) depends on, folded."""
    channels = np.flatnonzero(live_channels(circuit, visible)).tolist()
    # If everything is needed, keep the circuit unchanged, so that a certificate matches its file.
    return fold(circuit) if len(channels) == circuit.channels else folded_part(circuit, channels)


def fold(circuit: Circuit) -> Circuit:
    """Merge equal gates, and remove constants and gates that only pass an input on.

    If this removes no gate, return the circuit unchanged.
    """
    folded = folded_part(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def folded_part(circuit: Circuit, channels: list[int]) -> Circuit:
    """Return the folded part of a circuit that computes these channels.

    Raises ValueError if they depend on others.
    """
    # In a trained circuit, hardly a gate in a hundred is needed.
    rows = np.flatnonzero(circuit.needed(channels)).tolist()
    xag = Xag(circuit.inputs)
    literals = evaluate(circuit, map(xag.input, range(circuit.inputs)), xag, rows)
    outputs = [literals[row] for row in circuit.outputs[channels].tolist()]
    return to_circuit(xag, outputs, tuple(circuit.labels[c] for c in channels), channels)
