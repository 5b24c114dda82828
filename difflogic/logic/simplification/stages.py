"""The stages of simplification, in order, and what the circuit is after each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.logic.automaton import Automaton, live_channels
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.xag import from_circuit, to_circuit


@dataclass(frozen=True)
class Stage:
    """What was done, and the circuit after it."""

    name: str
    circuit: LogicCircuit


@dataclass(frozen=True)
class Simplification:
    """An automaton with a smaller circuit, and the way there.

    The first stage is the circuit as it was. Each channel that stays has the same next state as
    before, whatever the channels that were dropped hold.
    """

    automaton: Automaton
    stages: tuple[Stage, ...]

    @property
    def circuit(self) -> LogicCircuit:
        return self.automaton.circuit


def simplify(automaton: Automaton) -> Simplification:
    """Make the automaton's circuit as small as we can; visible channels behave as before."""
    stages = [Stage("as trained", automaton.circuit)]

    def add(name: str, circuit: LogicCircuit) -> LogicCircuit:
        stages.append(Stage(name, circuit))
        return circuit

    circuit = add("constants, pass-throughs, inverters folded", _rebuild(automaton.circuit, False))
    circuit = add("equal gates merged", _rebuild(circuit, True))
    circuit = add("unread channels dropped", drop_unread_channels(circuit, automaton.visible))
    return Simplification(automaton.with_circuit(circuit), tuple(stages))


def _rebuild(circuit: LogicCircuit, hashing: bool) -> LogicCircuit:
    xag, outputs = from_circuit(circuit, hashing)
    return to_circuit(xag, outputs, circuit.labels, range(circuit.channels))


def drop_unread_channels(circuit: LogicCircuit, visible: tuple[int, ...]) -> LogicCircuit:
    """Drop the channels that the future of `visible` (labels) does not depend on."""
    live = np.flatnonzero(live_channels(circuit, visible)).tolist()
    xag, outputs = from_circuit(circuit)
    labels = tuple(circuit.labels[channel] for channel in live)
    return to_circuit(xag, [outputs[channel] for channel in live], labels, live)
