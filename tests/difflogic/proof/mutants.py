"""Questions and their mutants: one field of a file or one gate changed. And who answers plainly."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, product
from types import SimpleNamespace
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.evaluation.assurance import question_of
from difflogic.proof.answer import Assurance
from difflogic.proof.convergence.orbits import LASTING
from difflogic.proof.prover import prove
from difflogic.proof.verdict import Verdict
from difflogic.tasks import Task
from difflogic.tasks.base import center_start
from difflogic.tasks.line import PARITY, TRAFFIC
from tests.difflogic.circuit.circuits import USED_INPUTS, circuit_of
from tests.difflogic.proof.convergence.brute import (
    GRIDS,
    all_states,
    number,
    rounds,
    settling,
    shows,
    step_all,
    successors,
)

Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of some values: hypothesis, or a generator of random numbers."""


def picking(seed: int) -> Pick:
    """Return one that draws by a seed."""
    rng = np.random.default_rng(seed)
    return lambda values: values[int(rng.integers(len(values)))]


CLAIMS = ("shows", "holds", "heals", "stays", "boards", "computes", "obeys")

FIELDS = (
    "gate",
    "gate",
    "output",
    "fire_rate",
    "boundary",
    "steps",
    "sides",
    "start",
    "visible",
    "labels",
    "target",
    "claim",
    "unread",
)


USUAL = {"visible": (0,), "boundary": "zero", "steps": 2, "fire_rate": 1.0, "claim": "shows"}


class Posed(Task):
    """A task that is nothing but its arrays."""

    def __init__(self, starts, targets, **more: Any) -> None:
        self.starts = starts
        self.targets = targets
        self.more = USUAL | more
        self.claim = self.more["claim"]
        height, width = starts.shape[2:]
        section = SimpleNamespace(
            inputs=more.get("inputs", ()),
            height=height,
            width=width,
            loss_channels=self.more["visible"],
            kind="posed",
        )
        run = {key: self.more[key] for key in ("boundary", "steps", "fire_rate")}
        automaton = SimpleNamespace(**run, channels=starts.shape[1], places=None)
        super().__init__(section, automaton)

    def but(self, **changes: Any) -> "Posed":
        given = {"starts": self.starts, "targets": self.targets, **self.more, **changes}
        return Posed(given.pop("starts"), given.pop("targets"), **given)

    def sample(self, rng):
        return self.starts[0], self.targets[0].astype(float)

    def cases(self):
        more = self.more
        if len(self.starts) == 1 or self.claim in ("stays", "computes", "obeys"):
            return None
        return Cases("all starts", self.starts, self.targets, more["boundary"], more["steps"], "")

    @property
    def lasting_target(self):
        return self.targets[0] if self.claim == "stays" else None

    @property
    def machine(self):
        return PARITY if self.claim == "computes" else None

    @property
    def rule(self):
        return TRAFFIC if self.claim == "obeys" else None

    @property
    def holds(self):
        return self.claim in ("holds", "heals")

    @property
    def patches(self):
        if self.claim != "heals":
            return {}
        cells = self.height * self.width
        return {1: np.eye(cells, dtype=np.uint8).reshape(-1, self.height, self.width)}


def pair(pick: Pick, claim: str) -> tuple[Automaton, Posed]:
    """Return a small circuit, and a task whose target it shows; often it keeps it, too."""
    if claim in ("computes", "obeys"):
        return _line_of(claim, pick((2, 4)))
    height, width = (3, 3) if claim == "boards" else pick(GRIDS)
    channels = 1 if claim == "boards" else 2
    boundary = pick(("zero", "periodic"))
    circuit = random_circuit(pick, channels)
    count = 1 if claim in ("holds", "heals", "stays") else pick((1, 2, 5))
    if claim == "boards":
        starts = all_states(1, 3, 3)
    elif count == 1:
        starts = np.zeros((1, channels, height, width), np.uint8)
        if pick((False, True)):
            starts[0] = center_start(channels, height, width)
    else:
        states = all_states(channels, height, width)
        starts = states[[pick(range(len(states))) for _ in range(count)]]
    steps = pick((1, 2, 3)) if claim in ("shows", "boards") else pick((8, 60, 61))
    state = starts
    for _ in range(steps):
        state = step_all(circuit, state, boundary)
    visible = pick(((0,), (1,), (0, 1))) if channels == 2 else (0,)
    automaton = Automaton(
        "posed", circuit, visible, boundary, height, width, steps, 1.0, pick(("zeros", "center"))
    )
    keys = {"visible": visible, "boundary": boundary, "steps": steps}
    return automaton, Posed(starts, state[:, list(visible)], claim=claim, **keys)


