"""Quickly removes the parts of a circuit that do not matter."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.automaton import Automaton, live_channels
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.gates import READS
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

    If this removes no gate, and nothing else is known of a set of values, return the circuit
    unchanged.
    """
    folded = folded_part(circuit, list(range(circuit.channels)))
    removes = folded.gates < circuit.gates or _of_two(folded) < _of_two(circuit)
    return folded if removes else circuit


def _of_two(circuit: Circuit) -> int:
    """Return the number of gates of two inputs, which may be one row."""
    return int(np.array(READS)[circuit.op].all(axis=1).sum())


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
