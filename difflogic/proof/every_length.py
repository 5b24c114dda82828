"""Proves what lines of cells of any length compute: docs/computing.md.

A *machine* goes along the line; its prints are the target. A cell's *history* is what its left
neighbour sees of it at each step, with a *mark* that is set once the cell must be right. For each
state of the machine, a finite automaton holds the histories that can occur next to it. It is
closed if a cell whose right neighbour has one of them has one of them itself.

First guess: a neighbour shows anything, and at last, for good, what a cell settles in, whatever it
was before. That is enough for cells that do just what the machine's table says. Otherwise, the
histories of the edge are taken, and those of the cells that follow are added. If there are too
many, those with the same next few letters are merged (regular model checking, Bouajjani et al.
2000), which can only add histories.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.case_words import next_states
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Machine
from difflogic.proof.answer import TIME_IS_UP, Answer, Assurance, Budget, Method
from difflogic.proof.certificates import proof_text
from difflogic.proof.question import Asked
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Ints
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import CircuitError

FORMAT = "dct-every-length"

MOST_LINE_CHANNELS = 6
"""A cell and its two neighbours then have 2^18 states together."""

MOST_LINE_GATES = 2**13
"""Each takes 2^18 bits for these states."""

MOST_HISTORY_STATES = 600
"""Most states of an automaton of histories; closing one this large takes about a second."""

MOST_HISTORY_PAIRS = 60_000
"""Most pairs of a cell's own state and its neighbour's history."""

MOST_LATE = 4
"""Steps that a guess leaves a cell to show what it settles in."""

DEPTHS = (1, 2, 3, 4, 6)
"""How many letters ahead to tell histories apart, tried in this order."""

MOST_TRIED_BITS = 8
"""Lines with up to this many input bits are tried with all inputs."""

LONGEST_TRIED = 24
"""Longest line to try with random inputs."""

WEST = 3
CENTER = 4
EAST = 5

Letter = int
"""What the neighbour sees of a cell, times two, plus the mark."""

TOO_MANY = "there are too many histories"


@dataclass(frozen=True)
class Histories:
    """A deterministic automaton of histories. Every state accepts, so it also holds prefixes."""

    moves: tuple[dict[Letter, int], ...]
    """For each state, the next state by letter."""
    first: dict[int, int]
    """For each possible state of the machine, the first state of its histories."""


class _OpenError(Exception):
    """The proof fails for the given reason."""


@dataclass(frozen=True, eq=False)
class AnyLength:
    """Asks whether lines of any length show what a machine prints, as `every_length` says."""

    automaton: Automaton
    machine: Machine
    delay: int
    steps: int
    """From which step on its own line is right, if it is proved."""


@dataclass(frozen=True)
class EveryLength:
    """What is known about lines of every length."""

    automaton: Automaton
    """With the live part of the circuit only, folded."""
    machine: Machine
    delay: int
    """Cell i from the right, from 0, must be right from step i + delay on."""
    histories: Histories | None = None
    """The proof, if there is one."""
    wrong: tuple[tuple[int, ...], int] | None = None
    """A counterexample: what each cell reads, from the right, and a step at which it is wrong."""
    reason: str = ""
    """Why the question is open."""

    @property
    def proved(self) -> bool:
        return self.histories is not None

    @property
    def asked(self) -> Asked:
        """The question in plain values."""
        step = f"n + {self.delay - 1}" if self.delay > 1 else "n"
        return Asked.of(self.automaton, "computes", "every input", (1, None), step)

    @property
    def text(self) -> str:
        """The result in words."""
        if self.histories is not None:
            return f"proved for every length n, from step {self.asked.step} on"
        if self.wrong is not None:
            line, step = self.wrong
            return f"fails on a line of {len(line)} cells at step {step}"
        return f"not proved for every length: {self.reason}"

    @property
    def left_reads(self) -> list[int]:
        """Positions of the channels that a cell's left neighbour reads."""
        return _read_channels(self.automaton.circuit, EAST)

    def certificate(self) -> str:
        """Return the proof as JSON text, for a checker that shares no code.

        Raises CircuitError if nothing is proved.
        """
        if self.histories is None:
            raise CircuitError(f"{self.automaton.name}: {self.text}")
        moves = self.histories.moves
        first = self.histories.first
        parts = {
            "delay": self.delay,
            "seen": self.left_reads,
            "machine": {"moves": self.machine.moves, "prints": self.machine.prints},
            "first": {str(state): at for state, at in sorted(first.items())},
            "histories": [
                {str(letter): to for letter, to in sorted(each.items())} for each in moves
            ],
        }
        return proof_text(FORMAT, self.automaton, self.asked, parts)