def random_circuit(pick: Pick, channels: int, neighbors: Sequence[int] = USED_INPUTS) -> Circuit:
    """Draw up to six gates that look at some neighbours."""
    rows = [neighbor * channels + c for neighbor in neighbors for c in range(channels)]
    gates = []
    for _ in range(pick(range(1, 7))):
        gates.append((pick(range(16)), pick(rows), pick(rows)))
        rows.append(9 * channels + len(gates) - 1)
    return circuit_of(gates, [pick(rows[-4:]) for _ in range(channels)])


def _line_of(claim: str, width: int) -> tuple[Automaton, Posed]:
    """Cells that add their bit to what the right one shows, or that sort bits as traffic does."""
    parity = [(Op.XOR, 8, 11)]
    # A one stays if the next cell has a one or is none; else it takes the left one's.
    traffic = [(Op.A_OR_NOT_B, 11, 10), (Op.AND, 9, 18), (Op.A_AND_NOT_B, 7, 9), (Op.OR, 19, 20)]
    circuit = circuit_of(parity, [8, 18]) if claim == "computes" else circuit_of(traffic, [8, 21])
    automaton = Automaton(claim, circuit, (1,), "zero", 1, width, width, 1.0, "zeros")
    starts = np.zeros((2, 2, 1, width), np.uint8)
    return automaton, Posed(starts, starts[:, 1:], claim=claim, visible=(1,), steps=width)


def mutant(pick: Pick, automaton: Automaton, task: Posed, field: str) -> tuple[Automaton, Posed]:
    """Change one field of the circuit's file, or of the task."""
    circuit = automaton.circuit
    both = pick((False, True))
    parts = {key: getattr(circuit, key).copy() for key in ("op", "a", "b", "outputs")}
    match field:
        case "gate" if circuit.gates:
            gate = pick(range(circuit.gates))
            key = pick(("op", "a", "b"))
            parts[key][gate] = pick(range(16 if key == "op" else circuit.inputs + gate))
        case "output":
            parts["outputs"][pick(range(circuit.channels))] = pick(range(circuit.rows))
        case "fire_rate":
            rate = pick((0.5, 0.99))
            return replace(automaton, fire_rate=rate), task.but(fire_rate=rate) if both else task
        case "boundary":
            boundary = "zero" if automaton.boundary == "periodic" else "periodic"
            changed = task.but(boundary=boundary) if both else task
            return replace(automaton, boundary=boundary), changed
        case "steps":
            steps = max(1, task.automaton.steps + pick((-1, 1, 2)))
            return replace(automaton, steps=steps), task.but(steps=steps) if both else task
        case "sides":
            return replace(automaton, height=pick((1, 2, 3)), width=pick((1, 2, 3))), task
        case "start":
            automaton = replace(automaton, start=pick(("zeros", "center", "random")))
            starts = task.starts.copy()
            starts.reshape(-1)[pick(range(starts.size))] ^= 1
            return automaton, task.but(starts=starts)
        case "visible":
            visible = automaton.visible[::-1] if len(automaton.visible) > 1 else (0,)
            return replace(automaton, visible=visible), task
        case "labels" if circuit.channels == 2:
            labels = pick(((1, 0), (0, 1)))
            return automaton.with_circuit(Circuit(**parts, labels=labels)), task
        case "target":
            targets = task.targets.copy()
            targets.reshape(-1)[pick(range(targets.size))] ^= 1
            return automaton, task.but(targets=targets)
        case "unread":
            colors = tuple((n, n, n) for n in range(2 ** len(automaton.visible)))
            task = task.but(weights=(2.0,), inputs=(pick((0, 1)),))
            return replace(automaton, palette=colors), task
        case "claim" if task.claim in CLAIMS[:3] and len(task.starts) == 1:
            return automaton, task.but(claim=pick(CLAIMS[:3]))
    return automaton.with_circuit(Circuit(**parts, labels=circuit.labels)), task


