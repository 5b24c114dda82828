"""Whether a line of cells of any length computes what a machine prints: docs/computing.md.

A cell's *history* is what its left neighbour sees of it at each step, and a *mark* that is set once
the cell has to be right. The histories that can occur next to a machine in each of its states are
held in a finite automaton. It is closed if a cell whose right neighbour has one of them has one of
them itself. Where they are too many, histories with the same next few letters are taken as one
(regular model checking, Bouajjani et al. 2000), which can only add some.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Bits, evaluate
from difflogic.formats.circuit_file import write_circuit
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.files import VERSION, circuit_hash
from difflogic.system.errors import CircuitError
from difflogic.tasks import Machine

FORMAT = "dct-every-length"

MOST_CHANNELS = 6
"""A cell and its two neighbours then have 2^18 states together."""

MOST_STATES = 600
"""Of an automaton of histories, on which nodes are closed in a second or so."""

MOST_NODES = 60_000
"""Of a cell's own states beside its neighbour's histories."""

DEPTHS = (1, 2, 3, 4, 6)
"""How many letters ahead histories are told apart, one after the other."""

TRIED = 8
"""Bits of all inputs of a line of which every one is tried."""

LONGEST = 24
"""Cells of the longest line that is tried with random bits."""

WEST, CENTER, EAST = 3, 4, 5

Letter = int
"""What a neighbour sees of a cell, times two, plus the mark."""


@dataclass(frozen=True)
class Histories:
    """A deterministic automaton of histories; every state accepts, so it holds their beginnings."""

    moves: tuple[dict[Letter, int], ...]
    """For each state, where a letter leads."""
    first: dict[int, int]
    """For each state of the machine that can occur, where histories begin."""


@dataclass(frozen=True)
class EveryLength:
    """What is known about lines of every length."""

    automaton: Automaton
    """Its circuit is the part that matters, folded."""
    machine: Machine
    delay: int
    """A cell has to be right `delay` steps after its place from the right end, from 0."""
    histories: Histories | None = None
    """The proof, if there is one."""
    wrong: tuple[tuple[int, ...], int] | None = None
    """A line that refutes it, as what each cell reads from the right, and a wrong step."""
    reason: str = ""
    """Why it is open."""

    @property
    def proved(self) -> bool:
        return self.histories is not None

    @property
    def text(self) -> str:
        """The result in words."""
        lead = self.delay - 1
        steps = f"step n + {lead}" if lead else "step n"
        if self.histories is not None:
            return f"proved for every length n, from {steps} on"
        if self.wrong is not None:
            line, step = self.wrong
            return f"fails on a line of {len(line)} cells at step {step}"
        return f"not proved for every length: {self.reason}"

    @property
    def seen(self) -> list[int]:
        """The places, among the circuit's channels, of those that a cell's left neighbour reads."""
        circuit = self.automaton.circuit
        read = set(circuit.read_inputs.tolist())
        return [c for c in range(circuit.channels) if EAST * circuit.channels + c in read]

    def certificate(self) -> str:
        """Return the proof as JSON text, for a checker that shares no code.

        Raises CircuitError if there is none.
        """
        if self.histories is None:
            raise CircuitError(f"{self.automaton.name}: {self.text}")
        circuit = json.loads(write_circuit(self.automaton))
        moves = [
            {str(letter): to for letter, to in sorted(each.items())}
            for each in self.histories.moves
        ]
        parts: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "circuit_sha256": circuit_hash(circuit),
            "delay": self.delay,
            "seen": self.seen,
            "machine": {"moves": self.machine.moves, "prints": self.machine.prints},
            "first": {str(state): at for state, at in sorted(self.histories.first.items())},
            "histories": moves,
            "circuit": circuit,
        }
        return "{\n" + ",\n".join(f'  "{key}": {json.dumps(parts[key])}' for key in parts) + "\n}\n"


def prove(automaton: Automaton, machine: Machine, delay: int) -> EveryLength:
    """Prove that on n cells, for every n and all inputs, a line shows what a machine prints.

    Cell i from the right, from 0, has to be right at step i + delay and at every later one. The
    inputs are in the channels with labels 0 and following, all else begins with zeros.
    """
    small = live_part(automaton)
    reason = _unfit(small, delay)
    if not reason:
        cell = _Cell(small, machine, EveryLength(small, machine, delay).seen)
        wrong = _refute(cell, delay)
        if wrong is not None:
            return EveryLength(small, machine, delay, wrong=wrong)
        for depth in DEPTHS:
            found = _close(cell, delay, depth)
            if isinstance(found, Histories):
                return EveryLength(small, machine, delay, histories=found)
            reason = found
    return EveryLength(small, machine, delay, reason=reason)


def _unfit(automaton: Automaton, delay: int) -> str:
    if automaton.circuit.channels > MOST_CHANNELS:
        return f"the circuit has more than {MOST_CHANNELS} channels"
    if automaton.boundary != "zero" or automaton.fire_rate != 1:
        return "cells must fire together, and zeros lie beyond the edge"
    return "" if delay >= 1 else "there must be as many steps as cells"


class _Cell:
    """One cell of a line: above and below it lie zeros, and on its left may be anything."""

    def __init__(self, automaton: Automaton, machine: Machine, seen: list[int]) -> None:
        """`seen` are the channels that the left neighbour reads."""
        circuit = automaton.circuit
        self.machine, self.circuit = machine, circuit
        self.size = circuit.channels
        read = circuit.read_inputs.tolist()
        self.seen = seen
        self.left = [c for c in range(self.size) if WEST * self.size + c in read]
        (self.shown,) = automaton.visible_rows
        self._next = _table(circuit)
        self._nexts: dict[tuple[int, int], tuple[int, ...]] = {}
        self._labels = circuit.labels

    def start(self, number: int) -> int:
        """Return the first state of a cell that reads a number."""
        bits = range(self.machine.inputs)
        return sum(
            1 << place
            for place, label in enumerate(self._labels)
            if label in bits and number >> label & 1
        )

    def look(self, state: int) -> int:
        """Return what the left neighbour sees."""
        return sum((state >> channel & 1) << place for place, channel in enumerate(self.seen))

    def next(self, west: int, own: int, east: int) -> int:
        """Return the next state of a cell, from whole states."""
        return self._next[(west << self.size | own) << self.size | east]

    def nexts(self, own: int, sight: int) -> tuple[int, ...]:
        """Return all next states, from what is seen of the right neighbour."""
        key = own, sight
        if key not in self._nexts:
            east = sum((sight >> place & 1) << channel for place, channel in enumerate(self.seen))
            wests = [0]
            for channel in self.left:
                wests += [west | 1 << channel for west in wests]
            self._nexts[key] = tuple(sorted({self.next(west, own, east) for west in wests}))
        return self._nexts[key]


def _table(circuit: Circuit) -> list[int]:
    """Return the next state for each state of left neighbour, cell and right neighbour."""
    size = circuit.channels
    total = 1 << 3 * size
    ones = (1 << total) - 1
    inputs = [0] * circuit.inputs
    for neighbor, low in ((WEST, 2 * size), (CENTER, size), (EAST, 0)):
        for channel in range(size):
            period = 1 << low + channel
            inputs[neighbor * size + channel] = (
                ones // ((1 << 2 * period) - 1) * (((1 << period) - 1) << period)
            )
    rows = evaluate(circuit, inputs, Bits(ones))
    outputs = [bin(rows[row])[2:].zfill(total)[::-1] for row in circuit.outputs.tolist()]
    return [
        sum(1 << channel for channel, bits in enumerate(outputs) if bits[case] == "1")
        for case in range(total)
    ]


def _refute(cell: _Cell, delay: int) -> tuple[tuple[int, ...], int] | None:
    """Run short lines with all inputs and longer ones with random ones; return one that fails."""
    inputs, rng = cell.machine.inputs, np.random.default_rng(0)
    for length in range(1, LONGEST + 1):
        if length * inputs <= TRIED:
            lines = list(product(range(1 << inputs), repeat=length))
        else:
            lines = [tuple(line) for line in rng.integers(0, 1 << inputs, (4, length)).tolist()]
        for line in lines:
            wanted = cell.machine.run(list(line))
            states = [cell.start(number) for number in line]
            for step in range(2 * (length + delay)):
                shown = [state >> cell.shown & 1 for state in states]
                if step >= length - 1 + delay and shown != wanted:
                    return line, step
                around = [0, *states, 0]
                states = [
                    cell.next(around[place + 2], around[place + 1], around[place])
                    for place in range(length)
                ]
    return None


Node = Hashable


def _close(cell: _Cell, delay: int, depth: int) -> Histories | str:
    """Return closed histories that are right, or say what stands in the way."""
    found = _edge(delay)
    while True:
        nodes = _Nodes(cell, found)
        if nodes.wrong:
            return "histories that were taken together are not all right"
        if nodes.too_many:
            return "there are too many histories"
        if nodes.inside():
            return found
        both = _determine(nodes.starts, nodes.edges)
        if both is None:
            return "there are too many histories"
        merged = _merge(both, depth)
        if merged is None:
            return "there are too many histories"
        found = merged


def _edge(delay: int) -> Histories:
    """Return what lies beyond the edge: zeros, which are marked from step delay - 1 on."""
    waiting = [{0: place + 1} for place in range(delay - 1)]
    return Histories((*waiting, {1: delay - 1}), {0: 0})


class _Nodes:
    """All that a cell can do whose right neighbour has one of some histories.

    A node is the neighbour's place in its history, the cell's state, its mark, and the bit that it
    has to show.
    """

    def __init__(self, cell: _Cell, histories: Histories) -> None:
        self._cell, self._histories = cell, histories
        self.starts: dict[int, set[Node]] = {}
        for state, at in histories.first.items():
            self.starts.setdefault(state, set()).add(at)
            moves, prints = cell.machine.moves[state], cell.machine.prints[state]
            for number, after in enumerate(moves):
                node = at, cell.start(number), 0, prints[number]
                self.starts.setdefault(after, set()).add(node)
        self.wrong = self.too_many = False
        self._after: dict[Any, tuple[Letter, tuple[Any, ...]]] = {}
        waiting: list[Any] = [
            node for nodes in self.starts.values() for node in nodes if not isinstance(node, int)
        ]
        while waiting:
            node = waiting.pop()
            if node in self._after:
                continue
            at, own, mark, wanted = node
            if mark and own >> cell.shown & 1 != wanted:
                self.wrong = True
                return
            if len(self._after) > MOST_NODES:
                self.too_many = True
                return
            reached = tuple(
                (to, new, letter & 1, wanted)
                for letter, to in histories.moves[at].items()
                for new in cell.nexts(own, letter >> 1)
            )
            self._after[node] = 2 * cell.look(own) + mark, reached
            waiting.extend(reached)

    def edges(self, node: Any) -> Iterator[tuple[Letter, Node]]:
        """Yield the letters that a node, or a place in a neighbour's history, leads on by."""
        if isinstance(node, int):
            yield from self._histories.moves[node].items()
        else:
            letter, after = self._after[node]
            for each in after:
                yield letter, each

    def inside(self) -> bool:
        """Whether the cell's own histories are among its neighbour's."""
        moves, first = self._histories.moves, self._histories.first
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


