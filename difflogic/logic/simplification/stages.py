"""The stages of simplification, in order, and what the circuit is after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from difflogic.gates import Op
from difflogic.logic.automaton import Automaton, live_channels
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.simplification.effort import EFFORTS, Effort
from difflogic.logic.xag import from_circuit, to_circuit

SMALL_WINDOW, LARGE_WINDOW = 4, 12
"""Leaves of windows that are swept. Four cover the known laws of a few gates."""


@dataclass(frozen=True)
class Stage:
    """What was done, and the circuit after it."""

    name: str
    circuit: LogicCircuit


UNREAD_DROPPED = "unread channels dropped"


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

    @property
    def pruned(self) -> LogicCircuit:
        """The circuit that the search began with."""
        return next(stage.circuit for stage in self.stages if stage.name == UNREAD_DROPPED)


Progress = Callable[[], None]
"""Is called again and again, after each step of whatever length."""


def simplify(
    automaton: Automaton,
    effort: Effort = EFFORTS["normal"],
    progress: Progress = lambda: None,
) -> Simplification:
    """Make the automaton's circuit as small as we can; visible channels behave as before.

    The same circuit and effort give the same result. It is to be proved: see `logic.proof`.
    """
    circuit = automaton.circuit
    stages = [Stage("as trained", circuit)]
    for name, change in _changes(automaton.visible, effort, progress):
        progress()
        found = change(circuit)
        # Inverters that outputs need can make more gates of a net that has no more.
        if found.gates <= circuit.gates:
            circuit = found
        stages.append(Stage(name, circuit))
    return Simplification(automaton.with_circuit(circuit), tuple(stages))


Change = Callable[[LogicCircuit], LogicCircuit]


def _changes(
    visible: tuple[int, ...], effort: Effort, progress: Progress
) -> Iterator[tuple[str, Change]]:
    def drop(circuit: LogicCircuit) -> LogicCircuit:
        return drop_unread_channels(circuit, visible)

    yield "constants, pass-throughs, inverters folded", lambda circuit: _rebuild(circuit, False)
    yield "equal gates merged", lambda circuit: _rebuild(circuit, True)
    yield UNREAD_DROPPED, drop
    yield "always equal signals merged", _reduced
    for leaves in (SMALL_WINDOW, LARGE_WINDOW):
        yield f"gates replaced in windows of {leaves}", _swept(leaves, effort.passes, progress)
    if effort.window_leaves:
        yield "windows searched", _annealed(effort, progress)
    if effort.whole_inputs:
        yield "whole circuit searched", _searched(effort, progress)
    yield "channels dropped that are now unread", drop


def _rebuild(circuit: LogicCircuit, hashing: bool) -> LogicCircuit:
    xag, outputs = from_circuit(circuit, hashing)
    return to_circuit(xag, outputs, circuit.labels, range(circuit.channels))


def active_gates(circuit: LogicCircuit) -> int:
    """Return how many gates some next state depends on, by its wires; pass-throughs are none."""
    needed = circuit.needed(range(circuit.channels))[circuit.inputs :]
    return int((needed & ~np.isin(circuit.op, (Op.A, Op.B))).sum())


def drop_unread_channels(circuit: LogicCircuit, visible: tuple[int, ...]) -> LogicCircuit:
    """Drop the channels that the future of `visible` (labels) does not depend on."""
    live = np.flatnonzero(live_channels(circuit, visible)).tolist()
    xag, outputs = from_circuit(circuit)
    labels = tuple(circuit.labels[channel] for channel in live)
    return to_circuit(xag, [outputs[channel] for channel in live], labels, live)


def _reduced(circuit: LogicCircuit) -> LogicCircuit:
    from difflogic.logic.simplification.functional_reduction import reduce_functionally

    return _rebuild(reduce_functionally(circuit), True)


def _swept(leaves: int, passes: int, progress: Progress) -> Change:
    def change(circuit: LogicCircuit) -> LogicCircuit:
        from difflogic.logic.simplification import nets, windows

        net = nets.from_circuit(circuit)
        for _ in range(passes):
            before = nets.gates(net)
            net = windows.rewrite(net, leaves, 0, 0, progress)
            if nets.gates(net) == before:
                break
        return nets.back_to_circuit(net, circuit.labels)

    return change


def _annealed(effort: Effort, progress: Progress) -> Change:
    def change(circuit: LogicCircuit) -> LogicCircuit:
        from difflogic.logic.simplification import nets, windows

        net = nets.from_circuit(circuit)
        for seed, leaves in enumerate(effort.window_leaves):
            net = windows.rewrite(net, leaves, effort.window_moves, seed, progress)
        return nets.back_to_circuit(net, circuit.labels)

    return change


def _searched(effort: Effort, progress: Progress) -> Change:
    def change(circuit: LogicCircuit) -> LogicCircuit:
        from difflogic.logic.simplification import multistart, nets

        net = multistart.search(nets.from_circuit(circuit), effort, progress)
        return nets.back_to_circuit(net, circuit.labels)

    return change
