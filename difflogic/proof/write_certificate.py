"""Certificates as files: what is known after each step, for a checker that shares no code.

docs/checkers.md says what the file means, and prints a checker of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from difflogic.formats.write_circuit import write_circuit
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence import Finding, Question
from difflogic.proof.convergence.folding import fold
from difflogic.proof.convergence.sets import Sets, as_array
from difflogic.system.errors import CircuitError

FORMAT = "dct-certificate"
VERSION = 1

SIGNS = "01?"
"""Of a channel that is known to be 0 or 1, and of one that may be both."""


def write_certificate(automaton: Automaton, finding: Finding) -> str:
    """Return the certificate as JSON text; the circuit that it is about stands in it, folded.

    Sets run through folded gates; a checker that goes through others would find less known.

    Raises CircuitError unless the finding is a proof by sets, which alone leaves states to check.
    """
    question = finding.question
    if not finding.states:
        how = "it is open" if finding.method is None else f"it was decided by {finding.method}"
        raise CircuitError(
            f"a certificate file lists the sets after each step, but there are none: {how}"
        )
    circuit = json.loads(write_circuit(automaton.with_circuit(fold(question.circuit))))
    places: dict[str, int] = {}
    states = [
        run_lengths(places.setdefault(signs, len(places)) for signs in _cells(question, state))
        for state in finding.states
    ]
    shown = [run_lengths(channel.ravel().tolist()) for channel in question.target]
    parts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "circuit_sha256": circuit_hash(circuit),
        "height": question.height,
        "width": question.width,
        "from_step": finding.from_step,
        "target": shown,
        "sets": list(places),
        "circuit": circuit,
    }
    head = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in parts.items()]
    body = ",\n".join(f"    {json.dumps(state)}" for state in states)
    return "{\n" + ",\n".join([*head, f'  "states": [\n{body}\n  ]']) + "\n}\n"


def circuit_hash(circuit: dict[str, Any]) -> str:
    """Return the SHA-256 of a decoded circuit file, whatever its blanks and the order of keys."""
    text = json.dumps(circuit, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _cells(question: Question, state: Sets) -> list[str]:
    """Return each cell's set, a sign per channel."""
    columns = as_array(question.board, state).reshape(question.circuit.channels, -1).T.tolist()
    return ["".join(SIGNS[value] for value in column) for column in columns]


def run_lengths(values: Iterable[int]) -> Sequence[Sequence[int]]:
    """Return [count, value] for each stretch of equal values."""
    return [[len(list(group)), value] for value, group in groupby(values)]
