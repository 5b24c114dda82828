"""What is proved about a circuit, in the words that `dct train`, `dct eval` and sweeps print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.specification import Cases, Rule
from difflogic.evaluation.settling import lasts
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.proof.convergence import Bits, Finding, Question, Verdict, decide_quickly, right_from
from difflogic.proof.convergence.confinement import Confinement, Ground, Wound, confine
from difflogic.proof.convergence.erasing import right_from_erased
from difflogic.proof.convergence.findings import Method
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.convergence.orbits import (
    MOST_ALONE,
    MOST_STATES,
    NEVER,
    UNKNOWN,
    orbit,
    run_from,
    steps_to_heal,
)
from difflogic.proof.convergence.planes import Board, Network, Planes, pack
from difflogic.proof.convergence.sizes import EverySize, every_size
from difflogic.proof.every_length import EveryLength, prove
from difflogic.proof.every_size import broken
from difflogic.proof.question import Asked
from difflogic.system.deadline import NEVER as NO_DEADLINE
from difflogic.system.deadline import Deadline
from difflogic.system.json_values import fields_of
from difflogic.tasks import Task, make_task
from difflogic.tasks.base import center_start

Scope = Literal[
    "every start", "the only start", "every case", "every length", "every size", "samples"
]
"""The starts that a verdict covers; samples alone prove nothing."""

MOST_BITS = 2**19
"""Largest state to try: a grid of 256×256 cells with 8 channels. Larger ones take many seconds."""

MOST_STEPS = 2**12
"""Steps within which the state of a single start must repeat, to prove all later steps.

This and MOST_ALONE hold unless there is a deadline: without one, all machines agree.
"""

WOUND = Wound(10, margin=1, zeros=False)
"""Damage that a tough circuit must keep local. At the edges none does: docs/tough.md."""

ANY_ORDER = 0.5
"""A fire rate that asks about every fair schedule, as all below 1 do."""

GO_ON = "dct verify convergence --time-limit goes on"


@dataclass(frozen=True)
class Healing:
    """Whether and when damages by patches of one size grow back."""

    side: int
    """Side of the square patch, in cells."""
    states: int
    """Number of damaged states: all states of the run from the training step on."""
    steps: tuple[int, ...]
    """For each place, the most steps until the target is back for good, NEVER or UNKNOWN."""

    @property
    def damages(self) -> int:
        """Number of places; damages of different states at the same place count once."""
        return len(self.steps)

    @property
    def lasting(self) -> int:
        """Number of places where the damage of some state does not grow back."""
        return self.steps.count(NEVER)

    @property
    def unknown(self) -> int:
        """Number of places of which nothing is known, as the run never repeated."""
        return self.steps.count(UNKNOWN)

    @property
    def within(self) -> int:
        """Steps after which every damage that is known to grow back has done so."""
        return max(0, *self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return fields_of(self, "damages", "lasting", "unknown", "within")


@dataclass(frozen=True)
class Assurance:
    """What is known about a circuit beyond samples."""

    verdict: Verdict
    scope: Scope
    text: str
    """The result in words, such as "proved for every start from step 18 on"."""
    method: str | None = None
    from_step: int | None = None
    """The step from which the target stays, if known."""
    any_schedule: bool = False
    """Whether it holds for any order of firing, with rounds in place of steps."""
    period: int | None = None
    """With one start: the period of its states."""
    healing: tuple[Healing, ...] = ()
    """If the target must grow back: the results for each size of damage."""
    asked: Asked | None = None
    """The question; None if there are samples only."""
    confined: bool | None = None
    """Whether damage is proved to stay local; None if nobody asked."""

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.proved


def assure(model: Model) -> Assurance:
    """Return what can be proved quickly about a model's hard circuit; equal on any machine."""
    return assure_automaton(from_model(model), make_task(model.config), wound=WOUND)


