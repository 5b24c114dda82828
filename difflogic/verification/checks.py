"""Checks: each computes something in two ways, and reports the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difflogic.circuit import gates
from difflogic.circuit.forms import FORMS
from difflogic.config import Config
from difflogic.engine import oracle
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import SEQUENTIAL, Sharing
from difflogic.experiment.device_plan import plan_of
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.system.array_types import Array, Float64s
from difflogic.system.machine import cpu_count
from difflogic.system.quantities import counted
from difflogic.system.strategy import STRATEGIES
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Task, task_class
from difflogic.tasks.parts import Sample
from difflogic.training.optimizer import Learned
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.trainer import Descent
from difflogic.verification.case import Case, awkward_cases, case_of, hard_cases, uneven_run
from difflogic.verification.deviation import (
    DIFFERENCE_TOLERANCE,
    EXACT,
    KERNEL_TOLERANCE,
    SINGLE_TOLERANCE,
    TRAINED_TOLERANCE,
    Deviation,
    distance,
    relative,
)

SAMPLES = 3
"""Batch of the training checks, which divides evenly only among three of the worker counts."""
EPOCHS = 5
"""Epochs of the training checks."""

FINISHING = {"every": 2, "candidates": 60}
"""A [finishing] section with short searches."""


def equivalence(config: Config) -> Iterator[Deviation]:
    """Yield the findings of all checks, on small awkward cases and on the circuit of `config`."""
    cases = awkward_cases()
    for case in [*cases, case_of(config, steps=4, batch=3)]:
        yield from sharing_changes_nothing(case)
    run = uneven_run()
    yield from training_is_the_same_at_any_worker_count(run)
    yield from trainer_agrees_with_the_reference(run)
    levers = with_levers(config)
    yield from training_is_the_same_at_any_worker_count(config)
    yield from training_is_the_same_at_any_worker_count(levers.with_sections(finishing=FINISHING))
    for case in [*cases, case_of(config, steps=2, batch=1)]:
        yield from kernels_agree_with_the_oracle(case)
        yield from supervised_steps_agree(case, max(worker_counts()))
    yield from trainer_agrees_with_the_reference(config)
    yield from trainer_agrees_with_the_reference(levers)
    for form in FORMS:
        if form != config.training.form:
            yield from trainer_agrees_with_the_reference(in_form(config, form))
    for case in cases:
        yield oracle_agrees_with_finite_differences(case)
    for case in [*cases, case_of(config, steps=config.automaton.steps, batch=2)]:
        yield from single_precision_is_close(case)
    for case in [*cases, *hard_cases()]:
        yield from hard_paths_agree(case)


def with_levers(config: Config) -> Config:
    """Return the configuration with all levers on from the first epoch."""
    stays = not task_class(config.task).has_changing_targets()
    changed = config.with_sections(
        training={"later_steps": 3 if stays else 0},
        pool={"batch": 2 if stays and config.automaton.fire_rate == 1 else 0, "later": 3},
    )
    return changed.model_copy(update={"name": f"{config.name} with levers"})


def in_form(config: Config, form: str) -> Config:
    """Return the configuration with another form of gates."""
    changed = config.with_sections(
        training={"form": form, "initial_logit": 3.0, "initial_spread": 0.5}
    )
    return changed.model_copy(update={"name": f"{config.name}, {form}"})


def worker_counts() -> tuple[int, ...]:
    """Return worker counts below, at and above the number of cores."""
    return tuple(sorted({1, 2, 3, 5, cpu_count(), cpu_count() + 3}))


def sharing_changes_nothing(case: Case) -> Iterator[Deviation]:
    """Compare all ways to share the work with the sequential one, bit for bit."""
    coefficients = case.coefficients.astype(np.float32)
    expected = _run(case, coefficients, SEQUENTIAL)
    for strategy in STRATEGIES:
        worst = 0.0
        for workers in worker_counts():
            found = _run(case, coefficients, Sharing(workers, strategy))
            worst = max(worst, *map(distance, expected, found))
        counts = ", ".join(map(str, worker_counts()))
        yield Deviation(f"{strategy}, {counts} workers", "sequential", case.name, worst, EXACT)


def training_is_the_same_at_any_worker_count(config: Config) -> Iterator[Deviation]:
    """Compare losses and logits after several epochs of real training, bit for bit."""
    ways: dict[str, dict[str, Any]] = {
        counted(workers, "worker"): {"workers": workers} for workers in worker_counts()
    } | {
        "2 workers, samples": {"workers": 2, "strategy": "samples"},
        "2 workers, cells": {"workers": 2, "strategy": "cells"},
        "3 workers, steps": {"workers": 3, "strategy": "steps"},
    }
    expected = _train(config, {"strategy": "sequential"})
    steps = config.automaton.steps
    for name, parallel in (ways | in_waves(config)).items():
        worst = max(map(distance, expected, _train(config, parallel)))
        where = f"{config.name}, {steps} steps, losses and logits of {EPOCHS} epochs"
        yield Deviation(f"training with {name}", "sequential", where, worst, EXACT)


def in_waves(config: Config) -> dict[str, dict[str, Any]]:
    """Return a [parallel] section whose memory holds as few samples at once as possible."""
    plan = plan_of(config.with_sections(parallel={"workers": 2}, training={"batch": SAMPLES}))
    least = replace(plan, wave=plan.samples_per_group).bytes
    name = f"2 workers, {counted(plan.samples_per_group, 'sample')} in flight"
    return {name: {"workers": 2, "memory_budget": f"{least}B"}}


def kernels_agree_with_the_oracle(case: Case) -> Iterator[Deviation]:
    """Compare all states and gradients with the oracle, which is plain NumPy."""
    coefficients = case.coefficients
    with Engine(case.netlist, case.grid, case.steps, case.batch, np.float64) as engine:
        engine.forward(coefficients, case.starts, case.masks)
        states = engine.states()
        gradients = engine.backward(case.loss_gradients)
    expected_states = []
    expected = np.zeros_like(gradients)
    for sample in range(case.batch):
        rollout = case.rollout(coefficients, sample)
        expected_states.append(rollout)
        expected += case.gradients(coefficients, sample, rollout, case.loss_gradients[sample])
    difference = max(relative(states, np.array(expected_states)), relative(gradients, expected))
    yield Deviation("float64 kernels", "oracle", case.name, difference, KERNEL_TOLERANCE)


def trainer_agrees_with_the_reference(config: Config) -> Iterator[Deviation]:
    """Compare epochs of real training, with fewer automaton steps, with plain NumPy training.

    Each sample has its own target, whatever the task, so that samples cannot be mixed up unnoticed.
    """
    epochs = 2
    double = config.with_sections(
        training={"precision": "float64", "batch": SAMPLES}, automaton={"steps": 2}
    )
    problem = double.problem
    first = Model.create(double)
    problem = problem.of(cast(Task, OwnTargets(problem.task.stages[0].lessons)))
    reference = ReferenceTrainer(problem, first)
    where = f"{config.name}, {SAMPLES} samples, 2 steps, {epochs} epochs"
    with Descent(problem, first, partial(Learned, training=double.training)) as descent:
        for _ in range(epochs):
            found = descent.step()
            expected = reference.step()
        loss = abs(found.soft_loss - expected.soft_loss) / expected.soft_loss
        hard = abs((found.hard_loss or 0.0) - (expected.hard_loss or 0.0))
        logits = relative(descent.circuit.logits, reference.circuit.logits)
    yield Deviation("soft loss, float64", "reference trainer", where, loss, KERNEL_TOLERANCE)
    yield Deviation("hard loss", "reference trainer", where, hard, EXACT)
    yield Deviation("logits, float64", "reference trainer", where, logits, TRAINED_TOLERANCE)


class OwnTargets:
    """A task in which each sample has its own target of random bits."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __getattr__(self, name: str) -> Any:
        return getattr(self._task, name)

    @property
    def stages(self) -> tuple[OwnTargets, ...]:
        return (self,)

    @property
    def lessons(self) -> OwnTargets:
        return self

    def draw_numbered(self, seed: int, purpose: Purpose, epoch: int, numbers: range) -> Sample:
        """Return the task's starts, with random targets."""
        starts, targets = self._task.draw_numbered(seed, purpose, epoch, numbers)
        own = [
            stream(seed, Purpose.HELD_OUT_START, epoch, number).integers(0, 2, targets.shape[1:])
            for number in numbers
        ]
        return starts, np.stack(own).astype(targets.dtype)


