"""The stages of the search for a smaller circuit, in order, and the circuit after each stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.live_part import live_circuit
from difflogic.simplification import annealing, nets, windows
from difflogic.simplification.kernels import annealing as kernels
from difflogic.simplification.kernels.nets import Net
from difflogic.simplification.kernels.windows import find_window
from difflogic.system import jit
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.work import may_cancel, say

SMALL_WINDOW = 4
LARGE_WINDOW = 12
"""Leaves of the windows that are swept. Four cover the known laws of a few gates."""


@dataclass(frozen=True)
class EffortLimits:
    """How long to search, in moves, so that the result is the same every time."""

    passes: int
    """Most sweeps over the windows; a sweep that finds nothing is the last."""
    window_leaves: tuple[int, ...]
    """Leaves of the windows that are annealed, one pass each."""
    window_moves: int
    """Moves of annealing per gate of a window."""
    whole_inputs: int
    """Most inputs of a circuit that is annealed whole, and also rebuilt."""
    whole_moves: int
    """Moves of annealing from each start of a whole circuit; they double with each halving."""
    last_runs: int
    """Further runs from the best circuit, each as long as the longest before."""


EFFORTS = {
    "low": EffortLimits(2, (), 0, 0, 0, 0),
    "normal": EffortLimits(8, (8, 10), 20, 10, 20_000, 4),
    "high": EffortLimits(8, (8, 10, 12, 10, 12), 300, 12, 300_000, 12),
}
"""Efforts by the names that users give."""


@dataclass(frozen=True)
class Pass:
    """What was done, and the circuit after it."""

    name: str
    circuit: Circuit


@dataclass(frozen=True)
class Simplification:
    """An automaton with a smaller circuit, and the stages of the search; nothing is proved yet.

    The first stage is the original circuit. Each remaining channel has the same next state as
    before, whatever the dropped channels hold.
    """

    automaton: Automaton
    stages: tuple[Pass, ...]
    stopped: bool = False
    """Whether the time limit cut the search short; then its result depends on the machine."""

    @property
    def circuit(self) -> Circuit:
        return self.automaton.circuit


@dataclass(frozen=True, eq=False)
class _Draft:
    """The search's net, with the channels' labels and its circuit."""

    net: Net
    labels: tuple[int, ...]

    @cached_property
    def circuit(self) -> Circuit:
        return nets.to_circuit(self.net, self.labels)


def simplify(
    automaton: Automaton, effort: EffortLimits = EFFORTS["normal"], deadline: Deadline = NEVER
) -> Simplification:
    """Make the automaton's circuit as small as we can; visible channels behave as before.

    The same circuit and effort give the same result, unless `deadline` passes: then the result is
    what was found until then. The caller proves the result.
    """
    if not is_compiled():
        say("compiling the search for small circuits, once …")
    labels = automaton.circuit.labels
    stages = [Pass("as trained", automaton.circuit)]
    draft = _Draft(nets.from_circuit(automaton.circuit, hashing=False), labels)
    stages.append(Pass("constants, pass-throughs, inverters folded", draft.circuit))
    draft = _Draft(nets.cleaned(draft.net), labels)
    stages.append(Pass("equal gates merged", draft.circuit))
    stopped = False

    def take(name: str, found: _Draft) -> None:
        nonlocal draft, stopped
        # Inverters that outputs need can make a net's circuit larger though the net is not.
        if found.circuit.gates <= draft.circuit.gates:
            draft = found
        stopped = stopped or deadline.passed
        stages.append(Pass(name, draft.circuit))

    take("unread channels dropped", _drop_unread_channels(draft, automaton.visible))
    for name, change in _searches(effort, deadline):
        if not deadline.passed:
            may_cancel()
            take(name, _Draft(change(draft.net), draft.labels))
    take("newly unread channels dropped", _drop_unread_channels(draft, automaton.visible))
    return Simplification(automaton.with_circuit(draft.circuit), tuple(stages), stopped)


def _drop_unread_channels(draft: _Draft, visible: tuple[int, ...]) -> _Draft:
    """Drop the channels that the future of `visible` (labels) does not depend on."""
    small = live_circuit(draft.circuit, visible)
    return _Draft(nets.from_circuit(small), small.labels)


def _searches(
    effort: EffortLimits, deadline: Deadline
) -> Iterator[tuple[str, Callable[[Net], Net]]]:
    """Yield each search's name and function, in order."""

    def swept(leaves: int, net: Net) -> Net:
        for seed in range(effort.passes):
            before = nets.gates(net)
            net = windows.rewrite(net, leaves, 0, seed, deadline)
            if nets.gates(net) == before:
                break
        return net

    def annealed(net: Net) -> Net:
        for seed, leaves in enumerate(effort.window_leaves):
            net = windows.rewrite(net, leaves, effort.window_moves, seed, deadline)
        return net

    for leaves in (SMALL_WINDOW, LARGE_WINDOW):
        yield f"gates replaced in windows of {leaves}", partial(swept, leaves)
    if effort.window_leaves:
        yield "windows searched", annealed
    if effort.whole_inputs:

        def searched(net: Net) -> Net:
            inputs = effort.whole_inputs
            runs = effort.last_runs
            return nets.cleaned(annealing.search(net, inputs, effort.whole_moves, runs, deadline))

        yield "whole circuit searched", searched


def is_compiled() -> bool:
    """Return whether the kernels of all efforts are compiled on this machine."""
    return jit.is_compiled(kernels.anneal) and jit.is_compiled(find_window)