def assure_automaton(
    automaton: Automaton, task: Task, deadline: Deadline | None = None, wound: Wound | None = None
) -> Assurance:
    """Return what can be proved quickly about an automaton for `task`, or until `deadline`.

    Each method gets the questions only that it decides; all others stay open. If the task asks for
    every size, and that is proved, also says whether damage by a `wound` stays local.
    """
    bits = task.height * task.width * automaton.circuit.channels
    # Counted places settle by themselves, whatever follows from them.
    if bits > MOST_BITS and not task.automaton.places:
        return _open(f"{bits} bits of state are too many")
    if task.loss_channels != automaton.visible:
        return _open("the task compares other channels than the circuit shows")
    lines = every_length(automaton, task)
    if lines is not None:
        return of_lines(lines, task)
    if task.rule is not None:
        return _of_rule(automaton, task.rule, task.automaton.steps)
    cases = task.find_cases()
    if cases is None:
        target = task.find_lasting_target()
        if target is not None:
            small = live_part(automaton)
            own = decide_quickly(Question.of(small, target))
            if not task.asks_every_size:
                return of_finding(own)
            targets, period = task.lasting_target_on, task.lasting_period
            everywhere, kept = every_size(small, targets, period, decide_quickly), None
            if wound is not None and everywhere.table is not None:
                ground = Ground.of(everywhere.table)
                kept = confine_in_any_order(everywhere.table.question, wound, ground)
            return of_size(everywhere, own, kept)
        cases = _only_start(automaton, task)
    if cases is None:
        return _open("the task lists no cases")
    height, width = cases.starts.shape[2:]
    asked = Asked(
        claim="shows" if not task.holds else "heals" if task.damages else "holds",
        starts=_named(cases),
        height=height,
        width=width,
        boundary=cases.boundary,
        fire_rate=automaton.fire_rate,
        visible=automaton.visible,
        step=cases.steps,
        damages=sum(task.damages.values()),
    )
    small = live_part(automaton)
    if cases.boundary != automaton.boundary and cases.repeats is None:
        found = _open(f"the cases have a {cases.boundary} boundary, the circuit another")
    elif automaton.fire_rate < 1:
        found = _at_random(small, cases)
    elif len(cases.starts) == 1 or task.holds or task.each:
        found = _on_each(small, cases, task, deadline)
    else:
        found = _on_cases(small, task, cases)
    return replace(found, asked=asked)


def _open(reason: str, scope: Scope = "samples") -> Assurance:
    return Assurance(Verdict.open, scope, f"not proved: {reason}")


def _named(cases: Cases) -> str:
    """Name the starts; the only one by what it is."""
    start = cases.starts[0]
    if len(cases.starts) > 1:
        return cases.name
    if not start.any():
        return "zeros"
    return "one cell" if (start == center_start(*start.shape)).all() else cases.name


def _on_each(
    automaton: Automaton, cases: Cases, task: Task, deadline: Deadline | None
) -> Assurance:
    """Run each start until its state repeats; proved only if each is proved."""
    found = [
        _of_one_start(automaton, start, target, task, deadline)
        for start, target in zip(cases.starts, cases.targets, strict=True)
    ]
    if len(found) == 1:
        return found[0]
    names = ("nothing", "one cell") if task.each else range(1, len(found) + 1)
    texts: dict[str, list[str]] = {}
    for each, name in zip(found, names, strict=True):
        texts.setdefault(each.text, []).append(f"from {name}" if task.each else f"start {name}")
    text = "; ".join(f"{text}, {_listed(starts)}" for text, starts in texts.items())
    order = (Verdict.refuted, Verdict.open, Verdict.proved)
    verdict = min((each.verdict for each in found), key=order.index)
    steps = [each.from_step for each in found if each.from_step is not None]
    from_step = max(steps) if len(steps) == len(found) else None
    healing = tuple(side for each in found for side in each.healing)
    return Assurance(verdict, "every case", text, "a run", from_step, healing=healing)


def _listed(starts: list[str]) -> str:
    return " and ".join(starts) if len(starts) < 3 else f"{starts[0]} and {len(starts) - 1} others"


def every_length(automaton: Automaton, task: Task) -> EveryLength | None:
    """Return what is known about lines of every length; None if the task is not about lines."""
    if task.machine is None:
        return None
    return prove(automaton, task.machine, task.automaton.steps - task.width + 1)