def _read_channels(circuit: Circuit, neighbor: int) -> list[int]:
    """Return the channels, by position, that a cell reads of a neighbour."""
    read = set(circuit.read_inputs.tolist())
    return [c for c in range(circuit.channels) if neighbor * circuit.channels + c in read]


def every_length(
    automaton: Automaton, machine: Machine, delay: int, deadline: Deadline = NEVER
) -> EveryLength:
    """Prove that lines of n cells, for every n and all inputs, show what a machine prints.

    Cell i from the right, from 0, must be right at step i + delay and at every later one. The
    inputs are in the channels labelled 0, 1, …; all other channels begin with zeros.
    """
    small = live_part(automaton)
    found = EveryLength(small, machine, delay, reason=_unfit(small, delay))
    if found.reason:
        return found
    cell = _Cell(small, machine)
    wrong = _refute(cell, delay)
    if wrong is not None:
        return replace(found, wrong=wrong)
    for depth in (None, *DEPTHS):
        try:
            return replace(found, histories=_close(cell, delay, depth, deadline), reason="")
        except _OpenError as error:
            found = replace(found, reason=str(error))
    return found


def _unfit(automaton: Automaton, delay: int) -> str:
    if automaton.circuit.channels > MOST_LINE_CHANNELS:
        return f"the circuit has more than {MOST_LINE_CHANNELS} channels"
    if automaton.circuit.gates > MOST_LINE_GATES:
        return f"the circuit has more than {MOST_LINE_GATES} gates"
    if automaton.boundary != "zero" or automaton.fire_rate != 1:
        return "cells must fire together, with zeros beyond the edge"
    return "" if delay >= 1 else "there must be at least as many steps as cells"


class _Cell:
    """One cell of a line: zeros above and below, and anything on its left."""

    def __init__(self, automaton: Automaton, machine: Machine) -> None:
        circuit = automaton.circuit
        self.machine = machine
        self.size = circuit.channels
        self.left_reads = _read_channels(circuit, EAST)
        self.right_reads = _read_channels(circuit, WEST)
        (self.visible_place,) = automaton.visible_rows
        near = [each * self.size + c for each in (EAST, CENTER, WEST) for c in range(self.size)]
        self._table = next_states(circuit, near, range(self.size))
        self._next = self._table.tolist()
        self._next_states: dict[tuple[int, int], tuple[int, ...]] = {}
        self._labels = circuit.labels

    def start(self, number: int) -> int:
        """Return the first state of a cell with a number as its input."""
        bits = range(self.machine.inputs)
        return sum(
            1 << place
            for place, label in enumerate(self._labels)
            if label in bits and number >> label & 1
        )

    def visible_to_left(self, state: int) -> int:
        """Return what the left neighbour sees of a state."""
        return sum((state >> channel & 1) << place for place, channel in enumerate(self.left_reads))

    def next_of_all(self, west: Ints, own: Ints, east: Ints) -> Ints:
        """Return the next states of many cells."""
        found: Ints = self._table[(west << self.size | own) << self.size | east]
        return found

    def next_states(self, own: int, sight: int) -> tuple[int, ...]:
        """Return all possible next states, given what the cell sees of its right neighbour."""
        key = own, sight
        if key not in self._next_states:
            east = sum(
                (sight >> place & 1) << channel for place, channel in enumerate(self.left_reads)
            )
            wests = [0]
            for channel in self.right_reads:
                wests += [west | 1 << channel for west in wests]
            near = own << self.size | east
            after = {self._next[west << 2 * self.size | near] for west in wests}
            self._next_states[key] = tuple(sorted(after))
        return self._next_states[key]


