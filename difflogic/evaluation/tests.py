"""The tests of `dct eval`: the circuit on fresh starts, larger grids, with damage, and so on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.evaluation import gate_counts as active
from difflogic.evaluation import noise as noises
from difflogic.evaluation.assurance import WOUND, assure_automaton, keeps
from difflogic.evaluation.exactness import (
    STARTS,
    Plan,
    held_out_streams,
    is_deterministic,
    name_starts,
)
from difflogic.evaluation.scene import Damage, Scene, Streams, scene_of
from difflogic.evaluation.settling import right_pairs
from difflogic.evaluation.trial import Count, Ops, count_wrong
from difflogic.examples.pairs import right_in_words
from difflogic.model.hardening import from_model, netlist_of
from difflogic.model.model import Model
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.json_values import json_value
from difflogic.system.streams import Purpose
from difflogic.tasks import InapplicableError, Task, make_task
from difflogic.tasks.parts import TaskError

SOUP_SIDE, SOUP_STEPS = 128, 300
"""As published: 128×128 cells for 300 steps."""

LARGER_STARTS = 16

SQUARE_SIDE, SQUARE = 64, 20
"""As published: the middle 20×20 of 64×64 cells."""
SQUARE_TIMES = 4
"""Steps, as a multiple of the training steps: 80 for the synchronous checkerboard, as published."""
SQUARE_STARTS = 16

FIRE_RATE = 0.6
"""Fire rate of asynchronous inference, as published."""
MODE_TIMES = (1, 2, 4)
MODE_STARTS = 64

LONG_SIDE, LONG_SQUARE, LONG_STEPS, SETTLED = 64, 10, 4000, 200
"""64×64 cells, a random 10×10 of them zeroed after each step; errors count after step 200."""
LONG_STARTS = 8


class Draw(IntEnum):
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

    def streams(self, draw: Draw) -> Streams:
        """Return a test's random streams."""
        return Streams(self.seed, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, draw)

    def count(self, name: str, scene: Scene, starts: int) -> list[Count]:
        """Return the wrong cells at each counted step of a scene, over `starts` starts."""
        wrong = count_wrong(*self.netlist, scene, starts)
        return list(Count.of_scene(name, scene, wrong))


Run = Callable[[Subject], dict[str, Any]]


@dataclass(frozen=True)
class CircuitTest:
    """One test of a trained circuit."""

    name: str
    about: str
    """One line about what it measures."""
    require: Callable[[Task], object]
    """Raises InapplicableError, with the reason, if it does not apply to a task."""
    run: Run
    """Returns JSON values, among them `notes`, and a list of Count in `counts` if it counts."""

    def refusal(self, task: Task) -> str | None:
        """Return why it does not apply to a task; None if it does."""
        try:
            self.require(task)
        except InapplicableError as error:
            return str(error)
        return None


EXACTNESS = "exactness"

TESTS: dict[str, CircuitTest] = {}
"""All tests by name, in the order of reports. Exactness always runs: every report needs it."""


def circuit_test(about: str, require: Callable[[Task], object] = ignore) -> Callable[[Run], Run]:
    """Add a function to TESTS under its name; `require` refuses tasks, by default none."""

    def add(run: Run) -> Run:
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
    plan = Plan.of(subject.config, subject.starts or STARTS, held_out_streams(subject.seed))
    found = plan.judge(count_wrong(*subject.netlist, plan.scene, plan.starts))
    counts, notes = list(found.counts), []
    more: dict[str, Any] = {}
    if is_deterministic(task):
        notes.append("There is one start only, and nothing random: one rollout tells all.")
    elif not plan.exhaustive:
        training = subject.config.training
        notes.append(f"From {name_starts(plan, task, training, training.epochs)}.")
    right = right_pairs(subject.automaton, task)
    if right is not None:
        notes.append(f"Examples: {right_in_words(right)}.")
        more["right_pairs"] = right
    if task.exactness_note is not None:
        notes.append(task.exactness_note)
    cases = task.find_cases()
    if cases is not None:
        notes.append(cases.note)
        if cases.repeats is not None and len(task.loss_channels) == 1:
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


def run_soup(subject: Subject) -> tuple[Count, int | None]:
    """Run a soup of fair bits beside the real rule, and compare after every T training steps.

    Only for tasks whose target moves on. Returns the counts of all compared steps together, and the
    first step with a wrong cell, if any.
    """
    steps = subject.config.automaton.steps
    rows = 1 if subject.task.height == 1 else SOUP_SIDE
    torus = subject.task.on_grid(rows, SOUP_SIDE, boundary="periodic", steps=1)
    require_samples(torus)
    at = range(steps, max(SOUP_STEPS, steps) + 1, steps)
    scene = scene_of(torus, subject.streams(Draw.SOUP), at)
    wrong = count_wrong(*subject.netlist, scene, 1)
    bad = np.flatnonzero(wrong[:, 0])
    count = Count.of_all_steps(f"random soup, total of {len(at)} steps", scene, wrong)
    return count, at[int(bad[0])] if len(bad) else None


