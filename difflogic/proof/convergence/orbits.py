"""Follows the run of one start until its state repeats, also after damage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.proof.convergence.findings import Convergence, Counterexample
from difflogic.proof.convergence.planes import Board, Network, Planes, pack, unpack
from difflogic.system.array_types import Bits, Flags, Int64s
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import OutOfTimeError

MOST_ORBIT_STEPS = 2**20
"""Steps in which a run must repeat; without a limit, `math.inf`."""

LASTING = -1
NOT_KNOWN = -2
"""Stand for the steps to heal: the run repeats and is wrong again and again, or it was not followed
until it repeats."""

TOGETHER = 8
"""All damages of a state run side by side for this many steps per cell of the longer side."""

MOST_RESTING = 32
"""Most states to damage: runs with a longer period are not tried."""

MOST_ALONE = 2**17
"""Steps in which the runs that are left must repeat, all together: a few seconds."""

MOST_KNOWN = 2**12
"""Most states of a cycle to remember."""

SOON_GATES = 2**17
"""Gates of all the steps in which a start of zeros may settle whatever the time: milliseconds."""

Steps = Int64s


@dataclass(frozen=True)
class Orbit:
    """A run that repeats: the states of steps k and k + period are equal from step `first` on."""

    first: int
    period: int
    right: tuple[bool, ...]
    """Whether the target is shown at each step from 0 to first + period - 1."""

    def is_right(self, step: int) -> bool:
        """Return whether the target is shown at a step, however late."""
        if step >= self.first:
            step = self.first + (step - self.first) % self.period
        return self.right[step]

    @property
    def right_from(self) -> int | None:
        """The step from which the target always shows; None if it keeps going wrong."""
        wrong = [step for step, right in enumerate(self.right) if not right]
        if not wrong:
            return 0
        return None if wrong[-1] >= self.first else wrong[-1] + 1


def states(network: Network, board: Board, state: Planes) -> Iterator[Planes]:
    """Yield a state and its successors, endlessly."""
    while True:
        yield state
        state = network.step(board, state)


def repeated(
    network: Network, board: Board, start: Planes, deadline: Deadline, most: float
) -> tuple[Planes, int] | None:
    """Return a state that the run of `start` repeats, and the period.

    None after `most` steps or after `deadline`. Only three states are kept, whatever the length.
    Source: Brent 1980, "An improved Monte Carlo factorization algorithm".
    """
    power = period = steps = 1
    slow = start
    fast = network.step(board, start)
    while slow != fast:
        if power == period:
            slow, power, period = fast, 2 * power, 0
        last, fast = fast, network.step(board, fast)
        if last == fast:
            return fast, 1
        period += 1
        steps += 1
        if steps > most or deadline.passed:
            return None
    return fast, period


def cycle(
    network: Network,
    board: Board,
    start: Planes,
    deadline: Deadline = NEVER,
    most: float = MOST_ORBIT_STEPS,
) -> tuple[int, int] | None:
    """Return the first step whose state repeats, and the period; None as `repeated`."""
    found = repeated(network, board, start, deadline, most)
    if found is None:
        return None
    ahead = start
    period = found[1]
    for _ in range(period):
        ahead = network.step(board, ahead)
    behind = start
    first = 0
    while behind != ahead:
        behind, ahead = network.step(board, behind), network.step(board, ahead)
        first += 1
    return first, period


def orbit(
    question: Convergence, start: Planes, deadline: Deadline = NEVER, most: float = MOST_ORBIT_STEPS
) -> Orbit | None:
    """Run `start` until its state repeats; None after `most` steps or after `deadline`."""
    found = cycle(question.network, question.board, start, deadline, most)
    if found is None:
        return None
    run = states(question.network, question.board, start)
    right = tuple(question.is_right(next(run)) for _ in range(sum(found)))
    return Orbit(*found, right)


def resting_picture(
    automaton: Automaton,
    height: int,
    width: int,
    deadline: Deadline = NEVER,
    start: Bits | None = None,
) -> Bits | None:
    """Return what the visible channels finally show, from a start (C, H, W), by default zeros.

    Shape (visible channels, height, width). None if they change again and again. Raises
    OutOfTimeError after `deadline`.
    """
    network = Network(automaton.circuit)
    board = Board(height, width, automaton.boundary)
    first: Planes = (0,) * automaton.circuit.channels
    if start is not None:
        first = pack(board, start)
    size = 1 + len(network.inputs) + len(network.gates)
    soon = SOON_GATES // (size * (1 + board.cells // 4096))
    found = repeated(network, board, first, NEVER, soon)
    found = found or repeated(network, board, first, deadline, math.inf)
    if found is None:
        raise OutOfTimeError
    run = itertools.islice(states(network, board, found[0]), found[1])
    shown = (tuple(state[row] for row in automaton.visible_rows) for state in run)
    picture = next(shown)
    return unpack(board, picture) if all(each == picture for each in shown) else None


def counterexample(
    question: Convergence, start: Planes, deadline: Deadline = NEVER, most: int = MOST_ORBIT_STEPS
) -> Counterexample | None:
    """Return a wrong state that the run of `start` repeats, if any.

    None also after `most` steps or after `deadline`. Raises RuntimeError if the plain interpreter
    disagrees.
    """
    found = orbit(question, start, deadline, most)
    if found is None or all(found.right[found.first :]):
        return None
    for _ in range(found.right.index(False, found.first)):
        start = question.network.step(question.board, start)
    return Counterexample(_confirmed(question, start, found.period), found.period)


def _confirmed(question: Convergence, wrong: Planes, period: int) -> Bits:
    """Return a wrong state that repeats; RuntimeError if the plain interpreter disagrees."""
    first = state = unpack(question.board, wrong)
    for _ in range(period):
        state = plain_step(question, state)
    if (state != first).any() or (first[list(question.visible_places)] == question.target).all():
        raise RuntimeError("the plain interpreter disagrees with a counterexample")
    return first


def plain_step(question: Convergence, state: Bits) -> Bits:
    """Return the next state (channels, height, width), by the plain interpreter."""
    table = neighbors(question.height, question.width, question.boundary)
    cells = state.reshape(len(state), -1)
    seen = np.where(table == OUTSIDE, 0, cells[:, table]).transpose(1, 0, 2)
    inputs = seen.reshape(question.circuit.inputs, -1).astype(np.bool_)
    return question.circuit.next_state(inputs).reshape(state.shape).astype(np.uint8)


def random_starts(board: Board, channels: int, seed: int) -> Planes:
    """Return random states for all copies of a board."""
    rng = np.random.default_rng(seed)
    count = board.cells * board.copies
    mask = board.full
    return tuple(
        int.from_bytes(rng.bytes((count + 7) // 8), "little") & mask for _ in range(channels)
    )


def missed(question: Convergence, steps: int, starts: int, deadline: Deadline) -> Iterator[Planes]:
    """Yield the random starts that miss the target after `steps`; none after `deadline`."""
    board = Board(question.height, question.width, question.boundary, starts)
    first = state = random_starts(board, question.circuit.channels, 0)
    for _ in range(steps):
        if deadline.passed:
            return
        state = question.network.step(board, state)
    wrong = 0
    for channel, plane in zip(question.visible_places, question.target_planes, strict=True):
        wrong |= state[channel] ^ board.repeated(plane)
    one = question.board.full
    for copy in range(starts):
        at = copy * board.cells
        if wrong >> at & one:
            yield tuple(plane >> at & one for plane in first)


def run_from(question: Convergence, start: Planes, found: Orbit, step: int) -> list[Planes]:
    """Return each state that the run of `start` visits from a step on."""
    last = max(found.first, step) + found.period
    return list(itertools.islice(states(question.network, question.board, start), step, last))


def steps_to_heal(
    question: Convergence,
    resting: Sequence[Planes],
    patches: Bits,
    deadline: Deadline = NEVER,
    most: float = MOST_ALONE,
) -> Steps:
    """Return the steps until the target is back for good, shape (damages,), LASTING or NOT_KNOWN.

    Each of `patches` (damages, height, width) is 1 where it zeroes a cell. `resting` are the states
    of a run that stay right. Each of them is damaged; the maximum over them counts.

    All damages of a state run side by side until each reaches a state of `resting`. After some
    steps, the remaining ones are followed alone until they repeat: for `most` steps altogether, and
    until `deadline`.
    """
    alone = _Alone(question, dict.fromkeys(resting, 0), most, deadline)
    found = np.zeros(len(patches), np.int64)
    for state in resting:
        steps = _after_damage(question, resting, state, patches, alone)
        unsure = np.minimum(found, steps)
        # Something that never heals outweighs what is not known.
        lasting = (found == LASTING) | (steps == LASTING)
        found = np.where(lasting, LASTING, np.where(unsure < 0, unsure, np.maximum(found, steps)))
    return found


def _after_damage(
    question: Convergence, resting: Sequence[Planes], state: Planes, patches: Bits, alone: _Alone
) -> Steps:
    board = Board(question.height, question.width, question.boundary, len(patches))
    kept = board.full ^ board.pack(patches)
    now = tuple(board.repeated(plane) & kept for plane in state)
    goals = [tuple(board.repeated(plane) for plane in goal) for goal in resting]
    wanted = [board.repeated(plane) for plane in question.target_planes]

    def wrong() -> Flags:
        return _copies_that_differ(
            board, [now[channel] for channel in question.visible_places], wanted
        )

    def astray() -> Flags:
        return np.asarray(np.all([_copies_that_differ(board, now, goal) for goal in goals], axis=0))

    back = wrong().astype(np.int64)
    most = TOGETHER * max(question.height, question.width)
    for step in range(1, most + 1):
        now = question.network.step(board, now)
        missed = wrong()
        back[missed] = step + 1
        if not missed.any() and not astray().any():
            return back
    one = question.board.full
    for copy in np.flatnonzero(astray()).tolist():
        own = tuple(plane >> copy * board.cells & one for plane in now)
        later = alone.steps(own)
        if later:
            back[copy] = most + later if later > 0 else later
    return back


def _copies_that_differ(board: Board, planes: Sequence[int], others: Sequence[int]) -> Flags:
    """Return which copies of a board differ in any plane, shape (copies,)."""
    differing = 0
    for plane, other in zip(planes, others, strict=True):
        differing |= plane ^ other
    if not differing:
        return np.zeros(board.copies, np.bool_)
    cells = board.unpack(differing).reshape(board.copies, -1)
    return np.asarray(cells.any(axis=1))


@dataclass
class _Alone:
    """Follows single runs, `left` steps altogether."""

    question: Convergence
    known: dict[Planes, int]
    """The steps from a state until the target stays, LASTING or NOT_KNOWN."""
    left: float
    deadline: Deadline

    def steps(self, start: Planes) -> int:
        """Return the steps from a state until the target stays, LASTING or NOT_KNOWN."""
        found = self.known[start] = self._follow(start)
        return found

    def _follow(self, state: Planes) -> int:
        network = self.question.network
        board = self.question.board
        saved = None
        at = 0
        step = 0
        back = 0
        while state not in self.known:
            if self.left <= 0 or self.deadline.passed:
                return NOT_KNOWN
            if not self.question.is_right(state):
                back = step + 1
            if step & step - 1 == 0:  # as Brent does
                saved = state
                at = step
            state = network.step(board, state)
            step += 1
            self.left -= 1
            if state == saved:
                # Other damages mostly end in the same states.
                some = min(step - at, MOST_KNOWN)
                cycle = itertools.islice(states(network, board, state), some)
                if back > at:
                    run = states(network, board, state)
                    wrong = next(each for each in run if not self.question.is_right(each))
                    _confirmed(self.question, wrong, step - at)
                self.known |= dict.fromkeys(cycle, LASTING if back > at else 0)
        later = self.known[state]
        return step + later if later > 0 else later or back