def _refute(cell: _Cell, delay: int) -> tuple[tuple[int, ...], int] | None:
    """Try short lines with all inputs and longer ones with random inputs; return one that fails."""
    inputs = cell.machine.inputs
    rng = np.random.default_rng(0)
    for length in range(1, LONGEST_TRIED + 1):
        if length * inputs <= MOST_TRIED_BITS:
            lines = list(product(range(1 << inputs), repeat=length))
        else:
            lines = [tuple(line) for line in rng.integers(0, 1 << inputs, (4, length)).tolist()]
        wanted = np.array([cell.machine.run(list(line)) for line in lines])
        states = np.array([[cell.start(number) for number in line] for line in lines])
        around = np.zeros((len(lines), length + 2), np.int64)
        fails_at = np.full(len(lines), -1)
        for step in range(2 * (length + delay)):
            if step >= length - 1 + delay:
                wrong = ((states >> cell.visible_place & 1) != wanted).any(axis=1)
                fails_at[wrong & (fails_at < 0)] = step
            around[:, 1:-1] = states
            states = cell.next_of_all(around[:, 2:], states, around[:, :-2])
        for number in np.flatnonzero(fails_at >= 0)[:1].tolist():
            return lines[number], int(fails_at[number])
    return None


def _decide(question: AnyLength, budget: Budget, before: Answer | None) -> Answer:
    found = every_length(question.automaton, question.machine, question.delay, budget.deadline)
    verdict = Verdict.open if found.wrong is None else Verdict.refuted
    verdict = Verdict.proved if found.proved else verdict
    step = question.steps if found.proved else None
    name = HISTORIES.name
    return Answer(
        Assurance(verdict, "every length", found.text, name, step, asked=found.asked), found
    )


HISTORIES = Method("histories", 1, lambda each: isinstance(each, AnyLength), _decide)

Vertex = Hashable


def _close(cell: _Cell, delay: int, depth: int | None, deadline: Deadline) -> Histories:
    """Return closed histories that are right: by merging, or those guessed without a `depth`.

    Raises _OpenError if it finds no such histories.
    """
    found = _guess(cell, delay) if depth is None else _edge(delay)
    while not (nodes := _Nodes(cell, found)).inside():
        if depth is None:
            raise _OpenError("cells do more than the machine's table says")
        if deadline.passed:
            raise _OpenError(TIME_IS_UP)
        found = _merge(_determine(nodes.starts, nodes.edges), depth)
    return found


def _guess(cell: _Cell, delay: int) -> Histories:
    """Return histories of anything, then for good of what a cell settles in, and is marked later.

    Raises _OpenError if what is seen of a cell is not settled a step after its neighbour.
    """
    settled = {0: {0}}
    waiting = [(0, 0)]
    inputs = cell.start((1 << cell.machine.inputs) - 1)
    while waiting:
        state, sight = waiting.pop()
        for number, after in enumerate(cell.machine.moves[state]):
            own = cell.start(number)
            owns = [each for each in range(1 << cell.size) if each & inputs == own]
            shown = {
                cell.visible_to_left(new) for each in owns for new in cell.next_states(each, sight)
            }
            if len(shown) > 1:
                raise _OpenError("cells do not settle at once")
            if not shown <= settled.setdefault(after, set()):
                settled[after] |= shown
                waiting.append((after, shown.pop()))
    sights = range(1 << len(cell.left_reads))
    late = min(delay, MOST_LATE)

    def edges(vertex: Any) -> Iterator[tuple[Letter, Vertex]]:
        state, sight, steps = vertex
        if sight is None:
            yield from ((2 * each, vertex) for each in sights)
        for each in settled[state] if sight is None else [sight]:
            # Marked once it was seen for some steps before.
            marked = steps >= late - 1
            yield 2 * each + marked, (state, each, steps + (not marked))

    return _determine({state: {(state, None, 0)} for state in settled}, edges)


def _edge(delay: int) -> Histories:
    """Return the history beyond the edge: zeros, marked from step delay - 1 on."""
    waiting = [{0: place + 1} for place in range(delay - 1)]
    return Histories((*waiting, {1: delay - 1}), {0: 0})