@circuit_test(
    "wrong cells on larger grids and after more steps than in training",
    lambda task: require_samples(task.larger().task),
)
def generalisation(subject: Subject) -> dict[str, Any]:
    """Count wrong cells on the task's larger grid."""
    larger = subject.task.larger()
    scene = scene_of(larger.task, subject.streams(Draw.GENERALISATION), larger.steps)
    is_one = not larger.task.has_random_start and subject.config.automaton.fire_rate == 1
    counts = subject.count(larger.name, scene, 1 if is_one else subject.starts or LARGER_STARTS)
    return {"counts": counts, "notes": [] if larger.note is None else [larger.note]}


@circuit_test("wrong cells outside a square that is zeroed after every step", require_any_grid)
def fault(subject: Subject) -> dict[str, Any]:
    """Zero the middle after every step, and count wrong cells outside it."""
    return _damaged(subject, "outside the damage", heals=False)


@circuit_test(
    "wrong cells after a square was zeroed during the first half of the steps", require_any_grid
)
def healing(subject: Subject) -> dict[str, Any]:
    """Zero the middle during the first half of the steps, and count wrong cells everywhere."""
    return _damaged(subject, "everywhere", heals=True)


def _damaged(subject: Subject, name: str, heals: bool) -> dict[str, Any]:
    steps = SQUARE_TIMES * subject.config.automaton.steps
    until = steps // 2 if heals else steps
    damage, task = Damage(SQUARE, until), subject.task.on_grid(SQUARE_SIDE, SQUARE_SIDE)
    scene = scene_of(task, subject.streams(Draw.DAMAGE), (steps,))
    ignored = None if heals else damage.middle(scene.grid)
    scene = replace(scene, damage=damage, ignored=ignored)
    counts = subject.count(name, scene, subject.starts or SQUARE_STARTS)
    note = f"The middle {SQUARE}×{SQUARE} cells are zeroed after each of steps 1 to {until}."
    return {"counts": counts, "damaged_steps": until, "notes": [note]}


@circuit_test(
    "wrong cells in the mode of updating that the circuit was not trained in",
    require_lasting_target,
)
def asynchronous(subject: Subject) -> dict[str, Any]:
    """Count wrong cells in both modes of updating, with equally many updates per cell on average.

    In T training steps a cell updates T · fire rate times; at fire rate f that takes 1 / f as
    many steps.
    """
    automaton = subject.config.automaton
    trained = automaton.fire_rate
    other = FIRE_RATE if trained == 1 else 1.0
    counts = []
    for name, rate in (("as trained", trained), ("other mode", other)):
        at = [equal_steps(times * automaton.steps, trained, rate) for times in MODE_TIMES]
        scene = scene_of(subject.task, subject.streams(Draw.ASYNCHRONOUS), at)
        scene = replace(scene, fire_rate=rate)
        counts += subject.count(name, scene, subject.starts or MODE_STARTS)
    note = (
        "The steps are chosen so that, on average, a cell updates equally often in both modes: the "
        f"fire rates are {trained:g} and {other:g}."
    )
    return {"counts": counts, "notes": [note]}


def equal_steps(steps: int, trained: float, rate: float) -> int:
    """Return the steps at fire rate `rate` that update a cell as often as `steps` in training."""
    # Round first: 50 · 0.6 is a little more than 30.
    return max(1, math.ceil(round(steps * trained / rate, 6)))


@circuit_test(
    "mean number of wrong cells over a long asynchronous run under random damage", require_any_grid
)
def robustness(subject: Subject) -> dict[str, Any]:
    """Return the mean wrong cells of a long asynchronous run under random damage, as published.

    The mean is over all starts, and all steps after step SETTLED.
    """
    trained = subject.config.automaton.fire_rate
    task, streams = subject.task.on_grid(LONG_SIDE, LONG_SIDE), subject.streams(Draw.ROBUSTNESS)
    scene = replace(
        scene_of(task, streams, range(SETTLED + 1, LONG_STEPS + 1)),
        fire_rate=FIRE_RATE if trained == 1 else trained,
        damage=Damage(LONG_SQUARE, LONG_STEPS, anywhere=True),
    )
    starts = subject.starts or LONG_STARTS
    wrong = count_wrong(*subject.netlist, scene, starts)
    means = wrong.mean(axis=0)
    return {
        "height": LONG_SIDE,
        "width": LONG_SIDE,
        "fire_rate": scene.fire_rate,
        "steps": LONG_STEPS,
        "first_step": SETTLED + 1,
        "starts": starts,
        "cells": scene.cells,
        "mean_wrong_cells": float(means.mean()),
        "best_start": float(means.min()),
        "worst_start": float(means.max()),
        "least_wrong_cells": int(wrong.min()),
        "most_wrong_cells": int(wrong.max()),
        "trained": "synchronously trained" if trained == 1 else "asynchronously trained",
        "published": dict(subject.task.published_robustness),
        "notes": [
            f"After each step, a {LONG_SQUARE}×{LONG_SQUARE} square in a random place is zeroed. "
            "Its cells count, too."
        ],
    }


