"""The stages of the search for a smaller circuit, in order, and what the circuit is after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from difflogic.circuit.circuit import LogicCircuit
from difflogic.model.automaton import Automaton, live_channels
from difflogic.simplification import nets
from difflogic.simplification.effort import EFFORTS, Effort
from difflogic.simplification.kernels.structures import Net
from difflogic.system.deadline import NEVER, Deadline

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
    """An automaton with a smaller circuit, and the way there; nothing is proved yet.

    The first stage is the circuit as it was. Each channel that stays has the same next state as
    before, whatever the channels that were dropped hold.
    """

    automaton: Automaton
    stages: tuple[Stage, ...]
    stopped: bool = False
    """Whether the time limit cut the search short; then its result depends on the machine."""

    @property
    def circuit(self) -> LogicCircuit:
        return self.automaton.circuit

    @property
    def pruned(self) -> LogicCircuit:
        """The circuit that the search began with."""
        return next(stage.circuit for stage in self.stages if stage.name == UNREAD_DROPPED)


Progress = Callable[[], object]
"""Is called again and again, after each step of whatever length."""


@dataclass(frozen=True, eq=False)
class _Draft:
    """The circuit as the search sees it, and as it is seen from outside."""

    net: Net
    labels: tuple[int, ...]

    @cached_property
    def circuit(self) -> LogicCircuit:
        return nets.to_circuit(self.net, self.labels)


def simplify(
    automaton: Automaton,
    effort: Effort = EFFORTS["normal"],
    progress: Progress = lambda: None,
    deadline: Deadline = NEVER,
) -> Simplification:
    """Make the automaton's circuit as small as we can; visible channels behave as before.

    The same circuit and effort give the same result, unless `deadline` passes: then what was
    found until then is returned. It is to be proved: see `logic.proof`.
    """
    labels = automaton.circuit.labels
    stages = [Stage("as trained", automaton.circuit)]
    draft = _Draft(nets.from_circuit(automaton.circuit, hashing=False), labels)
    stages.append(Stage("constants, pass-throughs, inverters folded", draft.circuit))
    draft = _Draft(nets.cleaned(draft.net), labels)
    stages.append(Stage("equal gates merged", draft.circuit))
    stopped = False
    for name, change in _changes(automaton.visible, effort, progress, deadline):
        progress()
        found = change(draft)
        # Inverters that outputs need can make more gates of a net that has no more.
        if found.circuit.gates <= draft.circuit.gates:
            draft = found
        stopped = stopped or deadline.passed
        stages.append(Stage(name, draft.circuit))
    return Simplification(automaton.with_circuit(draft.circuit), tuple(stages), stopped)


Change = Callable[[_Draft], _Draft]


def _changes(
    visible: tuple[int, ...], effort: Effort, progress: Progress, deadline: Deadline
) -> Iterator[tuple[str, Change]]:
    """Yield what is done and how, until the time is up; unread channels are dropped even then."""

    def drop(draft: _Draft) -> _Draft:
        return _drop_unread_channels(draft, visible)

    yield UNREAD_DROPPED, drop
    if not deadline.passed:
        yield "always equal signals merged", _reduced(progress, deadline)
    for leaves in (SMALL_WINDOW, LARGE_WINDOW):
        if not deadline.passed:
            name = f"gates replaced in windows of {leaves}"
            yield name, _swept(leaves, effort.passes, progress, deadline)
    if effort.window_leaves and not deadline.passed:
        yield "windows searched", _annealed(effort, progress, deadline)
    if effort.whole_inputs and not deadline.passed:
        yield "whole circuit searched", _searched(effort, progress, deadline)
    yield "channels dropped that are now unread", drop


def _drop_unread_channels(draft: _Draft, visible: tuple[int, ...]) -> _Draft:
    """Drop the channels that the future of `visible` (labels) does not depend on."""
    live = np.flatnonzero(live_channels(draft.circuit, visible)).tolist()
    labels = tuple(draft.labels[channel] for channel in live)
    return _Draft(nets.keep_channels(draft.net, live), labels)


def _reduced(progress: Progress, deadline: Deadline) -> Change:
    def change(draft: _Draft) -> _Draft:
        from difflogic.simplification.functional_reduction import reduce_functionally

        return _Draft(reduce_functionally(draft.net, progress, deadline), draft.labels)

    return change


def _swept(leaves: int, passes: int, progress: Progress, deadline: Deadline) -> Change:
    def change(draft: _Draft) -> _Draft:
        from difflogic.simplification import windows

        net = draft.net
        for seed in range(passes):
            before = nets.gates(net)
            net = windows.rewrite(net, leaves, 0, seed, progress, deadline)
            if nets.gates(net) == before:
                break
        return _Draft(net, draft.labels)

    return change


def _annealed(effort: Effort, progress: Progress, deadline: Deadline) -> Change:
    def change(draft: _Draft) -> _Draft:
        from difflogic.simplification import windows

        net = draft.net
        for seed, leaves in enumerate(effort.window_leaves):
            net = windows.rewrite(net, leaves, effort.window_moves, seed, progress, deadline)
        return _Draft(net, draft.labels)

    return change


def _searched(effort: Effort, progress: Progress, deadline: Deadline) -> Change:
    def change(draft: _Draft) -> _Draft:
        from difflogic.simplification import multistart

        net = multistart.search(draft.net, effort, progress, deadline)
        return _Draft(nets.cleaned(net), draft.labels)

    return change