def judge(automaton: Automaton, task: Posed, found: Assurance, limited: bool = False) -> str:
    """Compare a verdict with what is plainly computed; return what is wrong with it, or "".

    If it is `limited`, it may be open for no other reason.
    """
    if found.asked is None:
        return "" if found.verdict is Verdict.open else "a verdict without a question"
    asked = found.asked
    if (asked.fire_rate, asked.visible) != (automaton.fire_rate, automaton.visible):
        return "the question is about another automaton"
    decided = found.verdict is not Verdict.open
    if decided and task.loss_channels != automaton.visible:
        return "the target is of other channels"
    if decided and asked.boundary != automaton.boundary:
        return "the question has another boundary"
    together = automaton.fire_rate == 1
    if asked.claim in ("computes", "obeys"):
        return _judge_lines(automaton, task, found)
    if asked.claim == "stays":
        if not together:
            return _judge_rounds(automaton, task, found)
        truth = LASTING not in _settling(automaton, task, task.targets[0])
    elif not together:
        return "decided of other schedules than the cases are" if decided else ""
    else:
        starts = task.starts[:, list(automaton.circuit.labels)] if task.holds else ()
        each = zip(starts, task.targets, strict=False)
        truth = _shown(automaton, task) and all(_keeps(automaton, task, *one) for one in each)
        if not (limited or decided) and asked.boundary == automaton.boundary:
            return "nothing stood in the way of an answer"
    return "" if not decided or truth == found.proved else f"{found.verdict}, but {truth}"


def _places(automaton: Automaton) -> list[int]:
    return [automaton.circuit.labels.index(label) for label in automaton.visible]


def _shown(automaton: Automaton, task: Posed) -> bool:
    """Whether all starts are right at the step."""
    state = task.starts[:, list(automaton.circuit.labels)]
    for _ in range(task.automaton.steps):
        state = step_all(automaton.circuit, state, automaton.boundary)
    return bool((state[:, _places(automaton)] == task.targets).all())


def _settling(automaton: Automaton, task: Posed, target: np.ndarray) -> np.ndarray:
    size = automaton.circuit.channels, task.height, task.width
    right = (all_states(*size)[:, _places(automaton)] == target).all(axis=(1, 2, 3))
    return settling(successors(automaton.circuit, *size[1:], automaton.boundary), right)


def _keeps(automaton: Automaton, task: Posed, start: np.ndarray, target: np.ndarray) -> bool:
    """Whether a start is right from the step on, and if asked for after damage at last."""
    settled = _settling(automaton, task, target)
    walk = []
    state = start[None]
    for _ in range(task.automaton.steps):
        state = step_all(automaton.circuit, state, automaton.boundary)
    while (place := number(state)) not in walk:
        walk.append(place)
        damaged = [number(state * (1 - patch)) for patch in task.patches.get(1, ())]
        if settled[place] != 0 or LASTING in settled[damaged]:
            return False
        state = step_all(automaton.circuit, state, automaton.boundary)
    return True


def _judge_rounds(automaton: Automaton, task: Posed, found: Assurance) -> str:
    """Try every fair schedule; a refutation needs a wrong fixed point."""
    grid = automaton.circuit, task.height, task.width, automaton.boundary
    states = all_states(automaton.circuit.channels, task.height, task.width)
    right = (states[:, _places(automaton)] == task.targets[0]).all(axis=(1, 2, 3))
    if found.verdict is Verdict.refuted:
        fixed = successors(*grid) == np.arange(len(states))
        return "" if (fixed & ~right).any() else "refuted without a fixed point"
    if (
        found.from_step is not None
        and (~right & next(islice(rounds(*grid), found.from_step, None))).any()
    ):
        return "proved, but rounds lead elsewhere"
    return ""


def _judge_lines(automaton: Automaton, task: Posed, found: Assurance) -> str:
    delay = task.automaton.steps - task.width + 1
    if found.verdict is Verdict.refuted:
        line, step = prove(question_of(automaton, task)).evidence.wrong
        right = shows(automaton, [line], PARITY.run(list(line)), [step])
        return "the counterexample is none" if right else ""
    if found.verdict is Verdict.proved:
        sorts = task.rule is not None
        for length in range(1 + sorts, 7):
            lines = np.array(list(product((0, 1), repeat=length)))
            last = 2 * length + delay + 8
            if sorts:
                right = shows(
                    automaton, 1 + 2 * lines, np.sort(lines)[:, ::-1], range(length - 1, last)
                )
            else:
                steps = range(length - 1 + delay, last)
                right = shows(automaton, lines, np.cumsum(lines, axis=1) % 2, steps)
            if not right:
                return f"proved, but wrong on {length} cells"
    return ""
