"""What is claimed of a grid as a safety property in AIGER 1.9: for other people's model checkers.

Latches are the bits of all cells, and a row of them that counts: number j is 1 once j + 1 steps are
taken. The bad state is one in which all of these are 1 and a visible bit is wrong. Where cells fire
one by one, each has an input that lets it, and a latch that remembers it until all cells have: that
ends a round, and rounds are counted.

Where damage is asked about, inputs are the number of a patch, once: at any step its cells are 0
before the cells are updated, and the steps from there on are counted. Numbers beyond the last do
nothing.

A certificate by sets becomes three outputs, all of which have to be 0 for all inputs: that the
first states are in the invariant, that a step does not leave it, and that no bad state is in it.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Yu, Biere and Heljanko 2021,
"Progress in certifying hardware model checking results".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.circuit.xag import FALSE, TRUE
from difflogic.formats.write_aiger import Graph
from difflogic.proof.convergence.findings import Finding, Question
from difflogic.proof.convergence.sets import as_array
from difflogic.system.errors import CircuitError

UNKNOWN = 2
"""Of a bit's set, as `as_array` has it."""


class Model:
    """A grid as latches: what is asked about it, in literals.

    `start` are the bits (C, H, W) that a run begins with, or None for every start. `patches`
    (damages, H, W) are 1 where a damage zeroes cells: then steps are counted from the damage on.
    """

    def __init__(
        self,
        question: Question,
        steps: int,
        start: npt.NDArray | None = None,
        patches: npt.NDArray | None = None,
    ) -> None:
        self.question, self.steps, self.patches = question, steps, patches
        cells, channels = question.height * question.width, question.circuit.channels
        fired = 0 if question.synchronous else cells
        self.inputs = fired if patches is None else len(patches).bit_length()
        bits = channels * cells
        self.graph = Graph(self.inputs + bits + fired + steps)
        places = iter(range(2, 2 * (self.inputs + bits + fired + steps) + 1, 2))
        self.fire = [next(places) for _ in range(self.inputs)]
        """The inputs; with patches, the bits of a patch's number, the lowest first."""
        self.state = np.array([next(places) for _ in range(bits)]).reshape(channels, cells)
        self.fired = [next(places) for _ in range(fired)]
        self.count = [next(places) for _ in range(steps)]
        self.latches = [*self.state.ravel().tolist(), *self.fired, *self.count]
        self.next = self._next()
        first = self.state.ravel().tolist() if start is None else start.ravel().tolist()
        self.first = [*first, *[FALSE] * (fired + steps)]
        wanted = question.target.reshape(len(question.visible), cells).tolist()
        wrong = [
            literal ^ want
            for channel, row in zip(question.shown, wanted, strict=True)
            for literal, want in zip(self.state[channel].tolist(), row, strict=True)
        ]
        right = self.graph.all(literal ^ 1 for literal in wrong)
        self.bad = self.graph.and_(self.graph.all(self.count), right ^ 1)

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
        count = [
            graph.or_(now, graph.and_(over, before))
            for now, before in zip(self.count, [TRUE, *self.count], strict=False)
        ]
        return [*kept, *(graph.and_(each, over ^ 1) for each in fired), *count]

    def _damage(self, patches: npt.NDArray) -> tuple[list[int], int]:
        """Return which cells are not hit now, and that the damage was, or is now."""
        graph, before = self.graph, self.count[0]
        chosen = [
            graph.all([before ^ 1, *(bit ^ 1 ^ number >> k & 1 for k, bit in enumerate(self.fire))])
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
    start: npt.NDArray | None = None,
    text: bool = False,
    patches: npt.NDArray | None = None,
) -> bytes:
    """Return the property that every state from step (or round) `steps` on shows the target.

    From every start, or from `start` (C, H, W); with `patches` (damages, H, W), from each damage of
    a state that `start` comes to, 1 step or more after it. `text` chooses AIGER's form in letters.
    """
    model = Model(question, steps, start, patches)
    what = "step" if question.synchronous else "round"
    begin = "every start" if start is None else "one start"
    if patches is not None:
        begin = f"one of {len(patches)} damages of what one start comes to"
    comment = (
        f"Bad: a visible channel that is wrong at {what} {steps} or later, from {begin}; "
        f"{question.height}x{question.width} cells, boundary {question.boundary}."
    )
    latches = list(zip(model.next, model.first, strict=True))
    return model.graph.file(model.inputs, latches, bad=[model.bad], comment=comment, text=text)


def write_invariant(finding: Finding, text: bool = False) -> bytes:
    """Return a proof by sets as three outputs that are never 1; inputs are the model's latches.

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
        """Return a literal: the latches have all that is known from this step on."""
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
                    # A cell that has fired in this round is where all will be after it.
                    since = [graph.and_(count[step - 1], fired[place % cells]) ^ 1, *since]
                for each in since:
                    holds.append(graph.or_(each, latches[place] ^ 1 ^ value))
        return graph.all(holds)

    before, after = invariant(model.latches), invariant(model.next)
    # A first state is any state: what is given is that nothing has fired and nothing is counted.
    first = graph.all(each ^ 1 for each in (*model.fired, *model.count))
    outputs = [
        graph.and_(first, before ^ 1),
        graph.and_(before, after ^ 1),
        graph.and_(before, model.bad),
    ]
    comment = "Outputs: the first states leave the invariant; a step does; a bad state is in it."
    inputs = model.inputs + len(model.latches)
    return graph.file(inputs, outputs=outputs, comment=comment, text=text)