def oracle_agrees_with_finite_differences(case: Case, samples: int = 12) -> Deviation:
    """Compare the oracle's gradient with central differences at some logits."""
    step = 1e-4
    channels = list(range(case.netlist.channels))
    target = np.zeros(case.starts.shape[1:])

    def loss(logits: Float64s) -> float:
        coefficients = gates.mix(gates.softmax(logits))
        return oracle.loss(case.rollout(coefficients, 0)[-1], target, channels)

    probabilities = gates.softmax(case.logits)
    states = case.rollout(case.coefficients, 0)
    upstream = oracle.loss_gradient(states[-1], target, channels)
    slopes = case.gradients(case.coefficients, 0, states, upstream)
    gradient = gates.mix_gradient(probabilities, slopes)
    rng = stream(case.seed, Purpose.HELD_OUT_START)
    found = np.empty(samples)
    expected = np.empty(samples)
    for index in range(samples):
        place = (rng.integers(case.netlist.parameters), rng.integers(gates.OPS))
        above = case.logits.copy()
        below = case.logits.copy()
        above[place] += step
        below[place] -= step
        found[index] = (loss(above) - loss(below)) / (2 * step)
        expected[index] = gradient[place]
    worst = distance(found, expected) / np.abs(gradient).max()
    where = f"{case.name}, {samples} logits"
    return Deviation("oracle", "central differences", where, float(worst), DIFFERENCE_TOLERANCE)


