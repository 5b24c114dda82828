"""Whether a circuit keeps a rule's bounds in every neighbourhood: docs/local-rules.md."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence.folding import live_part
from difflogic.tasks import Rule


def neighborhoods() -> npt.NDArray[np.uint8]:
    """Return all states of a cell and its eight neighbours, (9, 2 channels, cases)."""
    bits = NEIGHBORHOOD * 2
    cases = np.arange(1 << bits, dtype=np.uint32)
    return np.array([cases >> bit & 1 for bit in range(bits)], np.uint8).reshape(9, 2, -1)


def broken(automaton: Automaton, rule: Rule) -> str:
    """Return what keeps a rule from being proved; "" if the circuit keeps it everywhere."""
    small = live_part(automaton)
    circuit = small.circuit
    if not set(circuit.labels) <= {0, 1}:
        return "cells have memory beside channels 0 and 1"
    if small.boundary != "zero" or small.fire_rate != 1 or 1 not in small.visible:
        return "cells must fire together, show channel 1, and have zeros beyond the edge"
    seen = neighborhoods()
    legal, least, most = rule.bounds(seen[:, 0], seen[:, 1])
    channels = list(circuit.labels)
    new = circuit.next_state(seen[:, channels].reshape(circuit.inputs, -1).astype(np.bool_))
    wrong = ((new < least[channels]) | (new > most[channels])).any(axis=0)
    count = int((wrong & (legal == 1)).sum())
    return f"{count} of {int(legal.sum())} neighbourhoods break the rule" if count else ""
