"""Questions and their mutants: one field of a file or one gate changed. And who answers plainly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.evaluation.assurance import Assurance, every_length
from difflogic.proof.convergence import Verdict
from difflogic.tasks import Task
from difflogic.tasks.base import center_start
from difflogic.tasks.line import PARITY, TRAFFIC
from tests.difflogic.circuit.circuits import USED_INPUTS, circuit_of
from tests.difflogic.proof.convergence.brute import GRIDS, all_states, step_all, successors

Pick = Callable[[Sequence[Any]], Any]
"""Chooses one of some values: hypothesis, or a generator of random numbers."""

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


class Posed(Task):
    """A task that is nothing but its arrays."""

    def __init__(self, starts, targets, **more: Any) -> None:
        self.starts, self.targets, self.more = starts, targets, more
        height, width = starts.shape[2:]
        unread = {key: more.get(key, ()) for key in ("weights", "inputs")}
        self.section = SimpleNamespace(
            **unread, height=height, width=width, loss_channels=more["visible"], kind="posed"
        )
        self.automaton = SimpleNamespace(
            boundary=more["boundary"],
            steps=more["steps"],
            fire_rate=more["fire_rate"],
            channels=starts.shape[1],
        )

    def but(self, **changes: Any) -> Posed:
        given = {"starts": self.starts, "targets": self.targets, **self.more, **changes}
        return Posed(given.pop("starts"), given.pop("targets"), **given)

    def sample(self, rng):
        return self.starts[0], self.targets[0].astype(float)

    def cases(self):
        more = self.more
        if len(self.starts) == 1 or more["claim"] in ("stays", "computes", "obeys"):
            return None
        return Cases("all starts", self.starts, self.targets, more["boundary"], more["steps"], "")

    @property
    def lasting_target(self):
        return self.targets[0] if self.more["claim"] == "stays" else None

    @property
    def machine(self):
        return PARITY if self.more["claim"] == "computes" else None

    @property
    def rule(self):
        return TRAFFIC if self.more["claim"] == "obeys" else None

    @property
    def holds(self):
        return self.more["claim"] in ("holds", "heals")

    @property
    def patches(self):
        if self.more["claim"] != "heals":
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
    circuit = _random(pick, channels)
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
    keys = {"visible": visible, "boundary": boundary, "steps": steps, "fire_rate": 1.0}
    return automaton, Posed(starts, state[:, list(visible)], claim=claim, **keys)


def _random(pick: Pick, channels: int) -> Circuit:
    rows = [neighbor * channels + c for neighbor in USED_INPUTS for c in range(channels)]
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
    keys = {"visible": (1,), "boundary": "zero", "steps": width, "fire_rate": 1.0}
    starts = np.zeros((2, 2, 1, width), np.uint8)
    return automaton, Posed(starts, starts[:, 1:], claim=claim, **keys)


def mutant(pick: Pick, automaton: Automaton, task: Posed, field: str) -> tuple[Automaton, Posed]:
    """Change one field of the circuit's file, or of the task."""
    circuit, both = automaton.circuit, pick((False, True))
    parts = {key: getattr(circuit, key).copy() for key in ("op", "a", "b", "outputs")}
    match field:
        case "gate" if circuit.gates:
            gate, key = pick(range(circuit.gates)), pick(("op", "a", "b"))
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
        case "claim" if task.more["claim"] in CLAIMS[:3] and len(task.starts) == 1:
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
        truth = _stays(automaton, task) if together else None
        if truth is None:
            return _judge_rounds(automaton, task, found)
    elif not together:
        # That no cell fires, or that all do, are schedules; nothing else is refuted.
        circuits = automaton.circuit, _idle(automaton.circuit)
        spoiled = not all(_shown(automaton.with_circuit(each), task) for each in circuits)
        return "" if not found.proved and (spoiled or not decided) else "wrong at random"
    else:
        each = [] if task.more["claim"] in ("shows", "boards") else range(len(task.starts))
        truth = _shown(automaton, task) and all(_keeps(automaton, task, n) for n in each)
        if not (limited or decided) and asked.boundary == automaton.boundary:
            return "nothing stood in the way of an answer"
    return "" if not decided or truth == found.proved else f"{found.verdict}, but {truth}"


def _idle(circuit: Circuit) -> Circuit:
    """Return a circuit that keeps each channel as it is."""
    own = [4 * circuit.channels + channel for channel in range(circuit.channels)]
    return circuit_of([], own, circuit.labels)


def _places(automaton: Automaton) -> list[int]:
    return [automaton.circuit.labels.index(label) for label in automaton.visible]


def _shown(automaton: Automaton, task: Posed) -> bool:
    """Whether all starts are right at the step."""
    state = task.starts[:, list(automaton.circuit.labels)]
    for _ in range(task.automaton.steps):
        state = step_all(automaton.circuit, state, automaton.boundary)
    return bool((state[:, _places(automaton)] == task.targets).all())


