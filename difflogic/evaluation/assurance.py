"""What is proved about a circuit, in the words that `dct train`, `dct eval` and sweeps print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.specification import Cases, Rule
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.proof.convergence import (
    NEVER,
    Finding,
    Question,
    Verdict,
    decide_quickly,
    orbit,
    run_from,
    steps_to_heal,
)
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.convergence.orbits import MOST_STATES
from difflogic.proof.convergence.planes import Board, Network, Planes, pack
from difflogic.proof.every_length import EveryLength, prove
from difflogic.proof.every_size import broken
from difflogic.system.json_values import fields_of
from difflogic.tasks import Task, make_task

Scope = Literal[
    "every start", "the only start", "every case", "every length", "every size", "samples"
]
"""The starts that a verdict covers; samples alone prove nothing."""

MOST_BITS = 2**19
"""Largest state to try: a grid of 256×256 cells with 8 channels. Larger ones take many seconds."""

MOST_STEPS = 2**12
"""Steps within which the state of a single start must repeat, to prove all later steps."""


@dataclass(frozen=True)
class Healing:
    """Whether and when damages by patches of one size grow back."""

    side: int
    """Side of the square patch, in cells."""
    states: int
    """Number of damaged states: all states of the run from the training step on."""
    steps: tuple[int, ...]
    """For each place, the most steps until the target is back for good, or NEVER."""
    columns: int = 0
    """Number of places per row if they are in row order, else 0."""

    @property
    def damages(self) -> int:
        """Number of places; damages of different states at the same place count once."""
        return len(self.steps)

    @property
    def lasting(self) -> int:
        """Number of places where the damage of some state does not grow back."""
        return self.steps.count(NEVER)

    @property
    def within(self) -> int:
        """Steps after which every damage that ever grows back has done so."""
        return max(self.steps)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return fields_of(self, "damages", "lasting", "within")


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

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.proved


def assure(model: Model) -> Assurance:
    """Return what can be proved quickly about a model's hard circuit; equal on any machine."""
    return assure_automaton(from_model(model), make_task(model.config))


def assure_automaton(automaton: Automaton, task: Task) -> Assurance:
    """Return what can be proved quickly about an automaton for `task`."""
    bits = task.height * task.width * automaton.circuit.channels
    if bits > MOST_BITS:
        return Assurance(Verdict.open, "samples", f"not proved: {bits} bits of state are too many")
    lines = every_length(automaton, task)
    if lines is not None:
        return of_lines(lines, task)
    if task.rule is not None:
        return _of_rule(automaton, task.rule)
    if task.each:
        return _together([assure_automaton(automaton, each) for each in task.each])
    small = live_part(automaton)
    cases = task.find_cases()
    if cases is not None:
        return _on_cases(small, cases)
    target = task.find_lasting_target()
    if target is not None:
        return of_finding(decide_quickly(question(small, target)))
    if not task.has_random_start and automaton.fire_rate == 1:
        return _of_one_start(small, task)
    return Assurance(Verdict.open, "samples", "not proved: the task lists no cases")


def _together(found: list[Assurance]) -> Assurance:
    """Return what is known about tasks of one start each; proved only if each is proved."""
    worst = next((each for each in found if not each.proved), found[0])
    starts = (f"from {start}" for start in ("nothing", "one cell"))
    text = "; ".join(f"{each.text}, {start}" for each, start in zip(found, starts, strict=True))
    steps = [each.from_step for each in found if each.from_step is not None]
    healing = tuple(side for each in found for side in each.healing)
    return Assurance(
        worst.verdict,
        "every case",
        text,
        "a run",
        max(steps) if len(steps) == len(found) else None,
        healing=healing,
    )


def every_length(automaton: Automaton, task: Task) -> EveryLength | None:
    """Return what is known about lines of every length; None if the task is not about lines."""
    if task.machine is None:
        return None
    return prove(automaton, task.machine, task.automaton.steps - task.width + 1)


def of_lines(found: EveryLength, task: Task) -> Assurance:
    """Describe a finding about lines of every length."""
    verdict = Verdict.open
    if found.proved or found.wrong is not None:
        verdict = Verdict.proved if found.proved else Verdict.refuted
    from_step = task.automaton.steps if found.proved else None
    return Assurance(verdict, "every length", found.text, "histories", from_step)


def _of_rule(automaton: Automaton, rule: Rule) -> Assurance:
    reason = broken(automaton, rule)
    if reason:
        return Assurance(Verdict.open, "every size", f"not proved for every size: {reason}")
    text = f"proved for every {rule.theorem}"
    return Assurance(Verdict.proved, "every size", text, "a rule", automaton.steps)


