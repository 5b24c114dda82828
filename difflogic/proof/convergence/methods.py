"""Decides whether every start ends in the target on one grid: four methods, the cheapest first."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from difflogic.circuit.cost import MOST_STEP_BYTES
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.circuit.live_part import folded_part
from difflogic.proof.answer import TIME_IS_UP, Answer, Assurance, Budget, Method
from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.findings import Convergence, Counterexample, Finding
from difflogic.proof.convergence.planes import Network, Planes, as_planes, pack
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.satisfiability import Formula
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import OutOfTimeError

STEPS_PER_SIDE = 16
"""Steps on sets per row and column; knowledge that takes longer comes a long way around."""
SAMPLED_STARTS = 64
FEWEST_STARTS = 4
"""Most and fewest random starts to look for a refutation."""
SAMPLED_CELLS = 2**16
"""Most cells of all these starts together, unless they are the fewest."""
LONGEST_SAMPLE = 2**12
"""Steps in which the run of such a start must repeat."""
SAT_PERIODS = (1, 2)
"""Periods of wrong states that SAT looks for."""
MOST_UNROLLED_GATES = 2**19
"""Most gates of all unrolled steps together; more would take too long to build."""


def by_sets(question: Convergence, deadline: Deadline = NEVER) -> Finding:
    """Run on sets from everything until they show the target: proved, or open."""
    room = MOST_STEP_BYTES // (2 * question.circuit.channels * (question.board.cells + 7 >> 3))
    most = min(STEPS_PER_SIDE * (question.height + question.width), room + 1)
    run = [sets.everything(question.circuit.channels, question.board)]
    with suppress(OutOfTimeError):  # all states lie in each of the sets
        for state in itertools.islice(sets.descend(question.network, question.board), 1, most):
            run.append(state)
            if deadline.passed:
                break
    # From then on, every state lies in the last sets under any fair schedule.
    right = (step for step, state in enumerate(run) if question.is_always_right(state))
    step = next(right, None)
    known = question.target
    if step is None:
        known = sets.as_array(question.board, run[-1])[list(question.visible_places)]
    return Finding(
        question,
        Verdict.open if step is None else Verdict.proved,
        None if step is None else SETS.name,
        step,
        known,
        run[-1],
        len(run) - 1,
        () if step is None else tuple(run[: step + 1]),
    )


def _sets(question: Convergence, budget: Budget, before: Answer | None) -> Answer:
    found = by_sets(question, budget.deadline)
    if found.verdict is Verdict.proved:
        return answer_of(found)
    late = budget.deadline.passed
    return answer_of(found, TIME_IS_UP if late else "too coarse")


def answer_of(found: Finding, outcome: str = "decided") -> Answer:
    """Say what is found about every start."""
    asked = found.question.asked
    match found.verdict:
        case Verdict.proved:
            text = f"proved for every start from {asked.unit} {found.from_step} on"
        case Verdict.refuted:
            text = "fails: some starts keep missing the target"
        case Verdict.open:
            text = f"not proved: {found.unknown_cells} cells remain unknown"
    assurance = Assurance(
        found.verdict,
        "every start",
        text,
        found.method,
        found.from_step,
        found.any_schedule,
        asked=asked,
    )
    return Answer(assurance, found, outcome=outcome)


def right_from(question: Convergence) -> int | None:
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
    is_known = np.array_equal(*rest)
    right = is_known and is_right_after(question, read, as_planes(rest[0]))
    return len(run) if right else None


def read_channels(question: Convergence) -> list[int]:
    """Return the channels that gates read; none if these are all, or none."""
    read = sorted({channel for _, channel in question.network.inputs})
    return read if len(read) < question.circuit.channels else []


def is_right_after(question: Convergence, read: Sequence[int], values: Planes) -> bool:
    """Return whether the target is shown a step after the channels that are read have `values`."""
    known = dict(zip(read, values, strict=True))
    # Channels that nothing reads may have any value before.
    state = tuple(known.get(channel, 0) for channel in range(question.circuit.channels))
    return question.is_right(question.network.step(question.board, state))


def _sampled(question: Convergence, budget: Budget, before: Answer | None) -> Answer | str:
    """Look for a refutation in the runs of random starts."""
    steps = 4 * (question.height + question.width)
    starts = max(FEWEST_STARTS, min(SAMPLED_STARTS, SAMPLED_CELLS // question.board.cells))
    for start in orbits.missed(question, steps, starts, budget.deadline):
        found = _confirmed(question, start, budget.deadline, LONGEST_SAMPLE)
        if found is not None:
            return _refuted(before, SAMPLED_RUNS, found)
    budget.deadline.check()
    return "too coarse"


def _unrolled(question: Convergence, budget: Budget, before: Answer | None) -> Answer | str:
    """Look for a wrong state that repeats, by SAT; then for steps after which none is wrong."""
    assert before is not None
    known = before.evidence
    deadline = budget.deadline
    with Formula() as formula:
        layout = Unrolled(question, known.final_sets, formula)
        for period in SAT_PERIODS if question.synchronous else SAT_PERIODS[:1]:
            layout.advance(period, deadline)
            start = layout.find_cycle(period, deadline)
            found = None if start is None else _confirmed(question, start, deadline)
            if found is not None:
                return _refuted(before, UNROLLED, found)
        if not question.synchronous:
            return "no state that comes back at once misses the target"
        steps = 1
        while True:
            layout.advance(steps, deadline)
            start = layout.find_late(steps, deadline)
            if start is None:
                proved = replace(
                    known,
                    verdict=Verdict.proved,
                    method=UNROLLED.name,
                    from_step=known.within + steps,
                    known=question.target,
                )
                return answer_of(proved)
            found = _confirmed(question, start, deadline)
            if found is not None:
                return _refuted(before, UNROLLED, found)
            steps = 2 * steps


def _confirmed(
    question: Convergence, start: Planes, deadline: Deadline, most: int = orbits.MOST_ORBIT_STEPS
) -> Counterexample | None:
    """Run a start; return a state that refutes under the question's schedules."""
    found = orbits.counterexample(question, start, deadline, most)
    if found is None or question.synchronous or found.period == 1:
        return found
    return None