def single_precision_is_close(case: Case) -> Iterator[Deviation]:
    """Compare float32 kernels with float64 ones."""
    single = _run(case, case.coefficients.astype(np.float32), SEQUENTIAL)
    double = _run(case, case.coefficients, SEQUENTIAL)
    for what, x, y in zip(("states", "gradients"), single, double, strict=True):
        yield Deviation(f"float32 {what}", "float64", case.name, relative(x, y), SINGLE_TOLERANCE)


def hard_paths_agree(case: Case) -> Iterator[Deviation]:
    """Compare the bit-packed simulator with the oracle and the soft kernels, exactly."""
    simulator = HardSimulator(case.netlist, case.grid, case.batch)
    for name, ops in {"any ops": case.any_ops, "mixing ops": case.mixing_ops}.items():
        where = f"{case.name}, {name}"
        coefficients = gates.one_hot(ops)
        simulator.load(ops)
        bits = simulator.rollout(case.starts, case.steps, case.masks)
        expected = np.array([case.rollout(coefficients, n) for n in range(case.batch)])
        soft = _forward(case, coefficients.astype(np.float32))
        others = {"oracle, argmax gates": expected[:, -1], "soft kernel, one-hot gates": soft}
        for against, states in others.items():
            difference = distance(bits, states)
            yield Deviation("bit-packed simulator", against, where, difference, EXACT)


def _forward(case: Case, coefficients: Array) -> Array:
    """Return the last states."""
    with Engine(case.netlist, case.grid, case.steps, case.batch, coefficients.dtype) as engine:
        return engine.forward(coefficients, case.starts, case.masks).copy()