def all_cases(task: Task) -> Cases | None:
    """Return all cases of a task, or its only start; None if there is no such list."""
    cases = task.find_cases()
    if cases is not None or task.has_random_start or task.automaton.fire_rate != 1:
        return cases
    start, target = task.draw(np.random.default_rng(0))
    return Cases(
        "the only start",
        start[None],
        (target[None] != 0).astype(np.uint8),
        task.automaton.boundary,
        task.automaton.steps,
        "There is one start only, and nothing random.",
    )


def question(automaton: Automaton, target: npt.NDArray[np.uint8]) -> Question:
    """Return the question whether every start ends in `target` (visible, height, width)."""
    _, height, width = target.shape
    return Question(
        automaton.circuit,
        automaton.visible,
        height,
        width,
        automaton.boundary,
        target,
        automaton.fire_rate,
    )


def of_finding(found: Finding) -> Assurance:
    """Describe a finding about every start."""
    unit = "step" if found.question.synchronous else "round"
    match found.verdict:
        case Verdict.proved:
            text = f"proved for every start from {unit} {found.from_step} on"
        case Verdict.refuted:
            text = "fails: some starts keep missing the target"
        case Verdict.open:
            text = f"not proved: {found.unknown_cells} cells remain unknown"
    method = found.method and found.method.value
    return Assurance(
        found.verdict, "every start", text, method, found.from_step, found.any_schedule
    )


def _on_cases(automaton: Automaton, cases: Cases) -> Assurance:
    count, _, height, width = cases.starts.shape
    board = Board(height, width, cases.boundary, count)
    network = Network(automaton.circuit)
    state = pack(board, cases.starts[:, list(automaton.circuit.labels)].swapaxes(0, 1))
    for _ in range(cases.steps):
        state = network.step(board, state)
    wrong = 0
    for channel, row in enumerate(automaton.visible_rows):
        wrong |= state[row] ^ board.pack(cases.targets[:, channel])
    missed = int(board.unpack(wrong).reshape(count, -1).any(axis=1).sum())
    if missed:
        text = f"fails on {missed} of {cases.name.removeprefix('all ')}"
        return Assurance(Verdict.refuted, "every case", text, "all cases")
    text = f"proved for {cases.name}"
    return Assurance(Verdict.proved, "every case", text, "all cases", cases.steps)


def _of_one_start(automaton: Automaton, task: Task) -> Assurance:
    """Run the only start until its state repeats, which determines every later step."""
    start, target = task.draw(np.random.default_rng(0))
    if np.isnan(target).any():
        return Assurance(Verdict.open, "the only start", "not proved: some cells do not count")
    goal = question(automaton, (target != 0).astype(np.uint8))
    begin = pack(goal.board, start[list(automaton.circuit.labels)])
    steps = task.automaton.steps
    found = orbit(goal, begin, most=max(MOST_STEPS, 2 * steps))
    if found is None:
        state = begin
        for _ in range(steps):
            state = goal.network.step(goal.board, state)
        right, later = goal.is_right(state), "later steps are unknown, as no state repeated"
        from_step = period = None
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
        healed = _heal(goal, run_from(goal, begin, found, steps), task)
        return assurance(*_verdict_on(healed, steps, text), healed)
    if task.holds:
        return assurance(Verdict.refuted, f"fails after step {steps}, where it is right; {later}")
    if from_step is None:
        text = f"proved at step {steps}, not at every later one; {later}"
    else:
        text = f"proved at step {steps}, and at every one from step {from_step} on"
    return assurance(Verdict.proved, text)


def _heal(goal: Question, resting: list[Planes], task: Task) -> tuple[Healing, ...]:
    """Try all damages of all states of the cycle; return nothing if the states are too many."""
    if len(resting) > MOST_STATES:
        return ()
    return tuple(
        Healing(
            side,
            len(resting),
            tuple(steps_to_heal(goal, resting, places).tolist()),
            _columns(goal, side, len(places)),
        )
        for side, places in task.patches.items()
    )


def _columns(goal: Question, side: int, places: int) -> int:
    """Return the number of places of a square per row; 0 if `places` are not all places."""
    around = goal.boundary == "periodic"
    rows, columns = (
        length if around else length - side + 1 for length in (goal.height, goal.width)
    )
    return columns if places == rows * columns else 0


def _verdict_on(healed: tuple[Healing, ...], steps: int, text: str) -> tuple[Verdict, str]:
    """Return the verdict on a run that stays, described by `text`, from its damages."""
    if not healed:
        return Verdict.open, f"{text}; it has too many states to damage each of them"
    damages, lasting = (
        sum(getattr(each, key) for each in healed) for key in ("damages", "lasting")
    )
    if lasting:
        known = text.removeprefix("proved ")
        return (
            Verdict.refuted,
            f"fails: {lasting} of {damages} cases of damage do not heal; proved {known}",
        )
    within = max(each.within for each in healed)
    unit = "step" if within == 1 else "steps"
    healing = f"at most {within} {unit} after each of {damages} cases of damage"
    return Verdict.proved, f"{text}, and {healing}"