class _Nodes:
    """All runs of a cell whose right neighbour has one of some histories, as a graph.

    A node says where a run is: how far the neighbour's history has come, the cell's own state and
    mark, and the bit that the cell must show. `starts` has the nodes where runs begin, by the state
    of the machine; a plain number among them is a vertex of `histories`: the neighbour itself.
    """

    def __init__(self, cell: _Cell, histories: Histories) -> None:
        self._cell = cell
        self._histories = histories
        self.starts: dict[int, set[Vertex]] = {}
        for state, at in histories.first.items():
            self.starts.setdefault(state, set()).add(at)
            moves = cell.machine.moves[state]
            prints = cell.machine.prints[state]
            for number, after in enumerate(moves):
                node = at, cell.start(number), 0, prints[number]
                self.starts.setdefault(after, set()).add(node)
        self._after: dict[Any, tuple[Letter, tuple[Any, ...]]] = {}
        waiting: list[Any] = [
            node for nodes in self.starts.values() for node in nodes if not isinstance(node, int)
        ]
        while waiting:
            node = waiting.pop()
            if node in self._after:
                continue
            at, own, mark, wanted = node
            if mark and own >> cell.visible_place & 1 != wanted:
                raise _OpenError("some merged histories are wrong")
            if len(self._after) > MOST_HISTORY_PAIRS:
                raise _OpenError(TOO_MANY)
            reached = tuple(
                (to, new, letter & 1, wanted)
                for letter, to in histories.moves[at].items()
                for new in cell.next_states(own, letter >> 1)
            )
            self._after[node] = 2 * cell.visible_to_left(own) + mark, reached
            waiting.extend(reached)

    def edges(self, node: Any) -> Iterator[tuple[Letter, Vertex]]:
        """Yield the letters that lead on from a node, and the next nodes."""
        if isinstance(node, int):
            yield from self._histories.moves[node].items()
        else:
            letter, after = self._after[node]
            for each in after:
                yield letter, each

    def inside(self) -> bool:
        """Return whether the cell's own histories are among its neighbour's."""
        moves = self._histories.moves
        first = self._histories.first
        waiting: list[tuple[Any, int]] = []
        for state, nodes in self.starts.items():
            if state not in first:
                return False
            waiting += [(node, first[state]) for node in nodes if not isinstance(node, int)]
        seen = set(waiting)
        while waiting:
            node, at = waiting.pop()
            letter, after = self._after[node]
            if letter not in moves[at]:
                return False
            for pair in [(each, moves[at][letter]) for each in after]:
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)
        return True


def _determine(
    starts: dict[int, set[Vertex]], edges: Callable[[Any], Iterable[tuple[Letter, Vertex]]]
) -> Histories:
    """Return a deterministic automaton of the same histories. Raises _OpenError if too large."""
    places: dict[frozenset[Vertex], int] = {}

    def place(nodes: Iterable[Vertex]) -> int:
        return places.setdefault(frozenset(nodes), len(places))

    first = {state: place(nodes) for state, nodes in sorted(starts.items())}
    moves: list[dict[Letter, int]] = []
    while len(moves) < len(places):
        if len(places) > 20 * MOST_HISTORY_STATES:
            raise _OpenError(TOO_MANY)
        current = list(places)[len(moves)]
        reached: dict[Letter, set[Vertex]] = {}
        for node in current:
            for letter, to in edges(node):
                reached.setdefault(letter, set()).add(to)
        moves.append({letter: place(reached[letter]) for letter in sorted(reached)})
    return Histories(tuple(moves), first)


def _merge(found: Histories, depth: int) -> Histories:
    """Merge states with the same next `depth` letters, then minimize. Raises _OpenError."""
    kinds = _kinds(found, depth)
    members: dict[int, list[int]] = {}
    for state, kind in enumerate(kinds):
        members.setdefault(kind, []).append(state)

    def edges(kind: Any) -> Iterator[tuple[Letter, Vertex]]:
        for state in members[kind]:
            for letter, to in found.moves[state].items():
                yield letter, kinds[to]

    merged = _determine({state: {kinds[at]} for state, at in found.first.items()}, edges)
    kinds = _kinds(merged, len(merged.moves))
    smaller = [
        {letter: kinds[to] for letter, to in merged.moves[kinds.index(kind)].items()}
        for kind in range(max(kinds) + 1)
    ]
    if len(smaller) > MOST_HISTORY_STATES:
        raise _OpenError(TOO_MANY)
    return Histories(tuple(smaller), {state: kinds[at] for state, at in merged.first.items()})


def _kinds(found: Histories, depth: int) -> list[int]:
    """Number the states; those with the same next `depth` letters share a number."""
    kinds = [0] * len(found.moves)
    for _ in range(depth):
        signs = [
            (kinds[state], tuple((letter, kinds[to]) for letter, to in sorted(moves.items())))
            for state, moves in enumerate(found.moves)
        ]
        numbers: dict[Any, int] = {}
        new = [numbers.setdefault(sign, len(numbers)) for sign in signs]
        if max(new) == max(kinds):
            return new
        kinds = new
    return kinds
