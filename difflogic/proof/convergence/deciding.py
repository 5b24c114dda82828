"""Decides whether every start ends in the target: cheap methods first, then general ones."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from difflogic.circuit.cost import MOST_BYTES
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.findings import (
    Attempt,
    Counterexample,
    Finding,
    Method,
    Question,
    Verdict,
)
from difflogic.proof.convergence.folding import folded_part
from difflogic.proof.convergence.planes import Network, Planes, pack, unpack
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import NEVER, Deadline

SECONDS = 60.0
STEPS_PER_SIDE = 16
"""Steps on sets per row and column; knowledge that takes longer comes a long way around."""
SAMPLES, FEWEST = 64, 4
"""Most and fewest random starts to look for a refutation."""
SAMPLED_CELLS = 2**16
"""Most cells of all these starts together, unless they are the fewest."""
LONGEST_SAMPLE = 2**12
"""Steps in which the run of such a start must repeat."""
PERIODS = (1, 2)
"""Periods of wrong states that SAT looks for."""
MOST_GATES = 2**19
"""Most gates of all unrolled steps together; more would take too long to build."""


def decide(
    question: Question,
    seconds: float = SECONDS,
    progress: Callable[[str], None] = lambda method: None,
) -> Finding:
    """Answer the question, or leave it open after about `seconds`.

    `progress` gets the name of each method when it begins.
    """
    search = _Search(question, Deadline.after(seconds), progress)
    methods = [(Method.run, search.sampled), (Method.sat, search.repeating)]
    if question.synchronous:
        methods.append((Method.sat, search.unrolled))
    return replace(search.run(*methods), attempts=tuple(search.attempts))


def decide_quickly(question: Question) -> Finding:
    """Answer the question with sets and samples only.

    The work is bounded without a clock, so the answer is the same on any machine.
    """
    search = _Search(question, NEVER)
    return replace(search.run((Method.run, search.sampled)), attempts=tuple(search.attempts))


def by_sets(question: Question, deadline: Deadline = NEVER) -> Finding:
    """Answer the question with sets of values only, mostly in milliseconds: proved, or open."""
    return _Search(question, deadline).run()


def right_from(question: Question) -> int | None:
    """Return a step from which every start shows the target, for circuits with places.

    Their visible channels follow from others, which nothing else changes. Those are run on sets
    until each has one value, and then all channels in one step. None if that proves nothing.
    """
    read = read_channels(question)
    if not read:
        return None
    network = Network(folded_part(question.circuit, read))
    most = STEPS_PER_SIDE * (question.height + question.width)
    run = list(itertools.islice(sets.descend(network, question.board), most))
    rest = run[-1]
    is_known = rest.least == rest.most
    return len(run) if is_known and is_right_after(question, read, rest.least) else None


def read_channels(question: Question) -> list[int]:
    """Return the channels that gates read; none if these are all, or none."""
    read = sorted({channel for _, channel in question.network.inputs})
    return read if len(read) < question.circuit.channels else []


def is_right_after(question: Question, read: Sequence[int], values: Planes) -> bool:
    """Return whether the target is shown a step after the channels that are read have `values`."""
    known = dict(zip(read, values, strict=True))
    # Channels that nothing reads may have any value before.
    state = tuple(known.get(channel, 0) for channel in range(question.circuit.channels))
    return question.is_right(question.network.step(question.board, state))


@dataclass
class _Search:
    question: Question
    deadline: Deadline
    progress: Callable[[str], None] = lambda method: None
    attempts: list[Attempt] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def run(self, *methods: tuple[Method, Callable[[], Finding | str]]) -> Finding:
        """Try sets of values, then the given methods, until one decides."""
        found = self._attempt(Method.sets, self.by_sets)
        for name, method in methods:
            if found is None and not self.deadline.passed:
                found = self._attempt(name, method)
        return found or self._finding(Verdict.open, None)

    def _attempt(self, name: Method, method: Callable[[], Finding | str]) -> Finding | None:
        """Try a method, which returns a finding or a reason, or raises TimeoutError."""
        self.progress(name.value)
        began = time.perf_counter()
        try:
            found = method()
        except TimeoutError:
            found = "not decided in the time"
        outcome = found if isinstance(found, str) else "decided"
        self.attempts.append(Attempt(name, outcome, time.perf_counter() - began))
        return None if isinstance(found, str) else found

    def by_sets(self) -> Finding | str:
        """Run on sets from everything, until they show the target."""
        question = self.question
        room = MOST_BYTES // (2 * question.circuit.channels * (question.board.cells + 7 >> 3))
        most = min(STEPS_PER_SIDE * (question.height + question.width), room + 1)
        run = []
        for state in itertools.islice(sets.descend(question.network, question.board), most):
            run.append(state)
            if self.deadline.passed:
                break
        # From this step on, every state lies in these sets under any fair schedule.
        self.from_step, self.within = len(run) - 1, run[-1]
        for step, state in enumerate(run):
            if question.is_always_right(state):
                states = tuple(run[: step + 1])
                return self._finding(Verdict.proved, Method.sets, from_step=step, states=states)
        self.deadline.check()
        return "too coarse"

    def sampled(self) -> Finding | str:
        """Look for a refutation in the runs of random starts."""
        question = self.question
        steps = 4 * (question.height + question.width)
        starts = max(FEWEST, min(SAMPLES, SAMPLED_CELLS // question.board.cells))
        for start in orbits.missed(question, steps, starts, self.deadline):
            found = self._confirmed(start, LONGEST_SAMPLE)
            if found is not None:
                return self._finding(Verdict.refuted, Method.run, counterexample=found)
        self.deadline.check()
        return "too coarse"

    def repeating(self) -> Finding | str:
        """Look for a wrong state that repeats, by SAT."""
        with Formula() as formula:
            layout = Unrolled(self.question, self.within, formula)
            for period in PERIODS if self.question.synchronous else PERIODS[:1]:
                layout.advance(period, self.deadline)
                start = layout.find_cycle(period, self.deadline)
                found = None if start is None else self._confirmed(start)
                if found is not None:
                    return self._finding(Verdict.refuted, Method.sat, counterexample=found)
        return "no state that comes back at once misses the target"

    def unrolled(self) -> Finding | str:
        """Look for a number of steps after which no start misses the target, by SAT."""
        with Formula() as formula:
            layout, steps, late = Unrolled(self.question, self.within, formula), 1, 0
            while True:
                layout.advance(steps, self.deadline)
                start = layout.find_late(steps, self.deadline)
                if start is None:
                    from_step = self.from_step + self._earliest(layout, late, steps)
                    return self._finding(Verdict.proved, Method.sat, from_step=from_step)
                found = self._confirmed(start)
                if found is not None:
                    return self._finding(Verdict.refuted, Method.sat, counterexample=found)
                late, steps = steps, 2 * steps

    def _earliest(self, layout: Unrolled, late: int, steps: int) -> int:
        """Bisect for the least sufficient number of steps, above `late` and up to `steps`."""
        while steps - late > 1:
            middle = (late + steps) // 2
            try:
                start = layout.find_late(middle, self.deadline)
            except TimeoutError:
                break
            late, steps = (late, middle) if start is None else (middle, steps)
        return steps

    def _confirmed(self, start: Planes, most: int = orbits.MOST_STEPS) -> Counterexample | None:
        """Run a start; return a state that refutes under the question's schedules."""
        found = orbits.counterexample(self.question, start, self.deadline, most)
        if found is None or self.question.synchronous or found.period == 1:
            return found
        return None

    def _finding(
        self,
        verdict: Verdict,
        method: Method | None,
        *,
        from_step: int | None = None,
        states: tuple[Sets, ...] = (),
        counterexample: Counterexample | None = None,
    ) -> Finding:
        question, known = self.question, self.question.target
        if verdict is not Verdict.proved:
            known = sets.as_array(question.board, self.within)[list(question.visible_places)]
        return Finding(
            question=question,
            verdict=verdict,
            method=method,
            from_step=from_step,
            known=known,
            final_sets=self.within,
            states=states,
            counterexample=counterexample,
            seconds=time.perf_counter() - self.began,
        )


