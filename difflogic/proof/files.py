"""Proofs as files, for checkers that share no code: certificates by sets, and proofs by all cases.

docs/checkers.md explains the files, and prints a checker for each kind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.specification import Cases
from difflogic.formats.circuit_file import write_circuit
from difflogic.proof.convergence import Finding, Question
from difflogic.proof.convergence.folding import fold
from difflogic.proof.convergence.sets import Sets, as_array
from difflogic.system.errors import CircuitError

VERSION = 1
"""Version of every format."""

SIGNS = "01?"
"""Signs for a channel known to be 0, known to be 1, and unknown."""

MOST_VALUES = 2**22
"""Most bits of all starts and targets together, to keep a file readable."""

Lines = Sequence[Sequence[int]]
"""Runs of equal values, each as [count, value]."""


def write_certificate(automaton: Automaton, finding: Finding) -> str:
    """Return a proof by sets as JSON text: the sets after each step, and the folded circuit.

    The sets belong to the folded gates; with other gates a checker could know less. Raises
    CircuitError for any other finding.
    """
    question = finding.question
    if not finding.states:
        how = "it is open" if finding.method is None else f"it was decided by {finding.method}"
        raise CircuitError(
            f"a certificate file lists the sets after each step, but there are none: {how}"
        )
    numbers: dict[str, int] = {}
    states = [
        _lines(numbers.setdefault(signs, len(numbers)) for signs in _cells(question, state))
        for state in finding.states
    ]
    parts = {
        "height": question.height,
        "width": question.width,
        "from_step": finding.from_step,
        "target": _planes(question.target),
        "sets": list(numbers),
    }
    folded = automaton.with_circuit(fold(question.circuit))
    return _with_list("dct-certificate", folded, parts, "states", states)


def write_cases(automaton: Automaton, cases: Cases) -> str:
    """Return a proof by all cases as JSON text: starts, their targets, and the number of steps.

    The starts have the circuit's channels only. Raises CircuitError if there are too many starts.
    """
    starts = cases.starts[:, list(automaton.circuit.labels)]
    if starts.size + cases.targets.size > MOST_VALUES:
        raise CircuitError(f"{cases.name}: they are too many for a file")
    height, width = starts.shape[2:]
    parts = {
        "height": height,
        "width": width,
        "boundary": cases.boundary,
        "steps": cases.steps,
        "what": cases.name,
    }
    targets = (cases.targets != 0).astype(int)
    pairs = [[_planes(start), _planes(end)] for start, end in zip(starts, targets, strict=True)]
    return _with_list("dct-cases", automaton, parts, "cases", pairs)


def circuit_hash(circuit: dict[str, Any]) -> str:
    """Return the SHA-256 of a parsed circuit file; whitespace and key order do not matter."""
    text = json.dumps(circuit, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def proof_lines(format_name: str, automaton: Automaton, parts: dict[str, Any]) -> list[str]:
    """Return the lines of a proof file without commas, one for each part and the circuit."""
    circuit = json.loads(write_circuit(automaton))
    head = {"format": format_name, "version": VERSION, "circuit_sha256": circuit_hash(circuit)}
    whole = head | parts | {"circuit": circuit}
    return [f'  "{key}": {json.dumps(value)}' for key, value in whole.items()]


def _with_list(
    format_name: str, automaton: Automaton, parts: dict[str, Any], name: str, items: Sequence[Any]
) -> str:
    """Return a proof file that ends with the list `name`, a line for each item."""
    body = ",\n".join(f"    {json.dumps(item)}" for item in items)
    lines = [*proof_lines(format_name, automaton, parts), f'  "{name}": [\n{body}\n  ]']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _cells(question: Question, state: Sets) -> list[str]:
    """Return each cell's sets, one sign per channel."""
    columns = as_array(question.board, state).reshape(question.circuit.channels, -1).T.tolist()
    return ["".join(SIGNS[value] for value in column) for column in columns]


def _planes(bits: npt.NDArray[Any]) -> list[Lines]:
    return [_lines(channel.ravel().tolist()) for channel in bits]


def _lines(values: Iterable[int]) -> Lines:
    return [[len(list(group)), value] for value, group in groupby(values)]