def _keeps(automaton: Automaton, task: Posed, number: int) -> bool:
    """Whether one start is right from the step on, and if asked for after damage at last."""
    start = task.starts[number][list(automaton.circuit.labels)]
    target, step = task.targets[number], task.automaton.steps

    def run(state) -> list[np.ndarray]:
        """Return the states up to a step by which they repeat, and all of the cycle after it."""
        walk, seen = [state], {}
        while (key := walk[-1].tobytes()) not in seen:
            seen[key] = len(walk)
            walk.append(step_all(automaton.circuit, walk[-1][None], automaton.boundary)[0])
        period = len(walk) - seen[key]
        while len(walk) <= step + 2 * period:
            walk.append(walk[-period])
        return walk

    def right(state) -> bool:
        return bool((state[_places(automaton)] == target).all())

    walk = run(start)
    if not all(map(right, walk[step:])):
        return False
    patches = task.patches.get(1, ())
    damaged = [state * (1 - patch) for state in walk[step:] for patch in patches]
    return all(right(later) for state in damaged for later in _cycle(run(state)))


def _cycle(walk: list[np.ndarray]) -> list[np.ndarray]:
    """Return the states of a walk that it repeats."""
    last = walk[-1].tobytes()
    again = next(n for n in range(2, len(walk) + 1) if walk[-n].tobytes() == last)
    return walk[-again:]


def _stays(automaton: Automaton, task: Posed) -> bool:
    height, width = task.starts.shape[2:]
    after = successors(automaton.circuit, height, width, automaton.boundary)
    states = all_states(automaton.circuit.channels, height, width)
    right = (states[:, _places(automaton)] == task.targets[0]).all(axis=(1, 2, 3))
    reached = np.arange(len(states))
    for _ in range(len(states).bit_length()):  # the states after 2, 4, 8, … steps
        reached = after[reached]
        after = after[after]
    return bool(right[np.unique(reached)].all())


def _judge_rounds(automaton: Automaton, task: Posed, found: Assurance) -> str:
    """Attack a proof with rounds in random orders; a refutation needs a wrong fixed point."""
    height, width = task.starts.shape[2:]
    circuit, boundary = automaton.circuit, automaton.boundary
    states = all_states(circuit.channels, height, width)
    after = step_all(circuit, states, boundary)
    right = (states[:, _places(automaton)] == task.targets[0]).all(axis=(1, 2, 3))
    if found.verdict is Verdict.refuted:
        fixed = (states == after).all(axis=(1, 2, 3))
        return "" if (fixed & ~right).any() else "refuted without a fixed point"
    if found.verdict is Verdict.proved:
        rng = np.random.default_rng(0)
        for _ in range(found.from_step or 0):
            for cell in rng.permutation(height * width):
                fires = np.arange(height * width).reshape(height, width) == cell
                states = np.where(fires, step_all(circuit, states, boundary), states)
        if (states[:, _places(automaton)] != task.targets[0]).any():
            return "proved, but rounds lead elsewhere"
    return ""


def _judge_lines(automaton: Automaton, task: Posed, found: Assurance) -> str:
    delay = task.automaton.steps - task.width + 1
    sorts = found.asked is not None and found.asked.claim == "obeys"
    if found.verdict is Verdict.refuted:
        line, step = every_length(automaton, task).wrong  # type: ignore[union-attr, misc]
        return "" if not _lines(automaton, [line], [step], sorts) else "the counterexample is none"
    if found.verdict is Verdict.proved:
        for length in range(1 + sorts, 7):
            lines = list(product((0, 1), repeat=length))
            first = length - 1 if sorts else length - 1 + delay
            if not _lines(automaton, lines, range(first, 2 * length + delay + 8), sorts):
                return f"proved, but wrong on {length} cells"
    return ""


def _lines(
    automaton: Automaton, lines: Sequence[Sequence[int]], steps: Sequence[int], sorts: bool
) -> bool:
    """Whether lines, from the right, show their parities, or their bits sorted, at these steps."""
    bits = np.array(lines, np.uint8)
    other = np.ones_like(bits) if sorts else np.zeros_like(bits)
    state = np.stack((other, bits[:, ::-1]) if sorts else (bits[:, ::-1], other), axis=1)
    state = state[:, list(automaton.circuit.labels), None]
    wanted = np.sort(bits) if sorts else (np.cumsum(bits, axis=1) % 2)[:, ::-1]
    for step in range(max(steps) + 1):
        if step in steps and (state[:, _places(automaton)[0], 0] != wanted).any():
            return False
        state = step_all(automaton.circuit, state, automaton.boundary)
    return True