def _determine(starts: dict[int, set[Node]], edges: Any) -> Histories | None:
    """Return the deterministic automaton of the same histories; None if it is too large."""
    places: dict[frozenset[Node], int] = {}

    def place(nodes: Iterable[Node]) -> int:
        return places.setdefault(frozenset(nodes), len(places))

    first = {state: place(nodes) for state, nodes in sorted(starts.items())}
    moves: list[dict[Letter, int]] = []
    while len(moves) < len(places):
        if len(places) > 20 * MOST_STATES:
            return None
        current = list(places)[len(moves)]
        reached: dict[Letter, set[Node]] = {}
        for node in current:
            for letter, to in edges(node):
                reached.setdefault(letter, set()).add(to)
        moves.append({letter: place(reached[letter]) for letter in sorted(reached)})
    return Histories(tuple(moves), first)


def _merge(found: Histories, depth: int) -> Histories | None:
    """Take states as one whose histories are the same for some letters, then the same for ever."""
    kinds = _kinds(found, depth)

    members: dict[int, list[int]] = {}
    for state, kind in enumerate(kinds):
        members.setdefault(kind, []).append(state)

    def edges(kind: Any) -> Iterator[tuple[Letter, Node]]:
        for state in members[kind]:
            for letter, to in found.moves[state].items():
                yield letter, kinds[to]

    merged = _determine({state: {kinds[at]} for state, at in found.first.items()}, edges)
    if merged is None:
        return None
    kinds = _kinds(merged, len(merged.moves))
    smaller = [
        {letter: kinds[to] for letter, to in merged.moves[kinds.index(kind)].items()}
        for kind in range(max(kinds) + 1)
    ]
    if len(smaller) > MOST_STATES:
        return None
    return Histories(tuple(smaller), {state: kinds[at] for state, at in merged.first.items()})


def _kinds(found: Histories, depth: int) -> list[int]:
    """Number the states so that those with the same next `depth` letters have the same number."""
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
