"""What is tested of a circuit, and the test that every run has: wrong cells, and in a soup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.hard_netlist import netlist_of
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.evaluation.assurance import keeps
from difflogic.evaluation.check_plan import Plan, is_deterministic
from difflogic.evaluation.exactness import DEFAULT_STARTS, held_out_streams, name_starts
from difflogic.evaluation.scene import Scene, Streams, scene_of
from difflogic.evaluation.scores import Counted, Tested
from difflogic.evaluation.settled import right_pairs
from difflogic.evaluation.trial import Ops, count_of_all_steps, count_wrong, counts_of
from difflogic.examples.pairs import right_in_words
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.system.json_values import json_value
from difflogic.system.streams import Purpose
from difflogic.system.work import ignore
from difflogic.tasks import Task, make_task
from difflogic.tasks.parts import InapplicableError, TaskError

SOUP_SIDE = 128
SOUP_STEPS = 300
"""As published: 128×128 cells for 300 steps."""


class Drawn(IntEnum):
    """Separates the tests' random streams. The numbers determine results: never change one."""

    GENERALISATION = 0
    DAMAGE = 1
    ASYNCHRONOUS = 2
    ROBUSTNESS = 3
    SOUP = 4
    NOISE = 5


@dataclass(frozen=True)
class Subject:
    """The circuit to test."""

    source: Model | Automaton
    config: Config
    """That of the model, or of the experiment that a circuit is tested on."""
    seed: int
    """The seed of all streams; it and the circuit determine the results."""
    starts: int | None = None
    """Number of starts per scene; None lets the test decide."""

    @cached_property
    def task(self) -> Task:
        return make_task(self.config)

    @cached_property
    def automaton(self) -> Automaton:
        return from_model(self.source) if isinstance(self.source, Model) else self.source

    @cached_property
    def netlist(self) -> tuple[Netlist, Ops]:
        if isinstance(self.source, Model):
            return self.source.netlist, self.source.ops
        return netlist_of(self.source.circuit, self.task.channels)

    def streams(self, draw: Drawn) -> Streams:
        """Return a test's random streams."""
        return Streams(self.seed, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, draw)

    def count(self, name: str, scene: Scene, starts: int) -> list[Counted]:
        """Return the wrong cells at each counted step of a scene, over `starts` starts."""
        wrong = count_wrong(*self.netlist, scene, starts)
        return counts_of(name, scene, wrong)


Measure = Callable[[Subject], dict[str, Any]]


@dataclass(frozen=True)
class CircuitTest:
    """One test of a trained circuit."""

    name: str
    about: str
    """One line about what it measures."""
    require: Callable[[Task], object]
    """Raises InapplicableError, with the reason, if it does not apply to a task."""
    run: Measure
    """Returns JSON values, among them `notes`, and a list of Counted in `counts` if it counts."""

    def refusal(self, task: Task) -> str | None:
        """Return why it does not apply to a task; None if it does."""
        try:
            self.require(task)
        except InapplicableError as error:
            return str(error)
        return None

    def measure(self, subject: Subject) -> Tested:
        """Run it."""
        return Tested(about=self.about, **json_value(self.run(subject)))


EXACTNESS = "exactness"

TESTS: dict[str, CircuitTest] = {}
"""All tests by name, in the order of reports. Exactness always runs: every report needs it."""


def circuit_test(
    about: str, require: Callable[[Task], object] = ignore
) -> Callable[[Measure], Measure]:
    """Add a function to TESTS under its name; `require` refuses tasks, by default none."""

    def add(run: Measure) -> Measure:
        TESTS[run.__name__] = CircuitTest(run.__name__, about, require, run)
        return run

    return add


def require_lasting_target(task: Task) -> None:
    """Refuse tasks whose target does not stay: later steps and other grids have no target."""
    if task.stays:
        return
    if task.holds:
        raise InapplicableError(
            "the target must persist from every start, in any update order, but that of "
            f"{task.name} persists only from its own start, if all cells update in each step"
        )
    raise InapplicableError(f"the target must persist, but that of {task.name} does not")


def require_any_grid(task: Task) -> None:
    """Refuse tasks without a target that stays and fits any grid."""
    require_lasting_target(task)
    require_samples(task.on_grid(task.height + 1, task.width + 1))


def require_samples(task: Task) -> None:
    """Refuse another grid on which a class of one's own draws no sample."""
    try:
        task.draw(np.random.default_rng(0))
    except TaskError as error:
        size = f"{task.height}×{task.width}"
        raise InapplicableError(
            f"on {size} cells the class draws no sample, and it defines no larger task: {error}"
        ) from None


def require_quiet_target(task: Task) -> None:
    """Refuse tasks whose target does not stay by itself, or has inputs that noise would change."""
    if task.section.inputs:
        raise InapplicableError("noise would change the inputs, and nothing restores them")
    if not task.holds:
        require_lasting_target(task)


@circuit_test("wrong cells in all cases, or on fresh starts; an exact circuit has none")
def exactness(subject: Subject) -> dict[str, Any]:
    """Count wrong cells at T, T + 1, 2T and 2T + 1, or in all cases; with a rule, in a soup too."""
    task = subject.task
    plan = Plan.of(subject.task, subject.starts or DEFAULT_STARTS, held_out_streams(subject.seed))
    found = plan.judge(count_wrong(*subject.netlist, plan.scene, plan.starts))
    counts = [*found.counts]
    notes = []
    more: dict[str, Any] = {}
    if is_deterministic(task):
        notes.append("There is one start only, and nothing random: one rollout tells all.")
    elif not plan.exhaustive:
        notes.append(f"From {name_starts(plan, task)}.")
    right = right_pairs(subject.automaton, task)
    if right is not None:
        notes.append(f"Examples: {right_in_words(right)}.")
        more["right_pairs"] = right
    if task.exactness_note is not None:
        notes.append(task.exactness_note)
    cases = task.find_cases()
    if cases is not None:
        notes.append(cases.note)
        if cases.repeats is not None:
            more["wrong_neighborhoods"] = counts[0].wrong_cells // cases.repeats
    if task.has_changing_targets() and subject.config.automaton.fire_rate == 1:
        try:
            soup, more["first_wrong_step"] = run_soup(subject)
            counts.append(soup)
        except InapplicableError as error:
            notes.append(f"No random soup: {error}.")
    return {
        "exact": found.exact and keeps(subject.automaton, task),
        "counts": counts,
        "notes": notes,
        **more,
    }


def run_soup(subject: Subject) -> tuple[Counted, int | None]:
    """Run a soup of fair bits beside the real rule, and compare after every T training steps.

    Only for tasks whose target moves on. Returns the counts of all compared steps together, and the
    first step with a wrong cell, if any.
    """
    steps = subject.config.automaton.steps
    rows = 1 if subject.task.height == 1 else SOUP_SIDE
    torus = subject.task.on_grid(rows, SOUP_SIDE, boundary="periodic", steps=1)
    require_samples(torus)
    at = range(steps, max(SOUP_STEPS, steps) + 1, steps)
    scene = scene_of(torus, subject.streams(Drawn.SOUP), at)
    wrong = count_wrong(*subject.netlist, scene, 1)
    bad = np.flatnonzero(wrong[:, 0])
    count = count_of_all_steps(f"random soup, total of {len(at)} steps", scene, wrong)
    return count, at[int(bad[0])] if len(bad) else None
