"""Circuits without what does not matter: quick, and no more than folding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from difflogic.gates import Op
from difflogic.logic.automaton import Automaton, live_channels
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.xag import FALSE, Xag, to_circuit

A, B = int(Op.A), int(Op.B)


def live_part(automaton: Automaton) -> Automaton:
    """Return an automaton without what the future of its visible channels does not depend on."""
    return automaton.with_circuit(live_circuit(automaton.circuit, automaton.visible))


def live_circuit(circuit: LogicCircuit, visible: tuple[int, ...]) -> LogicCircuit:
    """Return the part of a circuit that the future of `visible` (labels) depends on, folded."""
    channels = np.flatnonzero(live_channels(circuit, visible)).tolist()
    # What is all needed already stays as it is: a certificate is to be of the file that was given.
    return fold(circuit) if len(channels) == circuit.channels else folded_part(circuit, channels)


def fold(circuit: LogicCircuit) -> LogicCircuit:
    """Return a circuit with equal gates merged, and without constants and pass-throughs.

    Where there is nothing to fold, the circuit stays as it is, gate by gate.
    """
    folded = folded_part(circuit, list(range(circuit.channels)))
    return folded if folded.gates < circuit.gates else circuit


def folded_part(circuit: LogicCircuit, channels: list[int]) -> LogicCircuit:
    """Return the part of a circuit that computes these channels, folded.

    Raises ValueError if they depend on others.
    """
    # Of a circuit as trained, hardly a gate in a hundred is needed.
    needed = np.flatnonzero(circuit.needed(channels)[circuit.inputs :])
    gates = (each[needed].tolist() for each in (circuit.op, circuit.a, circuit.b))
    rows = (circuit.inputs + needed).tolist()
    outputs = circuit.outputs[channels].tolist()
    labels = tuple(circuit.labels[channel] for channel in channels)
    return folded_gates(circuit.inputs, zip(rows, *gates, strict=True), outputs, labels, channels)


def folded_gates(
    inputs: int, gates: Iterable[tuple[int, int, int, int]], outputs: Sequence[int],
    labels: tuple[int, ...], channels: Sequence[int],
) -> LogicCircuit:  # fmt: skip
    """Return the circuit of some gates, folded: their rows, ops and the rows that they read.

    They come in the order of their rows, and all that `outputs`, the rows of some `channels`,
    depend on is there. An input that an op ignores may be of a gate that is not.
    Raises ValueError if they depend on others of the channels that the inputs are of.
    """
    xag = Xag(inputs)
    literals = {row: xag.input(row) for row in range(inputs)}
    for row, op, a, b in gates:
        # Of trained circuits most gates are of these two.
        if op == A:
            literals[row] = literals[a]
        elif op == B:
            literals[row] = literals[b]
        else:
            literals[row] = xag.gate(op, literals.get(a, FALSE), literals.get(b, FALSE))
    return to_circuit(xag, [literals[row] for row in outputs], labels, channels)