def of_lines(found: EveryLength, task: Task) -> Assurance:
    """Describe a finding about lines of every length."""
    verdict = Verdict.open if found.wrong is None else Verdict.refuted
    verdict = Verdict.proved if found.proved else verdict
    from_step = task.automaton.steps if found.proved else None
    return Assurance(verdict, "every length", found.text, "histories", from_step, asked=found.asked)


def _of_rule(automaton: Automaton, rule: Rule, steps: int) -> Assurance:
    how = automaton.boundary, automaton.fire_rate, automaton.visible
    asked = Asked("obeys", "every start", None, None, *how)
    reason = broken(automaton, rule)
    if reason:
        text = f"not proved for every size: {reason}"
        return Assurance(Verdict.open, "every size", text, asked=asked)
    text = f"proved for every {rule.theorem}"
    return Assurance(Verdict.proved, "every size", text, "a rule", steps, asked=asked)


def all_cases(automaton: Automaton, task: Task) -> Cases | None:
    """Return all cases of a task, or its only start; None if there is no such list."""
    return task.find_cases() or _only_start(automaton, task)


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


def confine_in_any_order(
    question: Question, wound: Wound, ground: Ground, deadline: Deadline = NO_DEADLINE
) -> Confinement:
    """Decide as `confine` does, but if all cells fire at each step, try any order first."""
    if question.synchronous:
        found = confine(replace(question, fire_rate=ANY_ORDER), wound, ground, deadline)
        if found.verdict is Verdict.proved:
            return found
    return confine(question, wound, ground, deadline)


def of_size(found: EverySize, own: Finding, kept: Confinement | None = None) -> Assurance:
    """Describe a finding about every size; `own` is that about the training grid."""
    text = found.text
    if found.verdict is Verdict.proved:
        cells = f"{own.question.height}×{own.question.width} cells"
        text += f", on {cells} from {found.asked.unit} {own.from_step} on"
    text += "" if kept is None else f"; {kept.text}"
    known = Method.sets.value, own.from_step, found.verdict is Verdict.proved
    confined = None if kept is None else kept.verdict is Verdict.proved
    return Assurance(
        found.verdict, "every size", text, *known, asked=found.asked, confined=confined
    )


def of_finding(found: Finding) -> Assurance:
    """Describe a finding about every start."""
    asked = found.question.asked
    match found.verdict:
        case Verdict.proved:
            text = f"proved for every start from {asked.unit} {found.from_step} on"
        case Verdict.refuted:
            text = "fails: some starts keep missing the target"
        case Verdict.open:
            text = f"not proved: {found.unknown_cells} cells remain unknown"
    known = found.from_step, found.any_schedule
    method = found.method and found.method.value
    return Assurance(found.verdict, "every start", text, method, *known, asked=asked)


def _on_cases(automaton: Automaton, task: Task, cases: Cases) -> Assurance:
    missed, rests = _run(automaton, cases)
    text, verdict = f"proved for {cases.name}", Verdict.proved
    if missed:
        # What should stay may be right a little later.
        when = f" at step {cases.steps}" if task.stays else ""
        text = f"fails on {missed} of {cases.name.removeprefix('all ')}{when}"
        verdict = Verdict.refuted
    elif task.stays and not lasts(automaton, task, cases):
        text = (
            f"right for {cases.name} at step {cases.steps}, but not for good, or in their own size"
        )
        verdict = Verdict.refuted
    elif rests:
        text += f", at step {cases.steps} and at every later one"
    step = cases.steps if verdict is Verdict.proved else None
    return Assurance(verdict, "every case", text, "all cases", step)


def _run(automaton: Automaton, cases: Cases, steps: int | None = None) -> tuple[int, bool]:
    """Return how many cases are wrong after `steps`, and whether another step changes nothing.

    All cells fire in each step; by default the cases name the steps.
    """
    count, _, height, width = cases.starts.shape
    board = Board(height, width, cases.boundary, count)
    network = Network(automaton.circuit)
    state = pack(board, cases.starts[:, list(automaton.circuit.labels)].swapaxes(0, 1))
    for _ in range(cases.steps if steps is None else steps):
        state = network.step(board, state)
    wrong = 0
    for channel, row in enumerate(automaton.visible_rows):
        target = cases.targets[:, channel]
        wrong |= (state[row] ^ board.pack(target == 1)) & board.pack(~np.isnan(target))
    missed = int(board.unpack(wrong).reshape(count, -1).any(axis=1).sum())
    return missed, network.step(board, state) == state


