"""Writes claims about grids as safety properties in AIGER 1.9, for other model checkers.

Latches hold the bits of all cells and a counter: its number j is 1 once j + 1 steps are taken. The
bad state is one where all of these are 1 and a visible bit is wrong. If cells fire one by one, each
has an input that lets it fire, and a latch that remembers this until all cells have fired. That
ends a round, and the counter counts rounds.

For damage, the inputs hold the number of a patch. Its cells become 0 once, before the cells are
updated, and steps are counted from there. Numbers beyond the last patch do nothing.

A certificate by sets becomes three outputs, which must be 0 for all inputs: the first states leave
the invariant, a step leaves it, and a bad state is in it.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Yu, Biere and Heljanko 2021,
"Progress in certifying hardware model checking results".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import count, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.circuit.xag import FALSE, TRUE
from difflogic.formats.write_aiger import Graph
from difflogic.proof.convergence.findings import Finding, Question
from difflogic.proof.convergence.orbits import TOGETHER
from difflogic.proof.convergence.planes import pack, unpack
from difflogic.proof.convergence.sets import as_array
from difflogic.system.errors import CircuitError

UNKNOWN = 2
"""An unknown bit in `as_array`."""


class Model:
    """A grid as latches, and a question about it as literals.

    A run begins with the bits `start` (C, H, W), or with any bits if None. `patches` (damages, H,
    W) are 1 where a damage zeroes a cell; steps are then counted from the damage on. A visible bit
    may be wrong during the first `within` counted steps, by default all.
    """

    def __init__(
        self,
        question: Question,
        steps: int,
        start: npt.NDArray[Any] | None = None,
        patches: npt.NDArray[Any] | None = None,
        within: int | None = None,
    ) -> None:
        self.question, self.steps, self.patches = question, steps, patches
        cells, channels = question.height * question.width, question.circuit.channels
        fired = 0 if question.synchronous else cells
        self.inputs = fired if patches is None else len(patches).bit_length()
        bits = channels * cells
        recalled = 0 if within is None else self.inputs
        self.graph = Graph(self.inputs + bits + fired + steps + recalled)
        places = count(2, 2)
        self.fire = [next(places) for _ in range(self.inputs)]
        """The inputs. With patches: the bits of a patch's number, the lowest first."""
        self.state = np.array([next(places) for _ in range(bits)]).reshape(channels, cells)
        self.fired = [next(places) for _ in range(fired)]
        self.count = [next(places) for _ in range(steps)]
        self.recalled = [next(places) for _ in range(recalled)]
        """With `within`, more inputs: the number of the patch that has hit."""
        self.latches = [*self.state.ravel().tolist(), *self.fired, *self.count]
        self.next = self._next()
        first = self.state.ravel().tolist() if start is None else start.ravel().tolist()
        self.first = [*first, *[FALSE] * (fired + steps)]
        wanted = question.target.reshape(len(question.visible), cells).tolist()
        wrong = [
            literal ^ want
            for channel, row in zip(question.visible_places, wanted, strict=True)
            for literal, want in zip(self.state[channel].tolist(), row, strict=True)
        ]
        right = self.graph.all(literal ^ 1 for literal in wrong)
        self.bad = self.graph.and_(self.graph.all(self.count[:within]), right ^ 1)

    def _next(self) -> list[int]:
        question, graph = self.question, self.graph
        places = neighbors(question.height, question.width, question.boundary)
        before, after, begun = self.state, np.empty_like(self.state), TRUE
        if self.patches is not None:
            kept, begun = self._damage(self.patches)
            before = np.array([list(map(graph.and_, row, kept)) for row in before.tolist()])
        for cell, around in enumerate(places.T.tolist()):
            seen = [
                FALSE if place == OUTSIDE else literal
                for place in around
                for literal in before[:, place].tolist()
            ]
            after[:, cell] = graph.next_state(question.circuit, seen)
        if question.synchronous:
            return [*after.ravel().tolist(), *[begun, *self.count][: self.steps]]
        kept = [
            graph.or_(graph.and_(fire, new), graph.and_(fire ^ 1, old))
            for olds, news in zip(self.state.tolist(), after.tolist(), strict=True)
            for fire, old, new in zip(self.fire, olds, news, strict=True)
        ]
        fired = [graph.or_(one, other) for one, other in zip(self.fire, self.fired, strict=True)]
        over = graph.all(fired)
        counted = [
            graph.or_(now, graph.and_(over, before))
            for now, before in zip(self.count, [TRUE, *self.count], strict=False)
        ]
        return [*kept, *(graph.and_(each, over ^ 1) for each in fired), *counted]

    def _damage(self, patches: npt.NDArray[Any]) -> tuple[list[int], int]:
        """Return literals: which cells are not hit now, and whether damage has begun."""
        graph, before = self.graph, self.count[0]
        chosen = [
            graph.all([before ^ 1, graph.is_number(number, self.fire)])
            for number in range(len(patches))
        ]
        kept = [
            graph.all(chosen[number] ^ 1 for number in np.flatnonzero(hit))
            for hit in patches.reshape(len(patches), -1).T
        ]
        return kept, graph.all([before ^ 1, *(each ^ 1 for each in chosen)]) ^ 1


