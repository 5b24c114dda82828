"""What is proved of a circuit, and in which words `dct train`, `dct eval` and sweeps say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from difflogic.logic.automaton import Automaton, from_model
from difflogic.logic.convergence import Finding, Question, Verdict, decide_quickly, orbit
from difflogic.logic.convergence.folding import live_part
from difflogic.logic.convergence.planes import Board, Network, pack
from difflogic.model import Model
from difflogic.tasks import Cases, Task, make_task

Scope = Literal["every start", "the only start", "every case", "samples"]
"""What a verdict is about; of samples alone nothing is proved."""

MOST_BITS = 2**19
"""Of state: a grid of 256×256 cells with 8 channels. More take seconds and more."""

MOST_STEPS = 2**12
"""Steps in which the state of a task with one start has to repeat to be known for ever."""


@dataclass(frozen=True)
class Assurance:
    """What is known of a circuit beyond samples."""

    verdict: Verdict
    scope: Scope
    text: str
    """A sentence's end, as in "proved for every start from step 18 on"."""
    method: str | None = None
    from_step: int | None = None
    """The step from which the target is shown for ever; None if that is not known, or not so."""
    any_schedule: bool = False
    """Whether steps may be rounds: under any order of firing, each cell once or more in each."""
    period: int | None = None
    """Of a task with one start: steps after which its state comes back."""

    @property
    def proved(self) -> bool:
        return self.verdict is Verdict.proved

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "verdict": self.verdict.value, "scope": self.scope, "text": self.text,
            "method": self.method, "from_step": self.from_step,
            "any_schedule": self.any_schedule, "period": self.period,
        }  # fmt: skip


def assure(model: Model) -> Assurance:
    """Return what can be proved quickly of a model's hard circuit, the same on any machine."""
    return assure_automaton(from_model(model), make_task(model.config))


def assure_automaton(automaton: Automaton, task: Task) -> Assurance:
    """Return what can be proved quickly of an automaton that is to do `task`."""
    bits = task.height * task.width * automaton.circuit.channels
    if bits > MOST_BITS:
        return Assurance(Verdict.open, "samples", f"not proved: {bits} bits of state are too many")
    small = live_part(automaton)
    cases = task.call("cases")
    if cases is not None:
        return _on_cases(small, cases)
    target = task.find_lasting_target()
    if target is not None:
        return of_finding(decide_quickly(question(small, target)))
    if not task.has_random_start and automaton.fire_rate == 1:
        return _of_one_start(small, task)
    return Assurance(Verdict.open, "samples", "not proved: its starts can only be sampled")


def all_cases(task: Task) -> Cases | None:
    """Return all that a task asks of a circuit, where it can be listed: its cases, or its start."""
    cases = task.call("cases")
    if cases is not None or task.has_random_start or task.automaton.fire_rate != 1:
        return cases
    start, target = task.draw(np.random.default_rng(0))
    return Cases(
        "the only start", start[None], (target[None] != 0).astype(np.uint8),
        task.automaton.boundary, task.automaton.steps,
        "There is one start only, and nothing random.",
    )  # fmt: skip


def question(automaton: Automaton, target: np.ndarray) -> Question:
    """Return whether an automaton's every start ends in `target` (visible, height, width)."""
    _, height, width = target.shape
    return Question(
        automaton.circuit, automaton.visible, height, width, automaton.boundary, target,
        automaton.fire_rate == 1,
    )  # fmt: skip


def of_finding(found: Finding) -> Assurance:
    """Say what was found about every start."""
    unit = "step" if found.question.synchronous else "round"
    match found.verdict:
        case Verdict.proved:
            text = f"proved for every start from {unit} {found.from_step} on"
        case Verdict.refuted:
            text = "refuted: some starts miss the target again and again"
        case Verdict.open:
            text = f"not proved: {found.unknown_cells} cells stay unknown"
    method = found.method and found.method.value
    return Assurance(
        found.verdict, "every start", text, method, found.from_step, found.any_schedule
    )


def _on_cases(automaton: Automaton, cases: Cases) -> Assurance:
    """Run all cases side by side."""
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
        text = f"refuted: wrong in {missed} of {cases.what.removeprefix('all ')}"
        return Assurance(Verdict.refuted, "every case", text, "all cases")
    text = f"proved for {cases.what}"
    return Assurance(Verdict.proved, "every case", text, "all cases", cases.steps)


def _of_one_start(automaton: Automaton, task: Task) -> Assurance:
    """Run the only start until its state repeats, which tells every later step."""
    start, target = task.draw(np.random.default_rng(0))
    asked = question(automaton, (target != 0).astype(np.uint8))
    begin = pack(asked.board, start[list(automaton.circuit.labels)])
    steps = task.automaton.steps
    found = orbit(asked, begin, most=max(MOST_STEPS, 2 * steps))
    if found is None:
        state = begin
        for _ in range(steps):
            state = asked.network.step(asked.board, state)
        right, later = asked.is_right(state), "later steps are not known, as no state came back"
    else:
        right, later = found.is_right(steps), f"states repeat with period {found.period}"
    period = None if found is None else found.period
    if not right:
        text = f"refuted: wrong at step {steps}; {later}"
        return Assurance(Verdict.refuted, "the only start", text, "a run", period=period)
    from_step = None if found is None else found.right_from
    if found is None:
        text = f"proved at step {steps}; {later}"
    elif from_step is None:
        text = f"proved at step {steps}, not at every later one; {later}"
    elif from_step <= steps:
        text = f"proved at step {steps} and at every later one"
    else:
        text = f"proved at step {steps}, and at every one from step {from_step} on"
    return Assurance(Verdict.proved, "the only start", text, "a run", from_step, period=period)
