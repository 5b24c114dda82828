"""Decides whether every start ends in the target on one grid: by sets, or a run that refutes it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from difflogic.circuit.cost import MOST_STEP_BYTES
from difflogic.circuit.live_part import folded_part
from difflogic.proof.answer import TIME_IS_UP, Answer, Assurance, Budget, Method
from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.convergence.planes import Network, Planes, as_planes
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
    assert before is not None
    steps = 4 * (question.height + question.width)
    starts = max(FEWEST_STARTS, min(SAMPLED_STARTS, SAMPLED_CELLS // question.board.cells))
    for start in orbits.missed(question, steps, starts, budget.deadline):
        found = orbits.counterexample(question, start, budget.deadline, LONGEST_SAMPLE)
        # Under other schedules than that of the run, only a fixed point comes back.
        if found is not None and (question.synchronous or found.period == 1):
            refuted = {
                "verdict": Verdict.refuted,
                "method": SAMPLED_RUNS.name,
                "counterexample": found,
            }
            return answer_of(replace(before.evidence, **refuted))
    budget.deadline.check()
    return "too coarse"


def _of_one_grid(question: object) -> bool:
    return isinstance(question, Convergence)


SETS = Method("sets of values", 0.001, _of_one_grid, _sets)
SAMPLED_RUNS = Method("a run until its state repeats", 0.01, _of_one_grid, _sampled)