def _run(case: Case, coefficients: Array, sharing: Sharing) -> tuple[Array, Array]:
    """Return the last states and dL/d(coefficients)."""
    dtype = coefficients.dtype
    with Engine(case.netlist, case.grid, case.steps, case.batch, dtype, sharing) as engine:
        last = engine.forward(coefficients, case.starts, case.masks)
        return last, engine.backward(case.loss_gradients.astype(dtype))


def _train(config: Config, parallel: dict[str, Any]) -> tuple[Array, ...]:
    """Return soft and hard losses of a few epochs, and the logits after them."""
    with Trainer(config.with_sections(parallel=parallel, training={"batch": SAMPLES})) as trainer:
        epochs = [trainer.step() for _ in range(EPOCHS)]
        losses = np.array([[each.soft_loss, each.hard_loss or 0.0] for each in epochs])
        return losses, trainer.model.logits


@dataclass(frozen=True)
class _Supervision:
    """Losses of some states of a case."""

    case: Case
    loss_steps: tuple[int, ...]
    channels: tuple[int, ...]
    targets: Float64s

    def by_engine(self, dtype: npt.DTypeLike, sharing: Sharing) -> tuple[Array, Array]:
        """Return the loss of each sample, and dL/d(coefficients).

        The engine has room for another sample, and runs once before, over all steps from other
        starts, since the contents of its buffers must not matter.
        """
        case = self.case
        coefficients = self.case.coefficients.astype(dtype)
        with Engine(case.netlist, case.grid, case.steps, case.batch + 1, dtype, sharing) as engine:
            engine.forward(coefficients, 1 - case.starts, case.masks)
            engine.backward(np.ones(case.starts.shape, dtype))
            losses, _ = engine.run_training(
                coefficients, case.starts, self.targets, self.channels, case.masks, self.loss_steps
            )
            return np.array(losses), engine.reduce(np.zeros_like(coefficients))

    def by_oracle(self) -> tuple[Array, Array]:
        """Return the same, computed by the oracle."""
        case = self.case
        channels = self.channels
        coefficients = self.case.coefficients
        losses = np.zeros(case.batch)
        gradients = np.zeros_like(coefficients)
        for sample, target in enumerate(self.targets):
            states = case.rollout(coefficients, sample)
            # Gradients of losses add up, so each loss can be differentiated separately.
            for step in self.loss_steps:
                until = states[: step + 1]
                losses[sample] += oracle.loss(until[-1], target, channels)
                upstream = oracle.loss_gradient(until[-1], target, channels)
                gradients += case.gradients(coefficients, sample, until, upstream)
        return losses, gradients


def supervised_steps_agree(case: Case, workers: int = 2) -> Iterator[Deviation]:
    """Compare losses and gradients with the oracle, and shared work with sequential work.

    First the last two steps have a loss, then the first and the last but one, so that the rollout
    is shorter than the engine's longest.
    """
    channels = tuple(range(case.netlist.channels))[::-1][:2]
    shape = (case.batch, len(channels), case.grid.height, case.grid.width)
    rng = stream(case.seed, Purpose.HELD_OUT_START)
    targets = rng.random(shape)
    targets[rng.random(shape) < 0.3] = np.nan  # does not count
    steps = case.steps
    for loss_steps in ((steps - 1, steps), tuple(sorted({1, steps - 1}))):
        rollout = _Supervision(case, loss_steps, channels, targets)
        where = f"{case.name}, loss after steps {', '.join(map(str, loss_steps))}"
        pairs = zip(rollout.by_engine(np.float64, SEQUENTIAL), rollout.by_oracle(), strict=True)
        for what, (found, expected) in zip(("losses", "gradients"), pairs, strict=True):
            difference = relative(found, expected)
            name = f"{what}, float64 kernels"
            yield Deviation(name, "oracle", where, difference, KERNEL_TOLERANCE)
        alone = rollout.by_engine(np.float32, SEQUENTIAL)
        shared = rollout.by_engine(np.float32, Sharing(workers))
        worst = max(map(distance, alone, shared))
        yield Deviation(
            f"losses and gradients, {workers} workers", "sequential", where, worst, EXACT
        )