def _refuted(before: Answer | None, method: Method, found: Counterexample) -> Answer:
    assert before is not None
    refuted = {"verdict": Verdict.refuted, "method": method.name, "counterexample": found}
    return answer_of(replace(before.evidence, **refuted))


def _of_one_grid(question: object) -> bool:
    return isinstance(question, Convergence)


SETS = Method("sets of values", 0.001, _of_one_grid, _sets)
SAMPLED_RUNS = Method("a run until its state repeats", 0.01, _of_one_grid, _sampled)
UNROLLED = Method("SAT on unrolled steps", 1, _of_one_grid, _unrolled, needs_clock=True)


class Unrolled:
    """Consecutive steps as literals of a formula, to ask a SAT solver about all starts.

    If every start is right after exactly m steps, every start is right at each later step too: the
    state there is m steps after another state, and any state is a start.

    The starts lie in the sets `within`, and so do all later states: their known bits are constants.
    What holds for these starts holds for all starts once their states have reached `within`. A
    start that the solver finds may not satisfy this, so it must be run.
    """

    def __init__(self, question: Convergence, within: Sets, formula: Formula) -> None:
        self._question = question
        self._formula = formula
        known = [question.board.bits(words).ravel().tolist() for words in within]
        self._known = [
            formula.constant(low) if low == high else None for low, high in zip(*known, strict=True)
        ]
        first = [formula.variable() if value is None else value for value in self._known]
        self._states = [first]
        """For each step, the literal of each bit: channel · cells + cell."""

    def advance(self, steps: int, deadline: Deadline) -> None:
        """Unroll up to `steps` steps. Raises OutOfTimeError, also beyond MOST_UNROLLED_GATES."""
        question = self._question
        formula = self._formula
        circuit = question.circuit
        cells = question.board.cells
        outside = formula.constant(0)
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
            if formula.variables > MOST_UNROLLED_GATES:
                raise OutOfTimeError

    def find_late(self, step: int, deadline: Deadline) -> Planes | None:
        """Return a start that misses the target at a step, if any. Raises OutOfTimeError."""
        return self._find([self._wrong(step)], deadline)

    def find_cycle(self, period: int, deadline: Deadline) -> Planes | None:
        """Return a wrong state that repeats after `period` steps, if any. Raises OutOfTimeError."""
        pairs = zip(self._states[0], self._states[period], strict=True)
        same = [-self._formula.xor_(a, b) for a, b in pairs]
        return self._find([self._wrong(0), *same], deadline)

    def _wrong(self, step: int) -> int:
        """Return a literal that is 1 only if the target is missed at a step."""
        question = self._question
        literal = self._formula.variable()
        state = np.array(self._states[step]).reshape(question.circuit.channels, -1)
        shown = state[list(question.visible_places)].ravel()
        target = question.target.ravel()
        self._formula.add([-literal, *np.where(target, -shown, shown).tolist()])
        return literal

    def _find(self, literals: Sequence[int], deadline: Deadline) -> Planes | None:
        """Return a start that makes all literals 1, if any. Raises OutOfTimeError."""
        question = self._question
        answer = self._formula.solve(literals, deadline)
        if answer is None:
            raise OutOfTimeError
        if not answer:
            return None
        bits = np.isin(self._states[0], list(self._formula.true_literals()))
        shape = question.circuit.channels, question.height, question.width
        return pack(question.board, bits.reshape(shape))
