"""Proofs as files, for checkers that share no code: certificates by sets, and proofs by all cases.

Each file holds its question and the whole circuit. docs/checkers.md explains the files; beside
it, docs/checkers has a checker for each kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.live_part import fold
from difflogic.circuit.specification import Cases
from difflogic.formats.circuit_file import write_circuit
from difflogic.proof.answer import Confinement
from difflogic.proof.convergence.confinement import Ground
from difflogic.proof.convergence.every_size import NO_ARRIVAL, EverySize, Table
from difflogic.proof.convergence.findings import Finding
from difflogic.proof.convergence.one_side import OneSide
from difflogic.proof.convergence.sets import as_array
from difflogic.proof.question import Asked
from difflogic.system.array_types import Array, Bits, Flags
from difflogic.system.errors import CircuitError

VERSION = 2
"""Version of every format."""

SET_SIGNS = "01?"
"""Signs for a channel known to be 0, known to be 1, and unknown."""

MOST_VALUES = 2**22
"""Most bits of all starts and targets together, to keep a file readable."""

RunLengths = Sequence[Sequence[int]]
"""Runs of equal values, each as [count, value]."""


def write_certificate(
    automaton: Automaton, finding: Finding, more: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """Return a proof by sets as JSON text: the sets after each step, and the folded circuit.

    The sets belong to the folded gates; with other gates a checker could know less. `more` are
    parts for other checkers. Raises CircuitError for any other finding.
    """
    question = finding.question
    if not finding.states:
        how = "is open" if finding.method is None else f"was decided by {finding.method}"
        raise CircuitError(
            f"a certificate file lists the sets after each step: this answer has none, it {how}"
        )
    numbers: dict[Any, int] = {}
    arrays = (as_array(question.board, state) for state in finding.states)
    states = [_numbered(_signs(state), numbers) for state in arrays]
    parts = {"target": _planes(question.target), "sets": list(numbers), **more}
    folded = automaton.with_circuit(fold(question.circuit))
    asked = replace(question.asked, step=finding.from_step)
    return proof_text("dct-certificate", folded, asked, parts, "states", states)


def write_cases(automaton: Automaton, cases: Cases) -> str:
    """Return a proof by all cases as JSON text: starts and their targets.

    The starts have the circuit's channels only; of equal ones the first remains. Raises
    CircuitError if there are too many starts, or if the cases are not of this circuit's runs.
    """
    if np.isnan(cases.targets).any():
        raise CircuitError(f"{cases.name}: some cells do not count, which a file cannot say")
    starts = cases.starts[:, list(automaton.circuit.labels)] != 0
    targets = cases.targets != 0
    if starts.size + targets.size > MOST_VALUES:
        raise CircuitError(f"{cases.name}: they are too many for a file")
    if automaton.fire_rate != 1 or automaton.boundary != cases.boundary:
        raise CircuitError(
            f"{automaton.name}: a fire rate of {automaton.fire_rate:g} and a {automaton.boundary} "
            f"boundary: the cases are of all cells at each step and a {cases.boundary} boundary"
        )
    first = np.unique(starts.reshape(len(starts), -1), axis=0, return_index=True)[1]
    starts, targets = starts[np.sort(first)], targets[np.sort(first)]
    (height, width) = starts.shape[2:]
    named = _named(automaton, starts)
    asked = Asked.of(automaton, "shows", named, (height, width), cases.steps)
    pairs = [[_planes(start), _planes(end)] for start, end in zip(starts, targets, strict=True)]
    return proof_text("dct-cases", automaton, asked, {}, "cases", pairs)


def _named(automaton: Automaton, starts: Flags) -> str:
    """Say what distinct starts (N, C, H, W) are, in the words that the checker confirms."""
    count, _, height, width = starts.shape
    own = np.zeros((height, width), np.bool_)
    own[height // 2, width // 2] = automaton.start == "center"
    if count == 1 and automaton.start != "random" and (starts[0] == own).all():
        return f"its own start, {automaton.start}"
    labels = automaton.circuit.labels
    varied = np.flatnonzero(starts.any(axis=(0, 2, 3)))
    if len(varied) and count == 2 ** (height * width * len(varied)):
        return f"all {count} starts of channel {', '.join(str(labels[place]) for place in varied)}"
    return f"{count} listed start{'s' * (count > 1)}"


def proof_text(
    format_name: str,
    automaton: Automaton,
    asked: Asked,
    parts: dict[str, Any],
    name: str = "",
    items: Sequence[Any] = (),
) -> str:
    """Return a proof file: question, parts, circuit, and the list `name` with a line per item."""
    circuit = automaton.circuit
    own = 4 * circuit.channels
    held = [label for n, label in enumerate(circuit.labels) if circuit.outputs[n] == own + n]
    whole = {
        "format": format_name,
        "version": VERSION,
        "question": asked.as_dict() | {"held": held},
        **parts,
        "circuit": json.loads(write_circuit(automaton)),
    }
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in whole.items()]
    if name:
        body = ",\n".join(f"    {json.dumps(item)}" for item in items)
        lines.append(f'  "{name}": [\n{body}\n  ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_one_side(found: EverySize) -> str:
    """Return the proof about cells that look to one side as JSON text: what they settle in."""
    proof = found.proof
    numbers = dict[Any, int]()
    assert isinstance(proof, OneSide), "it is proved so"
    rows = [
        [[numbers.setdefault(cell, len(numbers)) for cell in part] for part in row]
        for row in proof.rows
    ]
    shown = None if proof.picture is None else proof.picture.transpose(1, 2, 0).tolist()
    parts = {
        "corner": proof.corner,
        "target": shown and [["".join(map(str, cell)) for cell in row] for row in shown],
        "sets": ["".join(SET_SIGNS[value] for value in cell) for cell in numbers],
        "start": proof.start,
    }
    asked = replace(found.asked, step=f"{proof.firings} · (m + n - 1)")
    return proof_text("dct-one-side", found.plane.automaton, asked, parts, "rows", rows)


def damage_part(found: Confinement, table: Table) -> dict[str, Any]:
    """Return what a certificate says about damage on every grid, and how small grids settle."""
    wound = found.wound
    when = table.arrivals.steps
    steps = np.where(when < NO_ARRIVAL, when, 1).reshape(len(when), -1).T.tolist()
    numbers: dict[Any, int] = {}
    cells = zip(_signs(Ground.of(table).board), map(tuple, steps), strict=True)
    settled = _numbered(cells, numbers)
    return {
        "side": wound.side,
        "contents": "zeros" if wound.zeros else "any",
        "margin": wound.margin,
        "within": wound.reach,
        "reach": found.reach,
        "rounds": found.rounds,
        "first": table.grids.first,
        "period": table.grids.period,
        "delays": table.delays,
        "sets": [signs for signs, _ in numbers],
        "arrivals": [late for _, late in numbers],
        "settled": settled,
    }


def _signs(state: Bits) -> Iterator[str]:
    """Yield each cell's sets, one sign per channel."""
    return ("".join(SET_SIGNS[value] for value in cell) for cell in state.reshape(len(state), -1).T)


def _numbered(cells: Iterable[Any], numbers: dict[Any, int]) -> RunLengths:
    """Return the number of each cell; new ones join `numbers`."""
    return _lines(numbers.setdefault(each, len(numbers)) for each in cells)


def _planes(bits: Array) -> list[RunLengths]:
    return [_lines(channel.ravel().astype(int).tolist()) for channel in bits]


def _lines(values: Iterable[int]) -> RunLengths:
    return [[len(list(group)), value] for value, group in groupby(values)]
