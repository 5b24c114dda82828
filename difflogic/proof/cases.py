"""Decides listed starts: all at once, or each until its state repeats, and after damage."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import center_start
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Cases
from difflogic.proof.answer import Answer, Assurance, Budget, Healing, Method
from difflogic.proof.convergence.erasure import right_from_erased
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import SETS, right_from
from difflogic.proof.convergence.orbits import (
    MOST_ALONE,
    MOST_RESTING,
    orbit,
    run_from,
    steps_to_heal,
)
from difflogic.proof.convergence.planes import Board, Network, Planes, pack
from difflogic.proof.question import Asked, Claim, Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import Deadline

START_STEPS = 2**12
"""Steps within which the state of a single start must repeat, to prove all later steps.

This and MOST_ALONE hold where there is no clock, so that all machines agree.
"""

GO_ON = "dct verify convergence --time-limit goes on"


@dataclass(frozen=True, eq=False)
class ListedStarts:
    """Asks whether listed starts reach their targets, and keep them if they should."""

    automaton: Automaton
    cases: Cases
    due: int
    """The step from which on a target that should stay must be right."""
    holds: bool = False
    """Whether the target of each start should stay at every later step."""
    lasts: Callable[[Automaton], bool] | None = None
    """Whether a circuit's cases are right once they have settled, if they should be."""
    damages: Mapping[int, int] = field(default_factory=dict)
    """The number of damages after which the target must be right again, by size."""
    patches: Callable[[], Mapping[int, Bits]] = dict
    """These damages, as in `Task.patches`."""
    wound: Wound | None = None
    """Damage that must stay local, too."""

    @cached_property
    def small(self) -> Automaton:
        """The automaton with the part of its circuit that matters."""
        return live_part(self.automaton)

    @property
    def asked(self) -> Asked:
        """The question in plain values."""
        cases = self.cases
        (height, width) = cases.starts.shape[2:]
        held: Claim = "heals" if self.damages else "holds"
        claim = held if self.holds else "shows"
        asked = Asked.of(self.automaton, claim, _named(cases), (height, width), cases.steps)
        return replace(asked, boundary=cases.boundary, damages=sum(self.damages.values()))


def _named(cases: Cases) -> str:
    """Name the starts; the only one by what it is."""
    start = cases.starts[0]
    if len(cases.starts) > 1:
        return cases.name
    if not start.any():
        return "zeros"
    return "one cell" if (start == center_start(*start.shape)).all() else cases.name


def _each(question: ListedStarts, budget: Budget) -> Answer:
    """Run each start until its state repeats; proved only if each is proved."""
    cases = question.cases
    found = [
        _of_one_start(question, start, target, budget)
        for start, target in zip(cases.starts, cases.targets, strict=True)
    ]
    if len(found) == 1:
        return Answer(replace(found[0], asked=question.asked), cases)
    texts: dict[str, list[str]] = {}
    for number, each in enumerate(found, 1):
        texts.setdefault(each.text, []).append(f"start {number}")
    text = "; ".join(f"{text}, {_listed(starts)}" for text, starts in texts.items())
    order = (Verdict.refuted, Verdict.open, Verdict.proved)
    verdict = min((each.verdict for each in found), key=order.index)
    steps = [each.from_step for each in found if each.from_step is not None]
    from_step = max(steps) if len(steps) == len(found) else None
    healing = tuple(side for each in found for side in each.healing)
    known = Assurance(verdict, "every case", text, "a run", from_step, healing=healing)
    return Answer(replace(known, asked=question.asked), cases)


def _listed(starts: list[str]) -> str:
    return " and ".join(starts) if len(starts) < 3 else f"{starts[0]} and {len(starts) - 1} others"


def _all(question: ListedStarts, budget: Budget) -> Answer:
    """Run all starts at once."""
    cases = question.cases
    automaton = question.small
    missed, rests = _run(automaton, cases, cases.steps, budget.deadline)
    text = f"proved for {cases.name}"
    verdict = Verdict.proved
    if missed:
        # What should stay may be right a little later.
        when = f" at step {cases.steps}" if question.lasts else ""
        text = f"fails on {missed} of {cases.name.removeprefix('all ')}{when}"
        verdict = Verdict.refuted
    elif question.lasts and not question.lasts(automaton):
        text = (
            f"right for {cases.name} at step {cases.steps}, but not for good, or in their own size"
        )
        verdict = Verdict.refuted
    elif rests:
        text += f", at step {cases.steps} and at every later one"
    step = cases.steps if verdict is Verdict.proved else None
    known = Assurance(verdict, "every case", text, "all cases", step, asked=question.asked)
    return Answer(known, cases)


def _run(automaton: Automaton, cases: Cases, steps: int, deadline: Deadline) -> tuple[int, bool]:
    """Return how many cases are wrong after `steps`, and whether another step changes nothing.

    All cells fire in each step. Raises OutOfTimeError.
    """
    count, _, height, width = cases.starts.shape
    board = Board(height, width, cases.boundary, count)
    network = Network(automaton.circuit)
    state = pack(board, cases.starts[:, list(automaton.circuit.labels)].swapaxes(0, 1))
    for _ in range(steps):
        deadline.check()
        state = network.step(board, state)
    wrong = 0
    for channel, row in enumerate(automaton.visible_rows):
        target = cases.targets[:, channel]
        wrong |= (state[row] ^ board.pack(target == 1)) & board.pack(~np.isnan(target))
    missed = int(board.unpack(wrong).reshape(count, -1).any(axis=1).sum())
    return missed, network.step(board, state) == state