@circuit_test(
    "share of wrong cells while bits flip at random after every step", require_quiet_target
)
def noise(subject: Subject) -> dict[str, Any]:
    """Count wrong cells of the training grid under noise, all steps together, in both modes."""
    task, trained = subject.task, subject.config.automaton
    most = noises.MOST_CELLS // (task.height * task.width)
    starts = subject.starts or max(1, min(noises.MOST_STARTS, most))
    counts, curves = [], {}
    for name, rate in (("synchronous", 1.0), ("asynchronous", min(FIRE_RATE, trained.fire_rate))):
        grown = equal_steps(SQUARE_TIMES * trained.steps, trained.fire_rate, rate)
        first = max(noises.SETTLING, grown) + 1
        scene = scene_of(task, subject.streams(Draw.NOISE), range(first, first + noises.COUNTED))
        scene, points = replace(scene, fire_rate=rate), []
        for probability in noises.PROBABILITIES:
            count = noises.count_wrong(subject.automaton, scene, probability, starts)
            counts.append(count)
            points.append((probability, count.wrong_cells / count.cells))
        curves[name] = points
    note = (
        "After each step, every bit of every cell flips with the same probability. Counts are of "
        f"{noises.COUNTED} steps together; a cell is wrong if any of its visible bits is."
    )
    return {"counts": counts, "curves": curves, "notes": [note]}


@circuit_test("active gates and their ops")
def gates(subject: Subject) -> dict[str, Any]:
    """Count the gates of a model."""
    if isinstance(subject.source, Model):
        return active.count(subject.source)
    return {"notes": ["A circuit file has no kernels: dct inspect counts its gates."]}


def choose(config: Config, names: Sequence[str] = ()) -> list[CircuitTest]:
    """Return the tests called `names`, or all that apply to a configuration, in fixed order.

    Exactness is always among them. Raises ConfigError if a test does not exist or apply.
    """
    task = make_task(config)
    known = [name for name, test in TESTS.items() if test.refusal(task) is None]
    for name in names:
        if name not in TESTS:
            raise ConfigError(f'no test "{name}" for {config.name}: {did_you_mean(name, known)}')
        reason = TESTS[name].refusal(task)
        if reason is not None:
            raise ConfigError(
                f'test "{name}" does not apply to {config.name}: {reason}; '
                f"those that do: {', '.join(known)}"
            )
    return [TESTS[name] for name in known if not names or name in {*names, EXACTNESS}]


def run_tests(
    source: Model | Automaton,
    tests: Sequence[str] = (),
    *,
    config: Config | None = None,
    starts: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> dict[str, Any]:
    """Measure a hard circuit; return plain values, as `dct eval --json` prints them.

    A model has its own configuration; `config` is that of the experiment to test a circuit on.

    `tests` are names in TESTS, by default all that apply. `starts` replaces the number of starts of
    every scene with random starts. `seed` names all random streams, by default the seed of the
    model's configuration; model, `starts` and `seed` determine the results. `progress` is called
    before each test and at the end, with the number of tests done, their total, and the test's
    name. Raises ConfigError if a test does not exist or apply.
    """
    config = source.config if isinstance(source, Model) else config
    assert config is not None
    chosen = choose(config, tests)
    subject = Subject(source, config, config.training.seed if seed is None else seed, starts)
    found: dict[str, dict[str, Any]] = {}
    for done, test in enumerate(chosen):
        progress(done, len(chosen), test.name)
        found[test.name] = json_value({"about": test.about, **test.run(subject)})
    progress(len(chosen), len(chosen), "")
    refused = {test.name: test.refusal(subject.task) for test in TESTS.values()}
    return {
        "experiment": config.name,
        "task": subject.task.name,
        "training_seed": config.training.seed if isinstance(source, Model) else None,
        "seed": subject.seed,
        "exact": found[EXACTNESS]["exact"],
        "assurance": json_value(assure_automaton(subject.automaton, subject.task, WOUND)),
        "published": config.published.model_dump(exclude_none=True),
        "tests": found,
        "not_applicable": {name: reason for name, reason in refused.items() if reason is not None},
    }