class Unrolled:
    """Consecutive steps as literals of a formula, to ask a SAT solver about all starts.

    If every start is right after exactly m steps, every start is right at each later step too: the
    state there is m steps after another state, and any state is a start.

    The starts lie in the sets `within`, and so do all later states: their known bits are constants.
    What holds for these starts holds for all starts once their states have reached `within`. A
    start that the solver finds may not satisfy this, so it must be run.
    """

    def __init__(self, question: Question, within: Sets, formula: Formula) -> None:
        self._question, self._formula = question, formula
        known = [unpack(question.board, planes).ravel().tolist() for planes in within]
        self._known = [
            formula.constant(low) if low == high else None for low, high in zip(*known, strict=True)
        ]
        first = [formula.variable() if value is None else value for value in self._known]
        self._states = [first]
        """For each step, the literal of each bit: channel · cells + cell."""

    def advance(self, steps: int, deadline: Deadline) -> None:
        """Unroll up to `steps` steps. Raises TimeoutError, also for more than MOST_GATES."""
        question, formula = self._question, self._formula
        circuit, cells, outside = question.circuit, question.board.cells, formula.constant(0)
        places = neighbors(question.height, question.width, question.boundary).T.tolist()
        while len(self._states) <= steps:
            state = self._states[-1]
            after = [outside] * len(state)
            for cell, around in enumerate(places):
                deadline.check()
                inputs = (
                    outside if place == OUTSIDE else state[channel * cells + place]
                    for place in around
                    for channel in range(circuit.channels)
                )
                rows = evaluate(circuit, inputs, formula)
                for channel, row in enumerate(circuit.outputs.tolist()):
                    after[channel * cells + cell] = rows[row]
            self._states.append(
                [new if old is None else old for old, new in zip(self._known, after, strict=True)]
            )
            if formula.variables > MOST_GATES:
                raise TimeoutError

    def find_late(self, step: int, deadline: Deadline) -> Planes | None:
        """Return a start that misses the target at a step, if any. Raises TimeoutError."""
        return self._find([self._wrong(step)], deadline)

    def find_cycle(self, period: int, deadline: Deadline) -> Planes | None:
        """Return a wrong state that repeats after `period` steps, if any. Raises TimeoutError."""
        pairs = zip(self._states[0], self._states[period], strict=True)
        same = [-self._formula.xor_(a, b) for a, b in pairs]
        return self._find([self._wrong(0), *same], deadline)

    def _wrong(self, step: int) -> int:
        """Return a literal that is 1 only if the target is missed at a step."""
        question, literal = self._question, self._formula.variable()
        state = np.array(self._states[step]).reshape(question.circuit.channels, -1)
        shown, target = state[list(question.visible_places)].ravel(), question.target.ravel()
        self._formula.add([-literal, *np.where(target, -shown, shown).tolist()])
        return literal

    def _find(self, literals: Sequence[int], deadline: Deadline) -> Planes | None:
        """Return a start that makes all literals 1, if any. Raises TimeoutError."""
        question = self._question
        answer = self._formula.solve(literals, deadline)
        if answer is None:
            raise TimeoutError
        if not answer:
            return None
        bits = np.isin(self._states[0], list(self._formula.true_literals()))
        shape = question.circuit.channels, question.height, question.width
        return pack(question.board, bits.reshape(shape))
