"""The stages of the search for a smaller circuit, in order, and what the circuit is after each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from difflogic.circuit.circuit import Circuit
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
    circuit: Circuit


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
    def circuit(self) -> Circuit:
        return self.automaton.circuit


Progress = Callable[[], object]
"""Is called again and again, after each step of whatever length."""


@dataclass(frozen=True, eq=False)
class _Draft:
    """The circuit as the search sees it, and as it is seen from outside."""

    net: Net
    labels: tuple[int, ...]

    @cached_property
    def circuit(self) -> Circuit:
        return nets.to_circuit(self.net, self.labels)


def simplify(
    automaton: Automaton,
    effort: Effort = EFFORTS["normal"],
    progress: Progress = lambda: None,
    deadline: Deadline = NEVER,
) -> Simplification:
    """Make the automaton's circuit as small as we can; visible channels behave as before.

    The same circuit and effort give the same result, unless `deadline` passes: then what was
    found until then is returned. It is to be proved.
    """
    labels = automaton.circuit.labels
    stages = [Stage("as trained", automaton.circuit)]
    draft = _Draft(nets.from_circuit(automaton.circuit, hashing=False), labels)
    stages.append(Stage("constants, pass-throughs, inverters folded", draft.circuit))
    draft = _Draft(nets.cleaned(draft.net), labels)
    stages.append(Stage("equal gates merged", draft.circuit))
    stopped = False

    def take(name: str, found: _Draft) -> None:
        nonlocal draft, stopped
        # Inverters that outputs need can make more gates of a net that has no more.
        if found.circuit.gates <= draft.circuit.gates:
            draft = found
        stopped = stopped or deadline.passed
        stages.append(Stage(name, draft.circuit))

    take("unread channels dropped", _drop_unread_channels(draft, automaton.visible))
    for name, change in _searches(effort, progress, deadline):
        if not deadline.passed:
            progress()
            take(name, _Draft(change(draft.net), draft.labels))
    take("channels dropped that are now unread", _drop_unread_channels(draft, automaton.visible))
    return Simplification(automaton.with_circuit(draft.circuit), tuple(stages), stopped)


def _drop_unread_channels(draft: _Draft, visible: tuple[int, ...]) -> _Draft:
    """Drop the channels that the future of `visible` (labels) does not depend on."""
    live = np.flatnonzero(live_channels(draft.circuit, visible)).tolist()
    labels = tuple(draft.labels[channel] for channel in live)
    return _Draft(nets.keep_channels(draft.net, live), labels)


def _searches(
    effort: Effort, progress: Progress, deadline: Deadline
) -> Iterator[tuple[str, Callable[[Net], Net]]]:
    """Yield what is tried in turn, and how."""
    from difflogic.simplification import multistart, windows
    from difflogic.simplification.functional_reduction import reduce_functionally

    def swept(leaves: int, net: Net) -> Net:
        for seed in range(effort.passes):
            before = nets.gates(net)
            net = windows.rewrite(net, leaves, 0, seed, progress, deadline)
            if nets.gates(net) == before:
                break
        return net

    def annealed(net: Net) -> Net:
        for seed, leaves in enumerate(effort.window_leaves):
            net = windows.rewrite(net, leaves, effort.window_moves, seed, progress, deadline)
        return net

    yield ("always equal signals merged", lambda net: reduce_functionally(net, progress, deadline))
    for leaves in (SMALL_WINDOW, LARGE_WINDOW):
        yield f"gates replaced in windows of {leaves}", partial(swept, leaves)
    if effort.window_leaves:
        yield "windows searched", annealed
    if effort.whole_inputs:
        yield (
            "whole circuit searched",
            lambda net: nets.cleaned(multistart.search(net, effort, progress, deadline)),
        )