def write_property(
    question: Question,
    steps: int,
    start: npt.NDArray[Any] | None = None,
    text: bool = False,
    patches: npt.NDArray[Any] | None = None,
) -> bytes:
    """Return the property that every state from step (or round) `steps` on shows the target.

    It covers every start, or `start` (C, H, W). With `patches` (damages, H, W) it covers each
    damage of a state that `start` leads to, from `steps` steps after it. `text` chooses AIGER's
    ASCII form.
    """
    model = Model(question, steps, start, patches)
    what = "step" if question.synchronous else "round"
    begin = "every start" if start is None else "one start"
    if patches is not None:
        begin = f"one of {len(patches)} cases of damage to a state that one start leads to"
    comment = (
        f"Bad: a visible channel that is wrong at {what} {steps} or later, from {begin}; "
        f"{question.height}x{question.width} cells, boundary {question.boundary}."
    )
    latches = list(zip(model.next, model.first, strict=True))
    return model.graph.file(latches, bad=[model.bad], comment=comment, text=text)


def write_invariant(finding: Finding, text: bool = False) -> bytes:
    """Return a proof by sets as three outputs that are never 1. The latches become inputs.

    Raises CircuitError for any other finding.
    """
    question, steps = finding.question, finding.from_step
    if not finding.states or steps is None:
        raise CircuitError("only a proof by sets is an invariant")
    model = Model(question, steps)
    graph = model.graph
    states = [
        as_array(question.board, state).reshape(question.circuit.channels, -1)
        for state in finding.states
    ]

    def invariant(latches: Sequence[int]) -> int:
        """Return a literal: the latches agree with everything known at this step."""
        bits, cells = model.state.size, model.state.shape[1]
        fired = latches[bits : bits + len(model.fired)]
        count = [TRUE, *latches[bits + len(fired) :]]
        holds = [graph.or_(one ^ 1, before) for before, one in pairwise(count)]
        for step, known in enumerate(states):
            for place, value in enumerate(known.ravel().tolist()):
                if value == UNKNOWN:
                    continue
                since = [count[step] ^ 1]
                if fired and step:
                    # A cell that has fired already lies in the sets of the next round.
                    since = [graph.and_(count[step - 1], fired[place % cells]) ^ 1, *since]
                for each in since:
                    holds.append(graph.or_(each, latches[place] ^ 1 ^ value))
        return graph.all(holds)

    before, after = invariant(model.latches), invariant(model.next)
    # Any bits are a first state, if no cell has fired and nothing is counted.
    first = graph.all(each ^ 1 for each in (*model.fired, *model.count))
    return _questions(model, first, before, after, text)


def _questions(model: Model, first: int, before: int, after: int, text: bool) -> bytes:
    """Return a file with three outputs about an invariant, `before` and `after` a step."""
    graph = model.graph
    outputs = [
        graph.and_(first, before ^ 1),
        graph.and_(before, after ^ 1),
        graph.and_(before, model.bad),
    ]
    comment = "Outputs: the first states leave the invariant; a step does; a bad state is in it."
    return graph.file(outputs=outputs, comment=comment, text=text)


def write_healing(
    question: Question, within: int, shown: npt.NDArray[Any], text: bool, patches: npt.NDArray[Any]
) -> bytes:
    """Return a proof of `write_property`'s claim about damage, as `write_invariant` does.

    The invariant lists the state after each step from each damage of `shown` (C, H, W), until no
    state changes. The inputs are the model's inputs, its latches, and the number of the patch that
    has hit. Raises CircuitError if a step changes `shown`, or if a state never comes to rest.
    """
    board, network = replace(question.board, copies=len(patches)), question.network
    rest = pack(question.board, shown)
    if network.step(question.board, rest) != rest:
        raise CircuitError("the state still changes at this step: choose a later --from-step")
    kept = board.full ^ board.pack(patches)
    runs = [network.step(board, tuple(board.repeated(plane) & kept for plane in rest))]
    while (now := network.step(board, runs[-1])) != runs[-1]:
        runs.append(now)
        if len(runs) > (most := TOGETHER * max(question.height, question.width)):
            raise CircuitError(f"after some damage the state still changes {most} steps later")
    runs += runs[-1:] * (within - len(runs))
    model = Model(question, len(runs), shown, patches, within)
    graph, resting, hurt = model.graph, shown.ravel(), model.count[0]
    shape = (len(shown), len(patches), -1)
    differing = [
        unpack(board, run).reshape(shape).swapaxes(0, 1).reshape(len(patches), -1) != resting
        for run in runs
    ]

    def invariant(latches: Sequence[int], number: Sequence[int]) -> int:
        """Return a literal: the latches hold a state after the patch of this number."""
        hits = [graph.is_number(each, number) for each in range(len(patches))]

        @cache
        def any_of(patch: bytes) -> int:
            return graph.all(hits[each] ^ 1 for each in np.flatnonzero(list(patch))) ^ 1

        counted = [*latches[resting.size :], FALSE]
        holds = [graph.or_(one ^ 1, before) for before, one in pairwise(counted)]
        holds.append(graph.or_(counted[0] ^ 1, graph.all(hit ^ 1 for hit in hits) ^ 1))
        changed: list[list[int]] = [[] for _ in resting]
        for differs, (since, later) in zip(differing, pairwise(counted), strict=True):
            now = graph.and_(since, later ^ 1)
            for place in np.flatnonzero(differs.any(axis=0)).tolist():
                changed[place].append(graph.and_(now, any_of(differs[:, place].tobytes())))
        for bit, rests, when in zip(latches, resting.tolist(), changed, strict=False):
            holds.append(graph.xor_(bit, graph.all(each ^ 1 for each in when)) ^ rests)
        return graph.all(holds)

    number = [
        graph.or_(graph.and_(hurt, old), graph.and_(hurt ^ 1, new))
        for old, new in zip(model.recalled, model.fire, strict=True)
    ]
    first = graph.all(
        latch ^ 1 ^ bit for latch, bit in zip(model.latches, model.first, strict=True)
    )
    before, after = invariant(model.latches, model.recalled), invariant(model.next, number)
    return _questions(model, first, before, after, text)
