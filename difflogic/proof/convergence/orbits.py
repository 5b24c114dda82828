"""One start's every later step: its run until the state repeats."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence.findings import Bits, Counterexample, Question
from difflogic.proof.convergence.planes import Board, Network, Planes, unpack
from difflogic.system.deadline import NEVER, Deadline

MOST_STEPS = 2**20
"""Steps in which a state has to come back."""


@dataclass(frozen=True)
class Orbit:
    """A run that repeats: `right[k]` tells whether the target is shown at step k.

    Step k ≥ first + period is as step k - period.
    """

    first: int
    """The first step whose state comes back."""
    period: int
    right: tuple[bool, ...]
    """Of steps 0 to first + period - 1."""

    def is_right(self, step: int) -> bool:
        """Return whether the target is shown at any step, however late."""
        if step >= self.first:
            step = self.first + (step - self.first) % self.period
        return self.right[step]

    @property
    def right_from(self) -> int | None:
        """The step from which the target is shown for ever; None if it never is."""
        wrong = [step for step, right in enumerate(self.right) if not right]
        if not wrong:
            return 0
        return None if wrong[-1] >= self.first else wrong[-1] + 1

    @property
    def wrong_step(self) -> int | None:
        """A step among those that repeat at which the target is missed, or None."""
        wrong = (k for k in range(self.first, self.first + self.period) if not self.right[k])
        return next(wrong, None)


def states(network: Network, board: Board, state: Planes) -> Iterator[Planes]:
    """Yield a state and those after it, for ever."""
    while True:
        yield state
        state = network.step(board, state)


def cycle(
    network: Network,
    board: Board,
    start: Planes,
    deadline: Deadline = NEVER,
    most: int = MOST_STEPS,
) -> tuple[int, int] | None:
    """Return the first step whose state comes back, and after how many steps it does.

    None if that takes too many steps or too long. Two states are kept, whatever the length.
    Source: Brent 1980, "An improved Monte Carlo factorization algorithm".
    """
    power = period = steps = 1
    slow, fast = start, network.step(board, start)
    while slow != fast:
        if power == period:
            slow, power, period = fast, 2 * power, 0
        fast = network.step(board, fast)
        period += 1
        steps += 1
        if steps > most or deadline.passed:
            return None
    ahead = start
    for _ in range(period):
        ahead = network.step(board, ahead)
    behind, first = start, 0
    while behind != ahead:
        behind, ahead = network.step(board, behind), network.step(board, ahead)
        first += 1
    return first, period


def orbit(
    question: Question, start: Planes, deadline: Deadline = NEVER, most: int = MOST_STEPS
) -> Orbit | None:
    """Run `start` until its state repeats; None if that takes too many steps or too long."""
    found = cycle(question.network, question.board, start, deadline, most)
    if found is None:
        return None
    run = states(question.network, question.board, start)
    right = tuple(question.is_right(next(run)) for _ in range(sum(found)))
    return Orbit(*found, right)


def resting_picture(automaton: Automaton, height: int, width: int) -> Bits | None:
    """Return what the visible channels show in the end, from a start of zeros.

    Shape (visible channels, height, width). None if that never rests, or not soon enough.
    """
    network, board = Network(automaton.circuit), Board(height, width, automaton.boundary)
    state: Planes = (0,) * automaton.circuit.channels
    found = cycle(network, board, state)
    if found is None:
        return None
    run = states(network, board, state)
    shown = [
        tuple(state[row] for row in automaton.visible_rows)
        for state in itertools.islice(run, found[0], sum(found))
    ]
    return unpack(board, shown[0]) if len(set(shown)) == 1 else None


def counterexample(
    question: Question, start: Planes, deadline: Deadline = NEVER, most: int = MOST_STEPS
) -> Counterexample | None:
    """Return a state that the run of `start` comes back to and that misses the target, if any.

    None also if the run takes too many steps or too long. Raises RuntimeError if the plain
    interpreter does not agree.
    """
    found = orbit(question, start, deadline, most)
    if found is None or found.wrong_step is None:
        return None
    for _ in range(found.wrong_step):
        start = question.network.step(question.board, start)
    first = state = unpack(question.board, start)
    for _ in range(found.period):
        state = plain_step(question, state)
    if (state != first).any() or (first[list(question.shown)] == question.target).all():
        raise RuntimeError("the plain interpreter disagrees with a counterexample")
    return Counterexample(first, found.period)


def plain_step(question: Question, state: Bits) -> Bits:
    """Return the state (channels, height, width) after a step, cell by cell and gate by gate."""
    table = neighbors(question.height, question.width, question.boundary)
    cells = state.reshape(len(state), -1)
    seen = np.where(table == OUTSIDE, 0, cells[:, table]).transpose(1, 0, 2)
    inputs = seen.reshape(question.circuit.inputs, -1).astype(np.bool_)
    return question.circuit.next_state(inputs).reshape(state.shape).astype(np.uint8)


def random_starts(board: Board, channels: int, seed: int) -> Planes:
    """Return random bits in all copies of a board."""
    rng = np.random.default_rng(seed)
    count = board.cells * board.copies
    mask = board.full
    return tuple(
        int.from_bytes(rng.bytes((count + 7) // 8), "little") & mask for _ in range(channels)
    )


def missed(
    question: Question, steps: int, starts: int, deadline: Deadline = NEVER
) -> Iterator[Planes]:
    """Try random starts; yield those that miss the target after `steps`, none out of time."""
    board = Board(question.height, question.width, question.boundary, starts)
    first = state = random_starts(board, question.circuit.channels, 0)
    for _ in range(steps):
        if deadline.passed:
            return
        state = question.network.step(board, state)
    wrong = 0
    for channel, plane in zip(question.shown, question.wanted, strict=True):
        wrong |= state[channel] ^ board.repeated(plane)
    one = question.board.full
    for copy in range(starts):
        at = copy * board.cells
        if wrong >> at & one:
            yield tuple(plane >> at & one for plane in first)
