"""Proofs by all cases as files, for a checker that shares no code.

docs/checkers.md says what the file means, and prints a checker of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from difflogic.formats.write_circuit import write_circuit
from difflogic.model.automaton import Automaton
from difflogic.proof.write_certificate import circuit_hash, run_lengths
from difflogic.system.errors import CircuitError
from difflogic.tasks import Cases

FORMAT = "dct-cases"
VERSION = 1

MOST_VALUES = 2**22
"""Bits of all starts and targets together, so that a file stays one that can be looked at."""


def write_cases(automaton: Automaton, cases: Cases) -> str:
    """Return as JSON text from which starts a circuit ends in which targets, after how many steps.

    Of the starts the circuit's channels are kept. Raises CircuitError if there are too many.
    """
    starts = cases.starts[:, list(automaton.circuit.labels)]
    if starts.size + cases.targets.size > MOST_VALUES:
        raise CircuitError(f"{cases.what}: they are too many for a file")
    circuit = json.loads(write_circuit(automaton))
    height, width = starts.shape[2:]
    parts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "circuit_sha256": circuit_hash(circuit),
        "height": height,
        "width": width,
        "boundary": cases.boundary,
        "steps": cases.steps,
        "what": cases.what,
        "circuit": circuit,
    }
    head = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in parts.items()]
    pairs = zip(starts, (cases.targets != 0).astype(int), strict=True)
    body = ",\n".join(f"    {json.dumps([_planes(start), _planes(end)])}" for start, end in pairs)
    return "{\n" + ",\n".join([*head, f'  "cases": [\n{body}\n  ]']) + "\n}\n"


def _planes(bits: npt.NDArray) -> list[Sequence[Sequence[int]]]:
    """Return each channel's stretches of equal bits."""
    return [run_lengths(channel.ravel().tolist()) for channel in bits]
