"""What writers of formats share: a file's head, names, and gates as expressions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from difflogic import __version__
from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import READS, Op, bitwise
from difflogic.model.automaton import Automaton
from difflogic.system.errors import CircuitError

LINE = 96
"""Columns of a line of comment, before its sign."""


class _Text(str):
    """An expression in C, Python and Verilog alike, built by its operators."""

    __slots__ = ()

    def _joined(self, sign: str, other: str) -> _Text:
        return _Text(f"{self} {sign} {other}")

    def __and__(self, other: str) -> _Text:
        return self._joined("&", other)

    def __or__(self, other: str) -> _Text:
        return self._joined("|", other)

    def __xor__(self, other: str) -> _Text:
        return self._joined("^", other)

    def __invert__(self) -> _Text:
        return _Text(f"~({self})" if " " in self else f"~{self}")


BITWISE = {op: bitwise(op, _Text("{a}"), _Text("{b}")) for op in Op if any(READS[op])}
"""Ops that read something as expressions, in C, Python and Verilog alike."""


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of an exported circuit, in order.

    Inputs that the circuit does not read stand for nothing; channels that are no outputs are
    left out.
    """

    inputs: tuple[str, ...]
    """Names as of `LogicCircuit.input_name`."""
    outputs: tuple[int, ...]
    """Labels of channels."""

    def rows(self, circuit: LogicCircuit) -> list[int]:
        """Return the circuit's rows of the outputs.

        Raises CircuitError if the circuit lacks a channel or reads what is no input.
        """
        missing = sorted(set(self.outputs) - set(circuit.labels))
        if missing:
            raise CircuitError(f"the circuit has no channels {missing}: it has {circuit.labels}")
        channels = [circuit.labels.index(label) for label in self.outputs]
        reads = circuit.needed(channels)[: circuit.inputs].nonzero()[0]
        unknown = sorted({circuit.input_name(int(row)) for row in reads} - set(self.inputs))
        if unknown:
            raise CircuitError(f"the circuit reads {', '.join(unknown)}, which are not inputs")
        return [int(circuit.outputs[channel]) for channel in channels]


def used_rows(circuit: LogicCircuit) -> list[int]:
    """Return the input rows that a gate reads, whether needed or not, or that are an output."""
    return np.flatnonzero(circuit.fan_out[: circuit.inputs]).tolist()


def used_interface(circuit: LogicCircuit) -> Interface:
    """Return the inputs that a circuit uses, and all its outputs."""
    return Interface(tuple(map(circuit.input_name, used_rows(circuit))), circuit.labels)


def common_interface(original: LogicCircuit, kept: Sequence[int]) -> Interface:
    """Return what a circuit and its simplification can both be given: to compare them.

    That is every input of the original, and the channels `kept` (labels).
    """
    return Interface(tuple(map(original.input_name, range(original.inputs))), tuple(kept))


def row_names(circuit: LogicCircuit) -> list[str]:
    """Return a name for each row: NW0 … SE0 for inputs, g0, g1, … for gates."""
    inputs = [circuit.input_name(row) for row in range(circuit.inputs)]
    return inputs + [f"g{gate}" for gate in range(circuit.gates)]


def expressions(
    circuit: LogicCircuit, names: Sequence[str], zero: str, one: str
) -> Iterator[tuple[str, str]]:
    """Yield the name of each gate and its expression, in order.

    `names` has one for each row; `zero` and `one` are the language's constants.
    """
    gates = zip(circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True)
    for row, (op, a, b) in enumerate(gates, circuit.inputs):
        if op in BITWISE:
            yield names[row], BITWISE[Op(op)].format(a=names[a], b=names[b])
        else:
            yield names[row], one if op == Op.TRUE else zero


def identifier(automaton: Automaton) -> str:
    """Return the automaton's name as the beginning of a name in a programming language."""
    name = re.sub(r"\W", "_", automaton.name, flags=re.ASCII)
    return name if name[:1].isalpha() else f"ca_{name}"


def head(automaton: Automaton, *usage: str) -> list[str]:
    """Return lines that say what a file holds and how it is used, for a comment at its top."""
    circuit = automaton.circuit
    ops = ", ".join(f"{count} {op.name}" for op, count in circuit.op_counts().items())
    beyond = {"zero": "cells beyond the edge are 0", "periodic": "edges are joined"}
    firing = (
        "all cells are updated in each step"
        if automaton.fire_rate == 1
        else f"in each step a cell takes its new state with probability {automaton.fire_rate:g}"
    )
    paragraphs = (
        f"{automaton.name}: the update of one cell of a differentiable logic cellular automaton, "
        f"as a circuit. Generated by dct {__version__}.",
        f"Boundary {automaton.boundary}: {beyond[automaton.boundary]}. Trained on "
        f"{automaton.height}x{automaton.width} cells for {automaton.steps} steps; {firing}.",
        f"Channels, by their numbers in training: {_listed(circuit.labels)}. "
        f"Visible: {_listed(automaton.visible)}.",
        f"Gates: {circuit.gates}, depth {circuit.depth}{f': {ops}' if ops else ''}.",
        "NW0 is channel 0 of the north-western neighbour, C0 is the cell's own, next0 its next "
        "state.",
        *usage,
    )
    return [line for text in paragraphs for line in textwrap.wrap(text, LINE)]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def folded(items: Sequence[str], width: int = LINE) -> list[str]:
    """Return items, with blanks between, as lines of at most so many columns where they fit."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return lines
