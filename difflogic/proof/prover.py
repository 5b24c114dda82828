"""Answers questions about automata: asks each method that fits, the cheapest first."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from difflogic.proof.answer import (
    QUICK,
    TIME_IS_UP,
    Answer,
    Assurance,
    Budget,
    Confinement,
    left_open,
)
from difflogic.proof.cases import LISTED, ListedStarts
from difflogic.proof.convergence.confinement import ANY_ORDER, Ground, confine
from difflogic.proof.convergence.every_size import SIZES, EverySize, NoTargetError, Plane
from difflogic.proof.convergence.findings import Convergence, Finding, MethodRun
from difflogic.proof.convergence.methods import SAMPLED_RUNS, SETS, UNROLLED
from difflogic.proof.convergence.one_side import ONE_SIDE
from difflogic.proof.convergence.orbits import repeated
from difflogic.proof.convergence.planes import pack, unpack
from difflogic.proof.convergence.sets import as_array
from difflogic.proof.every_length import HISTORIES, AnyLength
from difflogic.proof.local_rule import BOUNDS, Local
from difflogic.proof.question import REACHES, Asked, Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.system.errors import OutOfTimeError
from difflogic.system.work import checking

LATE_SECONDS = 0.5
"""Seconds after a deadline in which a method may still say what it knows."""

METHODS = tuple(
    sorted(
        (SETS, SAMPLED_RUNS, UNROLLED, SIZES, ONE_SIDE, HISTORIES, BOUNDS, LISTED),
        key=lambda method: method.cost,
    )
)
"""All of them, the cheapest first."""


@dataclass(frozen=True)
class Unfit:
    """A question that no method answers, and why."""

    reason: str
    asked: Asked | None = None


Question = Convergence | Plane | AnyLength | Local | ListedStarts | Unfit
"""About every start on one grid or on all, lines, a rule, or listed starts."""


def prove(question: Question, budget: Budget = QUICK) -> Answer:
    """Return what is known: proved, refuted with a witness, or open.

    A limit leaves a question open.
    """
    if isinstance(question, Unfit):
        return left_open(question.reason, asked=question.asked)
    found = None
    outcome = "no method answers it"
    tried = list[MethodRun]()
    began = time.perf_counter()
    late = Deadline(budget.deadline.at + LATE_SECONDS)
    for method in METHODS:
        affordable = method.cost <= budget.most and not (method.needs_clock and not budget.clocked)
        if not (affordable and method.answers(question)) or (tried and budget.deadline.passed):
            continue
        budget.progress(method.name)
        start = time.perf_counter()
        try:
            with checking(late.check):
                answer = method.decide(question, budget, found)
        except OutOfTimeError:
            answer = TIME_IS_UP
        except NoTargetError as error:
            answer = str(error)
        found = answer if isinstance(answer, Answer) else found
        outcome = answer.outcome if isinstance(answer, Answer) else answer
        tried.append(MethodRun(method.name, outcome, time.perf_counter() - start))
        if found is not None and found.outcome == "decided":
            break
    if found is None:
        found = _unanswered(question, outcome)
    if isinstance(found.evidence, Finding):
        spent = time.perf_counter() - began
        evidence = replace(found.evidence, attempts=tuple(tried), seconds=spent)
        found = replace(found, evidence=evidence)
    return found if isinstance(question, Convergence) else _kept(question, found, budget)


def _unanswered(question: Question, reason: str) -> Answer:
    """Leave a question open that no method answers."""
    if not isinstance(question, Plane):
        return left_open(reason, asked=getattr(question, "asked", None))
    found = EverySize(question, reason=reason)
    return Answer(Assurance(Verdict.open, "every size", found.text, asked=found.asked), found)


def _kept(question: Question, found: Answer, budget: Budget) -> Answer:
    """Decide whether damage stays local, too, if that is asked."""
    wound = getattr(question, "wound", None)
    if wound is None:
        return found
    if isinstance(question, ListedStarts):
        kept = _in_a_picture(question, wound, budget)
    else:
        kept = confined(found.evidence, None, wound, budget)
    return replace(found, confinement=kept)


def confined(
    everywhere: EverySize, one: Finding | None, wound: Wound, budget: Budget
) -> Confinement:
    """Decide whether damage stays local on every grid; without their proof, on one by its own."""
    if everywhere.table is not None:
        return _confined(everywhere.table.question, wound, Ground.of(everywhere.table), budget)
    if one is None or not one.states:
        reason = "it is not proved by sets that every start settles"
        tries = () if one is None else one.attempts
        late = any(each.method == SETS.name and each.outcome == TIME_IS_UP for each in tries)
        if late or everywhere.reason == TIME_IS_UP or budget.deadline.passed:
            reason = TIME_IS_UP
        return Confinement(wound, Verdict.open, reason=reason)
    ground = Ground(as_array(one.question.board, one.final_sets))
    return _confined(one.question, wound, ground, budget)


def _in_a_picture(question: ListedStarts, wound: Wound, budget: Budget) -> Confinement:
    """Decide whether damage stays local in the state in which a picture's only start settles.

    In other orders of firing it may settle in another one.
    """
    small = question.small
    cases = question.cases
    where = "{}×{} cells".format(*cases.starts.shape[2:])
    if len(cases.starts) != 1 or small.fire_rate < 1:
        reason = "it may settle in several states"
        return Confinement(wound, Verdict.open, where=where, reason=reason)
    goal = Convergence.of(small, cases.targets[0])
    start = cases.starts[0][list(small.circuit.labels)]
    run = repeated(goal.network, goal.board, pack(goal.board, start), budget.deadline, math.inf)
    if run is None or run[1] != 1 or not goal.is_right(run[0]):
        reason = TIME_IS_UP if run is None else "its start does not settle in the target"
        return Confinement(wound, Verdict.open, where=where, reason=reason)
    return _confined(goal, wound, Ground(unpack(goal.board, run[0]), start=start), budget)


def _confined(question: Convergence, wound: Wound, ground: Ground, budget: Budget) -> Confinement:
    """Try the distances that damage may reach; without a clock, only that of the wound.

    Any order of firing is tried first, even if all cells fire at each step.
    """
    rates = (ANY_ORDER, 1.0) if question.synchronous else (ANY_ORDER,)
    for reach in REACHES if budget.clocked else (wound.reach,):
        for rate in rates:
            asked = replace(question, fire_rate=rate)
            found = confine(asked, replace(wound, reach=reach), ground, budget.deadline)
            if found.proved:
                return found
        if found.margin is not None:
            break
    return found