def _of_one_start(question: ListedStarts, start: Bits, target: Bits, budget: Budget) -> Assurance:
    """Run a start until its state repeats, which determines every later step."""
    automaton = question.small
    goal = Convergence.of(automaton, target)
    steps = question.due
    settled = right_from(goal)
    if settled is not None and settled <= steps:
        return _if_erased(goal, question, settled, SETS.name)
    grown = None if start.any() else right_from_erased(goal)
    if grown is not None and grown <= steps:
        return _if_erased(goal, question, grown, "all ways to erase neighbours")
    begin = pack(goal.board, start[list(automaton.circuit.labels)])
    most = math.inf if budget.clocked else max(START_STEPS, 2 * steps)
    found = orbit(goal, begin, budget.deadline, most)
    if found is None:
        state = begin
        for _ in range(steps):
            state = goal.network.step(goal.board, state)
        later = f"later steps are unknown, as no state repeated: {GO_ON}"
        right = goal.is_right(state)
        from_step = None
        period = None
    else:
        right = found.is_right(steps)
        later = f"states repeat with period {found.period}"
        from_step = found.right_from if right else None
        period = found.period

    def assurance(verdict: Verdict, text: str, healed: tuple[Healing, ...] = ()) -> Assurance:
        return Assurance(
            verdict, "the only start", text, "a run", from_step, period=period, healing=healed
        )

    if not right:
        return assurance(Verdict.refuted, f"fails at step {steps}; {later}")
    if found is None:
        verdict = Verdict.open if question.holds else Verdict.proved
        return assurance(verdict, f"proved at step {steps}; {later}")
    if from_step is not None and from_step <= steps:
        text = f"proved at step {steps} and at every later one"
        if not question.damages:
            return assurance(Verdict.proved, text)
        healed = _heal(goal, run_from(goal, begin, found, steps), question, budget)
        return assurance(*_verdict_on(healed, text), healed)
    if question.holds:
        return assurance(Verdict.refuted, f"fails after step {steps}, where it is right; {later}")
    if from_step is None:
        text = f"proved at step {steps}, not at every later one; {later}"
    else:
        text = f"proved at step {steps}, and at every one from step {from_step} on"
    return assurance(Verdict.proved, text)


def _if_erased(goal: Convergence, question: ListedStarts, settled: int, method: str) -> Assurance:
    """Describe a target that heals within `settled` steps, whatever cells are erased."""
    text = f"proved at step {question.due} and at every later one"
    healed = tuple(
        Healing(side, 1, (settled,) * places) for side, places in question.damages.items()
    )
    verdict, text = _verdict_on(healed, text) if healed else (Verdict.proved, text)
    return Assurance(verdict, "the only start", text, method, settled, period=1, healing=healed)


def _heal(
    goal: Convergence, resting: Sequence[Planes], question: ListedStarts, budget: Budget
) -> tuple[Healing, ...]:
    """Try all damages of all states of the cycle; return nothing if the states are too many."""
    if len(resting) > MOST_RESTING:
        return ()
    most = math.inf if budget.clocked else MOST_ALONE
    healed = []
    for side, patches in question.patches().items():
        steps = steps_to_heal(goal, resting, patches, budget.deadline, most)
        healed.append(Healing(side, len(resting), tuple(steps.tolist())))
    return tuple(healed)


def _verdict_on(healed: tuple[Healing, ...], text: str) -> tuple[Verdict, str]:
    """Return the verdict on a run that stays, described by `text`, from its damages."""
    if not healed:
        return Verdict.open, f"{text}; it has too many states to damage each of them"
    damages, lasting, unknown = (
        sum(getattr(each, key) for each in healed) for key in ("damages", "lasting", "unknown")
    )
    if lasting:
        known = text.removeprefix("proved ")
        return (
            Verdict.refuted,
            f"fails: {lasting} of {damages} cases of damage do not heal; proved {known}",
        )
    if unknown:
        unsure = f"{unknown} of {damages} cases of damage may heal later than they were followed"
        return Verdict.open, f"not proved: {unsure}: {GO_ON}; {text}"
    within = max(each.within for each in healed)
    unit = "step" if within == 1 else "steps"
    healing = f"at most {within} {unit} after each of {damages} cases of damage"
    return Verdict.proved, f"{text}, and {healing}"


def _fits(question: object) -> bool:
    """Whether it is about listed starts, with all cells firing at each step."""
    return isinstance(question, ListedStarts) and question.small.fire_rate == 1


def _decide(question: ListedStarts, budget: Budget, before: Answer | None) -> Answer:
    """Run the starts one by one, if there is more to say of each, or else all at once."""
    if question.holds or (len(question.cases.starts) == 1 and question.lasts is None):
        return _each(question, budget)
    return _all(question, budget)


LISTED = Method("listed starts", 0.1, _fits, _decide)