def _at_random(automaton: Automaton, cases: Cases) -> Assurance:
    """Look for a schedule that misses a target: any cells may fire, so perhaps none, or all."""
    rate = f"at a fire rate of {automaton.fire_rate:g}"
    for steps, who in (0, "none"), (cases.steps, "all"):
        missed, _ = _run(automaton, cases, steps)
        if missed:
            name = f"{missed} of {cases.name.removeprefix('all ')}"
            text = f"fails on {name} if {who} of the cells fire, as may happen {rate}"
            return Assurance(Verdict.refuted, "every case", text, "all cases")
    return _open(f"{rate} other orders of firing may fail", "every case")


def _of_one_start(
    automaton: Automaton, start: Bits, target: Bits, task: Task, deadline: Deadline | None
) -> Assurance:
    """Run a start until its state repeats, which determines every later step."""
    goal = Question.of(automaton, target)
    steps, settled = task.due, right_from(goal)
    if settled is not None and settled <= steps:
        return _if_erased(goal, task, settled, Method.sets.value)
    grown = None if start.any() else right_from_erased(goal)
    if grown is not None and grown <= steps:
        return _if_erased(goal, task, grown, "all ways to erase neighbours")
    begin = pack(goal.board, start[list(automaton.circuit.labels)])
    most = max(MOST_STEPS, 2 * steps) if deadline is None else math.inf
    found = orbit(goal, begin, deadline or NO_DEADLINE, most)
    if found is None:
        state = begin
        for _ in range(steps):
            state = goal.network.step(goal.board, state)
        later = f"later steps are unknown, as no state repeated: {GO_ON}"
        right, from_step, period = goal.is_right(state), None, None
    else:
        right, later = found.is_right(steps), f"states repeat with period {found.period}"
        from_step, period = found.right_from if right else None, found.period

    def assurance(verdict: Verdict, text: str, healed: tuple[Healing, ...] = ()) -> Assurance:
        return Assurance(
            verdict, "the only start", text, "a run", from_step, period=period, healing=healed
        )

    if not right:
        return assurance(Verdict.refuted, f"fails at step {steps}; {later}")
    if found is None:
        verdict = Verdict.open if task.holds else Verdict.proved
        return assurance(verdict, f"proved at step {steps}; {later}")
    if from_step is not None and from_step <= steps:
        text = f"proved at step {steps} and at every later one"
        if not task.patches:
            return assurance(Verdict.proved, text)
        healed = _heal(goal, run_from(goal, begin, found, steps), task, deadline)
        return assurance(*_verdict_on(healed, text), healed)
    if task.holds:
        return assurance(Verdict.refuted, f"fails after step {steps}, where it is right; {later}")
    if from_step is None:
        text = f"proved at step {steps}, not at every later one; {later}"
    else:
        text = f"proved at step {steps}, and at every one from step {from_step} on"
    return assurance(Verdict.proved, text)


def _if_erased(goal: Question, task: Task, settled: int, method: str) -> Assurance:
    """Describe a target that heals within `settled` steps, whatever cells are erased."""
    text = f"proved at step {task.due} and at every later one"
    healed = tuple(Healing(side, 1, (settled,) * places) for side, places in task.damages.items())
    verdict, text = _verdict_on(healed, text) if healed else (Verdict.proved, text)
    return Assurance(verdict, "the only start", text, method, settled, period=1, healing=healed)


def _heal(
    goal: Question, resting: Sequence[Planes], task: Task, deadline: Deadline | None
) -> tuple[Healing, ...]:
    """Try all damages of all states of the cycle; return nothing if the states are too many."""
    if len(resting) > MOST_STATES:
        return ()
    limits = (NO_DEADLINE, MOST_ALONE) if deadline is None else (deadline, math.inf)
    return tuple(
        Healing(side, len(resting), tuple(steps_to_heal(goal, resting, places, *limits).tolist()))
        for side, places in task.patches.items()
    )


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
