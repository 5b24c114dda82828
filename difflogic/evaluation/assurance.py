"""What a task asks of a circuit, as a question for the prover."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Cases
from difflogic.evaluation.settled import lasts
from difflogic.proof.answer import Answer, Assurance
from difflogic.proof.cases import ListedStarts
from difflogic.proof.convergence.every_size import Plane
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.every_length import AnyLength
from difflogic.proof.local_rule import Local
from difflogic.proof.prover import Question, Unfit, prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict

if TYPE_CHECKING:
    from difflogic.tasks.base import Task

MOST_STATE_BITS = 2**19
"""Largest state to try: a grid of 256×256 cells with 8 channels. Larger ones take many seconds."""

WOUND = Wound(10, margin=1, zeros=False)
"""Damage that a tough circuit must keep local. At the edges none does: docs/tough.md."""


def assure_automaton(automaton: Automaton, task: Task, wound: Wound | None = None) -> Assurance:
    """Return what is proved about an automaton for `task`.

    If the task asks for every size, and that is proved, also says whether damage by a `wound` stays
    local.
    """
    return in_words(prove(question_of(automaton, task, wound)))


def in_words(answer: Answer) -> Assurance:
    """Return what an answer says, with what it says about wounds."""
    found = answer.assurance
    kept = answer.confinement
    if kept is None:
        return found
    text = f"{found.text}; {kept.text}" if found.proved else found.text
    return replace(found, text=text, confined=kept.proved)


def keeps(automaton: Automaton, task: Task) -> bool:
    """Whether a circuit provably keeps its picture, or the targets of all its cases.

    If its task does not require that, whether no line is known on which it fails.
    """
    required = task.holds or task.asks_every_size
    required = required or (task.stays and task.find_cases() is not None)
    if not required and task.machine is None:
        return True
    found = assure_automaton(automaton, task)
    return found.proved or (not required and found.verdict is Verdict.open)


def question_of(automaton: Automaton, task: Task, wound: Wound | None = None) -> Question:
    """Return what a task asks of an automaton, and whether damage on every grid stays local."""
    bits = task.height * task.width * automaton.circuit.channels
    # With places, sets decide large grids too: the channels that count read nothing else.
    if bits > MOST_STATE_BITS and not task.automaton.places:
        return Unfit(f"{bits} bits of state are too many")
    if task.loss_channels != automaton.visible:
        return Unfit("the task compares other channels than the circuit shows")
    steps = task.automaton.steps
    if task.machine is not None:
        return AnyLength(automaton, task.machine, steps - task.width + 1, steps)
    if task.rule is not None:
        return Local(automaton, task.rule, steps)
    cases = task.find_cases()
    if cases is None:
        target = task.find_lasting_target()
        if target is not None:
            small = live_part(automaton)
            own = Convergence.of(small, target)
            if not task.asks_every_size:
                return own
            targets = task.lasting_target_on
            period = task.lasting_period
            # Only tasks that teach wounds to close ask how far they reach.
            wound = None if task.lessons is task else wound
            return Plane(small, targets, period, own=own, wound=wound)
        cases = _only_start(automaton, task)
    return Unfit("the task lists no cases") if cases is None else listed(automaton, task, cases)


def listed(automaton: Automaton, task: Task, cases: Cases) -> ListedStarts | Unfit:
    """Return what a task asks of an automaton in its cases."""
    asked = ListedStarts(
        automaton,
        cases,
        task.due,
        task.holds,
        (lambda small: lasts(small, task, cases)) if task.stays else None,
        task.damages,
        lambda: task.patches,
    )
    if automaton.fire_rate < 1:
        return Unfit("all cells fire in its cases, and not in the circuit", asked.asked)
    if cases.boundary != automaton.boundary and cases.repeats is None:
        return Unfit(
            f"the cases have a {cases.boundary} boundary, the circuit another", asked.asked
        )
    return asked


def _only_start(automaton: Automaton, task: Task) -> Cases | None:
    # With a fire rate below 1 a task asks for a circuit that is mostly right.
    if task.has_random_start or task.automaton.fire_rate < 1:
        return None
    start, target = task.draw(np.random.default_rng(0))
    if not np.isin(target, (0, 1)).all():
        return None
    return Cases(
        "the only start",
        start[None],
        target[None].astype(np.uint8),
        automaton.boundary,
        task.due,
        "There is one start only, and nothing random.",
    )
