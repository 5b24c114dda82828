"""Whether every start ends in the target: the methods, the cheap and the general ones first."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.findings import (
    Attempt,
    Counterexample,
    Finding,
    Method,
    Question,
    Verdict,
)
from difflogic.proof.convergence.planes import Planes
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.convergence.unrolled import Unrolled
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import NEVER, Deadline

SECONDS = 60.0
STEPS_PER_SIDE = 16
"""Steps on sets, for each row and column; what is known later than that comes a long way round."""
SAMPLES, FEWEST = 64, 4
"""Random starts that a refutation is looked for among, before anything is searched for."""
SAMPLED_CELLS = 2**16
"""Cells of all of these together, but for the fewest."""
LONGEST_SAMPLE = 2**12
"""Steps in which the run of such a start has to repeat."""
PERIODS = (1, 2)
"""Of states that come back and miss the target, which are asked for by SAT."""


def decide(
    question: Question,
    seconds: float = SECONDS,
    progress: Callable[[str], None] = lambda method: None,
) -> Finding:
    """Answer the question, or leave it open after about `seconds`.

    `progress` is told each method as it begins.
    """
    search = _Search(question, Deadline.after(seconds), progress)
    found = search.run(search.sampled, search.repeating, search.unrolled)
    return replace(found, attempts=tuple(search.attempts))


def decide_quickly(question: Question) -> Finding:
    """Answer the question by sets and by samples alone: work that is bounded, without a clock.

    The same question has the same answer on any machine.
    """
    search = _Search(question, NEVER)
    return replace(search.run(search.sampled), attempts=tuple(search.attempts))


def by_sets(question: Question) -> Finding:
    """Answer the question by sets of values alone, in milliseconds: proved, or open."""
    return _Search(question, NEVER).run()


@dataclass
class _Search:
    question: Question
    deadline: Deadline
    progress: Callable[[str], None] = lambda method: None
    attempts: list[Attempt] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def run(self, *methods: Callable[[], Finding | None]) -> Finding:
        """Try sets of values, and then each of some methods until one decides."""
        question = self.question
        with self._trying(Method.sets) as outcome:
            most = STEPS_PER_SIDE * (question.height + question.width)
            run = list(itertools.islice(sets.descend(question.network, question.board), most))
            right = (step for step, state in enumerate(run) if question.is_known(state))
            from_step = next(right, None)
            outcome(from_step is not None)
        # From this step on every state lies in these sets, under any fair schedule.
        self.from_step, self.within = len(run) - 1, run[-1]
        if from_step is not None:
            return self._proved(Method.sets, from_step, tuple(run[: from_step + 1]))
        for method in methods:
            found = None if self.deadline.passed else method()
            if found is not None:
                return found
        return self._finding(Verdict.open, None)

    def sampled(self) -> Finding | None:
        """Look for a refutation among the runs of random starts."""
        with self._trying(Method.run) as outcome:
            steps = 4 * (self.question.height + self.question.width)
            starts = max(FEWEST, min(SAMPLES, SAMPLED_CELLS // self.question.board.cells))
            for start in orbits.missed(self.question, steps, starts, self.deadline):
                found = self._confirmed(start, LONGEST_SAMPLE)
                if found is not None:
                    outcome(True)
                    return self._refuted(Method.run, found)
            if not self.deadline.passed:
                outcome(False)
        return None

    def repeating(self) -> Finding | None:
        """Look for a state that misses the target and comes back."""
        with self._trying(Method.sat) as outcome, Formula() as formula:
            layout = Unrolled(self.question, self.within, formula)
            for period in PERIODS if self.question.synchronous else PERIODS[:1]:
                if not layout.advance(period, self.deadline):
                    return None
                answer = layout.ask_cycle(period, self.deadline)
                found = answer.start and self._confirmed(answer.start)
                if found:
                    outcome(True)
                    return self._refuted(Method.sat, found)
            outcome("no state that comes back at once misses the target")
        return None

    def unrolled(self) -> Finding | None:
        """Look for a number of steps after which no start misses the target."""
        if not self.question.synchronous:
            return None
        with self._trying(Method.sat) as outcome, Formula() as formula:
            layout, steps, late = Unrolled(self.question, self.within, formula), 1, 0
            while layout.advance(steps, self.deadline):
                answer = layout.ask_late(steps, self.deadline)
                if answer.found is None:
                    return None
                if answer.start is None:
                    steps = self._earliest(layout, late, steps)
                    outcome(True)
                    return self._proved(Method.sat, self.from_step + steps)
                found = self._confirmed(answer.start)
                if found is not None:
                    outcome(True)
                    return self._refuted(Method.sat, found)
                late, steps = steps, 2 * steps
        return None

    def _earliest(self, layout: Unrolled, late: int, steps: int) -> int:
        """Return the least number of steps that is found to do, above `late` and up to `steps`."""
        while steps - late > 1:
            middle = (late + steps) // 2
            answer = layout.ask_late(middle, self.deadline)
            if answer.found is None:
                break
            late, steps = (middle, steps) if answer.found else (late, middle)
        return steps

    def _confirmed(self, start: Planes, most: int = orbits.MOST_STEPS) -> Counterexample | None:
        """Run a start; return a state that refutes, under the schedules that are asked about."""
        found = orbits.counterexample(self.question, start, self.deadline, most)
        if found is None or self.question.synchronous or found.period == 1:
            return found
        return None

    def _proved(self, method: Method, from_step: int, states: tuple[Sets, ...] = ()) -> Finding:
        return self._finding(Verdict.proved, method, from_step, states)

    def _refuted(self, method: Method, found: Counterexample) -> Finding:
        return self._finding(Verdict.refuted, method, counterexample=found)

    def _finding(
        self,
        verdict: Verdict,
        method: Method | None,
        from_step: int | None = None,
        states: tuple[Sets, ...] = (),
        counterexample: Counterexample | None = None,
    ) -> Finding:
        question, known = self.question, self.question.target
        if verdict is not Verdict.proved:
            known = sets.as_array(question.board, self.within)[list(question.shown)]
        return Finding(
            question,
            verdict,
            method,
            from_step,
            known,
            self.within,
            states,
            counterexample,
            seconds=time.perf_counter() - self.began,
        )

    @contextmanager
    def _trying(self, method: Method) -> Iterator[Callable[[bool | str], None]]:
        """Record a method, and what came of it: nothing in the time, unless one says otherwise."""
        self.progress(method.value)
        began, outcome = time.perf_counter(), "not decided in the time"

        def tell(what: bool | str) -> None:
            nonlocal outcome
            outcome = what if isinstance(what, str) else "decided" if what else "too coarse"

        try:
            yield tell
        finally:
            self.attempts.append(Attempt(method, outcome, time.perf_counter() - began))
