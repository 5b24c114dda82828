"""The battery of `dct eval`: the circuit on fresh starts, larger grids, with damage, and so on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.config import Config
from difflogic.engine.kernels.hard import hard_rollout
from difflogic.evaluation import gate_counts as active
from difflogic.evaluation import noise as noises
from difflogic.evaluation.assurance import WOUND, assure_automaton
from difflogic.evaluation.circuit_test import (
    EXACTNESS,
    TESTS,
    CircuitTest,
    Drawn,
    Subject,
    circuit_test,
    require_any_grid,
    require_lasting_target,
    require_quiet_target,
    require_samples,
)
from difflogic.evaluation.scene import Damage, scene_of
from difflogic.evaluation.scores import Assured, Evaluation, Tested
from difflogic.evaluation.trial import count_wrong
from difflogic.model.model import Model
from difflogic.system import jit
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.json_values import json_value
from difflogic.system.work import say, tell
from difflogic.tasks import make_task

LARGER_STARTS = 16

SQUARE_SIDE = 64
SQUARE = 20
"""As published: the middle 20×20 of 64×64 cells."""
SQUARE_TIMES = 4
"""Steps, as a multiple of the training steps: 80 for the synchronous checkerboard, as published."""
SQUARE_STARTS = 16

FIRE_RATE = 0.6
"""Fire rate of asynchronous inference, as published."""
MODE_TIMES = (1, 2, 4)
MODE_STARTS = 64

LONG_SIDE = 64
LONG_SQUARE = 10
LONG_STEPS = 4000
SETTLED = 200
"""64×64 cells, a random 10×10 of them zeroed after each step; errors count after step 200."""
LONG_STARTS = 8


@circuit_test(
    "wrong cells on larger grids and after more steps than in training",
    lambda task: require_samples(task.larger().task),
)
def generalisation(subject: Subject) -> dict[str, Any]:
    """Count wrong cells on the task's larger grid."""
    larger = subject.task.larger()
    scene = scene_of(larger.task, subject.streams(Drawn.GENERALISATION), larger.steps)
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
    damage = Damage(SQUARE, until)
    task = subject.task.on_grid(SQUARE_SIDE, SQUARE_SIDE)
    scene = scene_of(task, subject.streams(Drawn.DAMAGE), (steps,))
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
        scene = scene_of(subject.task, subject.streams(Drawn.ASYNCHRONOUS), at)
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
    task = subject.task.on_grid(LONG_SIDE, LONG_SIDE)
    streams = subject.streams(Drawn.ROBUSTNESS)
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
    task = subject.task
    trained = subject.config.automaton
    most = noises.NOISY_CELLS // (task.height * task.width)
    starts = subject.starts or max(1, min(noises.MOST_STARTS, most))
    counts = []
    curves = {}
    for name, rate in (("synchronous", 1.0), ("asynchronous", min(FIRE_RATE, trained.fire_rate))):
        grown = equal_steps(SQUARE_TIMES * trained.steps, trained.fire_rate, rate)
        first = max(noises.SETTLING_STEPS, grown) + 1
        scene = scene_of(
            task, subject.streams(Drawn.NOISE), range(first, first + noises.NOISY_STEPS)
        )
        scene, points = replace(scene, fire_rate=rate), []
        for probability in noises.PROBABILITIES:
            count = noises.count_wrong(subject.automaton, scene, probability, starts)
            counts.append(count)
            points.append((probability, count.wrong_cells / count.cells))
        curves[name] = points
    note = (
        "After each step, every bit of every cell flips with the same probability. Counts are of "
        f"{noises.NOISY_STEPS} steps together; a cell is wrong if any of its visible bits is."
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
) -> Evaluation:
    """Measure a hard circuit.

    A model has its own configuration; `config` is that of the experiment to test a circuit on.

    `tests` are names in TESTS, by default all that apply. `starts` replaces the number of starts of
    every scene with random starts. `seed` names all random streams, by default the seed of the
    model's configuration; model, `starts` and `seed` determine the results. Raises ConfigError if a
    test does not exist or apply.
    """
    config = source.config if isinstance(source, Model) else config
    assert config is not None
    if not jit.is_compiled(hard_rollout):
        say("compiling the simulator, once …")
    chosen = choose(config, tests)
    subject = Subject(source, config, config.training.seed if seed is None else seed, starts)
    found: dict[str, Tested] = {}
    for done, test in enumerate(chosen):
        tell("tests:", done, len(chosen), test.name)
        found[test.name] = test.measure(subject)
    tell("tests:", len(chosen), len(chosen))
    refused = {test.name: test.refusal(subject.task) for test in TESTS.values()}
    assurance = assure_automaton(subject.automaton, subject.task, WOUND)
    return Evaluation(
        experiment=config.name,
        task=subject.task.name,
        training_seed=config.training.seed if isinstance(source, Model) else None,
        seed=subject.seed,
        exact=bool(found[EXACTNESS].exact),
        assurance=Assured(**json_value(assurance)),
        published=config.published.model_dump(exclude_none=True),
        tests=found,
        not_applicable={name: reason for name, reason in refused.items() if reason is not None},
    )
