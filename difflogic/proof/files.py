"""Proofs as files, for checkers that share no code: certificates by sets, and proofs by all cases.

docs/checkers.md says what the files mean, and prints a checker of each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy.typing as npt

from difflogic.formats.circuit_file import write_circuit
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence import Finding, Question
from difflogic.proof.convergence.folding import fold
from difflogic.proof.convergence.sets import Sets, as_array
from difflogic.system.errors import CircuitError
from difflogic.tasks import Cases

VERSION = 1
"""Of every format."""

SIGNS = "01?"
"""Of a channel that is known to be 0 or 1, and of one that may be both."""

MOST_VALUES = 2**22
"""Bits of all starts and targets together, so that a file stays one that can be looked at."""

Lines = Sequence[Sequence[int]]
"""Stretches of equal values, each as [count, value]."""


def write_certificate(automaton: Automaton, finding: Finding) -> str:
    """Return as JSON text what is known after each step; the folded circuit stands in it.

    Sets run through folded gates; a checker that goes through others would find less known.
    Raises CircuitError unless the finding is a proof by sets, which alone leaves states to check.
    """
    question = finding.question
    if not finding.states:
        how = "it is open" if finding.method is None else f"it was decided by {finding.method}"
        raise CircuitError(
            f"a certificate file lists the sets after each step, but there are none: {how}"
        )
    places: dict[str, int] = {}
    states = [
        _lines(places.setdefault(signs, len(places)) for signs in _cells(question, state))
        for state in finding.states
    ]
    parts = {
        "height": question.height,
        "width": question.width,
        "from_step": finding.from_step,
        "target": _planes(question.target),
        "sets": list(places),
    }
    folded = automaton.with_circuit(fold(question.circuit))
    return _text("dct-certificate", folded, parts, "states", states)


def write_cases(automaton: Automaton, cases: Cases) -> str:
    """Return as JSON text from which starts a circuit ends in which targets, after how many steps.

    Of the starts the circuit's channels are kept. Raises CircuitError if there are too many.
    """
    starts = cases.starts[:, list(automaton.circuit.labels)]
    if starts.size + cases.targets.size > MOST_VALUES:
        raise CircuitError(f"{cases.what}: they are too many for a file")
    height, width = starts.shape[2:]
    parts = {
        "height": height,
        "width": width,
        "boundary": cases.boundary,
        "steps": cases.steps,
        "what": cases.what,
    }
    targets = (cases.targets != 0).astype(int)
    pairs = [[_planes(start), _planes(end)] for start, end in zip(starts, targets, strict=True)]
    return _text("dct-cases", automaton, parts, "cases", pairs)


def circuit_hash(circuit: dict[str, Any]) -> str:
    """Return the SHA-256 of a decoded circuit file, whatever its blanks and the order of keys."""
    text = json.dumps(circuit, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _text(
    format_name: str, automaton: Automaton, parts: dict[str, Any], name: str, items: Sequence[Any]
) -> str:
    """Return the file: a line for each part, and for each of `items` in the list `name`."""
    circuit = json.loads(write_circuit(automaton))
    parts = {
        "format": format_name,
        "version": VERSION,
        "circuit_sha256": circuit_hash(circuit),
        **parts,
        "circuit": circuit,
    }
    head = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in parts.items()]
    body = ",\n".join(f"    {json.dumps(item)}" for item in items)
    return "{\n" + ",\n".join([*head, f'  "{name}": [\n{body}\n  ]']) + "\n}\n"


def _cells(question: Question, state: Sets) -> list[str]:
    """Return each cell's set, a sign per channel."""
    columns = as_array(question.board, state).reshape(question.circuit.channels, -1).T.tolist()
    return ["".join(SIGNS[value] for value in column) for column in columns]


def _planes(bits: npt.NDArray) -> list[Lines]:
    return [_lines(channel.ravel().tolist()) for channel in bits]


def _lines(values: Iterable[int]) -> Lines:
    return [[len(list(group)), value] for value, group in groupby(values)]
