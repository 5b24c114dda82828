"""Gradient descent: sample, forward, loss, backward, reduce, update.

It is compared with `reference.py`, epoch by epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.problem import Problem, untrained
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.engine.soft.rollout import Engine
from difflogic.run.measures import PhaseTimer, StepResult
from difflogic.system.array_types import Array, Bits
from difflogic.system.errors import ConfigError
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.rounding import warnings
from difflogic.system.work import heartbeat
from difflogic.tasks.base import Task
from difflogic.training.learner import Differentiator, Learner, MakeLearner
from difflogic.training.optimizer import require_finite
from difflogic.training.plan import ParallelPlan
from difflogic.training.pool import SAMPLES_AT_ONCE, draw_pool_sample, pool_samples
from difflogic.training.rank_plan import OrderedSum, RankPlan, exchanged
from difflogic.training.sampling import Samples, attempt_of, draw_samples, own_batch


@dataclass
class Attempt:
    """One attempt at learning: a wiring, and what runs its circuit."""

    number: int
    """From 0."""
    start: SoftCircuit
    engine: Differentiator
    """Trains."""
    single: HardSimulator
    """Runs one sample, for [pool]."""
    hard: HardSimulator
    """Runs a batch."""


class Descent:
    """Trains a circuit by gradient descent.

    Use it in a `with`, which keeps the workers' threads alive.

    The problem and the first circuit alone determine a run: neither the number of workers nor the
    way they divide the work changes a bit of it.
    """

    def __init__(
        self,
        problem: Problem,
        first: SoftCircuit,
        learner: MakeLearner,
        ranks: Ranks = ALONE,
        search_bytes: int = 0,
    ) -> None:
        """Start from the circuit `first`. Searches beside the training take `search_bytes`.

        With several `ranks`, each has a descent, and all take every step together.
        """
        self.first = first
        self.ranks = ranks
        self._whole = problem
        self._search_bytes = search_bytes
        self.stages = problem.task.stages
        """The stages of the task; most have one only."""
        self._enter_stage(0)

        self.epoch = 0
        """Number of finished epochs."""
        logits = np.array(first.columns, dtype=problem.training.precision, order="C")
        self.learned: Learner = learner(logits)
        self._attempt = self._make_attempt(0, first)
        self._entered = False
        self.samples: Samples | None = None
        """Those of the last step."""

        self.phases = PhaseTimer()

    def __enter__(self) -> Self:
        self._attempt.engine.__enter__()
        self._entered = True
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._entered:
            self._entered = False
            self._attempt.engine.__exit__(*raised)
        self.learned.close()

    # One epoch

    def step(
        self, starts: npt.ArrayLike | None = None, targets: npt.ArrayLike | None = None
    ) -> StepResult:
        """Train for one epoch, on a batch of the task or on the given one.

        `starts` (batch, C, H, W) are bits. `targets` (batch, loss channels, H, W) are numbers, or
        NaN for cells that do not count. Sizes are those of the configuration. Raises ConfigError
        for other sizes, and TrainingError if the loss or a gradient is not finite.
        """
        with self.phases("other"):
            return self._step(starts, targets)

    def _step(self, starts: npt.ArrayLike | None, targets: npt.ArrayLike | None) -> StepResult:
        phase = self.phases
        self._start_over_if_due()
        with phase("sample"):
            samples = own_batch(starts, targets, draw_samples(self.problem, self.epoch))
            self.samples = samples
        with phase("forward"):
            coefficients = self.learned.mix()
        gradients, losses = self._differentiate(coefficients, samples)
        self._learn_from_pool(coefficients, gradients)
        # One after the other: from Python 3.12 on, sum() corrects what floats lose.
        total = float(np.cumsum([0.0, *losses])[-1])
        soft_loss = require_finite(total, gradients, self.epoch + 1, self.problem.training)
        with phase("hard"):
            scores = self._evaluate_hard(samples)
        with phase("optimizer"):
            self.learned.step(gradients)
        self.epoch += 1
        return StepResult(
            self.epoch,
            soft_loss,
            *scores,
            self.learned.decided,
            attempt=self.attempt,
            stage=self.stage + 1,
        )

    def _differentiate(self, coefficients: Array, samples: Samples) -> tuple[Array, list[float]]:
        """Return dL/d(coefficients) (parameters, 4), and the loss of each sample of the batch."""
        batch = self.problem.training.batch
        (buffer, gradients, losses) = exchanged(coefficients, batch)
        own = self._rank_plan.samples
        total = OrderedSum(self.ranks, gradients)
        own_losses: list[float] = []
        # Waves bound memory; usually there is one. Their number does not change the order of sums.
        for first in range(own.start, own.stop, self.plan.wave):
            heartbeat("batch", first - own.start, own.stop - own.start, "samples")
            wave = slice(first, min(first + self.plan.wave, own.stop))
            own_losses.extend(self._run_batch(coefficients, samples.some(wave)))
            with self.phases("reduce"):
                total.add(self._attempt.engine, last=wave.stop == own.stop)

        def add_losses() -> None:
            losses[own] = own_losses

        with self.phases("reduce"):
            total.combine(buffer, add_losses)
        return gradients, losses.tolist()

    def _run_batch(self, coefficients: Array, samples: Samples) -> list[float]:
        """Run samples forward and back; return the loss of each."""
        phase = self.phases
        (starts, targets, masks, loss_steps) = samples
        if not self.task.has_loss():
            # Forward, loss and backward are one parallel call, which measures their seconds.
            losses, seconds = self._attempt.engine.run_training(
                coefficients, starts, targets, self._channels, masks, loss_steps
            )
            phase.add(seconds)
            return losses
        engine = self.engine
        with phase("forward"):
            engine.forward(coefficients, starts, masks, loss_steps)
            states = engine.states(loss_steps)
        with phase("loss"):
            found = list(map(self.task.find_loss, states, targets))
        with phase("backward"):
            engine.differentiate(*np.stack([gradient for _, gradient in found], axis=1))
        return [value for value, _ in found]

    def _learn_from_pool(self, coefficients: Array, gradients: Array) -> None:
        """Add the gradients of the [pool] samples, each of which has its own step."""
        attempt = self._attempt
        phase = self.phases
        pool = pool_samples(self.problem)
        if not pool:
            return
        attempt.single.load(self.learned.ops)

        def run(start: Bits, steps: int) -> Bits:
            state: Bits = attempt.single.rollout(start[None], steps)[0]
            return state

        # A few at a time: a rank keeps its slots until the ranks before it have added theirs.
        most = SAMPLES_AT_ONCE * self.ranks.size
        for first in range(0, pool, most):
            total = OrderedSum(self.ranks, gradients)
            own = self.ranks.part(min(most, pool - first))
            for number in range(first + own.start, first + own.stop):
                heartbeat("pool", number, pool, "samples")
                with phase("sample"):
                    sample = draw_pool_sample(self.problem, self.epoch, number, run)
                start = sample.start[None]
                target = sample.target[None]
                self._run_batch(coefficients, Samples(start, target, None, (sample.step,)))
                with phase("reduce"):
                    total.add(self._attempt.engine)
            with phase("reduce"):
                total.combine()

    def _evaluate_hard(self, samples: Samples) -> tuple[float | None, float | None, Bits | None]:
        """Return hard loss and accuracy on the batch, and the first sample's last state."""
        # Training does not depend on it; only the rank that writes the run needs it.
        if not self.ranks.leads:
            return None, None, None
        states = self.last_states(self.learned.ops, samples)
        targets = samples.targets
        errors = (states[:, self._channels] - targets)[~np.isnan(targets)] ** 2
        wrong = (errors > 0.25).sum()
        return float(errors.sum()), 1.0 - float(wrong) / errors.size, states[0].copy()

    def last_states(self, ops: Bits, samples: Samples) -> Bits:
        """Return the states of a hard circuit at the training step, (samples, C, H, W)."""
        hard = self._attempt.hard
        steps = self.problem.automaton.steps
        masks = samples.masks
        hard.load(ops)
        return hard.rollout(samples.starts, steps, None if masks is None else masks[:, :steps])

    # Attempts and stages

    def _start_over_if_due(self) -> None:
        """Begin another attempt, with another wiring, once the current one is over."""
        attempt = attempt_of(self.problem.training, self.epoch)
        if attempt != self._attempt.number:
            self._go_to(attempt)
            self.learned.forget(self._attempt.start.columns)

    def _enter_stage(self, stage: int) -> None:
        self.stage = stage
        """The current stage of the task, from 0."""
        self.problem = self._whole.of(self.stages[stage].lessons)
        """What the current stage teaches."""
        self._channels = list(self.task.loss_channels)
        self._rank_plan = RankPlan.of(
            self.problem, self.first.netlist, self.ranks, search_bytes=self._search_bytes
        )

    def enter_stage(self, stage: int, logits: Array) -> None:
        """Switch to another stage of the task, with these logits (16, parameters)."""
        self.learned.load(logits)
        self._go_to(self._attempt.number, stage)

    def _go_to(self, attempt: int, stage: int = 0) -> None:
        """Switch to another wiring or stage, and its engines; the logits stay."""
        if stage != self.stage:
            self._enter_stage(stage)
        before = self._attempt
        self._attempt = self._make_attempt(attempt, self.circuit_of(attempt))
        if self._entered:
            before.engine.__exit__(None, None, None)
            self._attempt.engine.__enter__()

    def _make_attempt(self, attempt: int, start: SoftCircuit) -> Attempt:
        plan = self.plan
        engine = self.learned.engine(start.netlist, plan.rollouts.grid, plan)
        single, hard = (
            HardSimulator(start.netlist, plan.rollouts.grid, samples)
            for samples in (1, self._whole.training.batch)
        )
        return Attempt(attempt, start, engine, single, hard)

    def circuit_of(self, attempt: int) -> SoftCircuit:
        """Return the circuit that an attempt, from 0, begins with."""
        if attempt == self._attempt.number:
            return self._attempt.start
        if attempt == 0 or self._whole.restarts_from_first:
            return self.first
        return untrained(self._whole.architecture, self._whole.training, attempt)

    # The state of the run

    def state(self) -> dict[str, Array]:
        """Return copies of everything, besides the problem, that later epochs depend on.

        The problem determines names, shapes and types.
        """
        return {
            "epoch": np.array(self.epoch, np.int64),
            "logits": self.logits.copy(),
            **({"stage": np.array(self.stage, np.int64)} if len(self.stages) > 1 else {}),
            **self.learned.state(),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to `state`, bit for bit."""
        self.epoch = int(state["epoch"])
        attempt = attempt_of(self.problem.training, max(0, self.epoch - 1))
        stage = int(state.get("stage", 0))
        if (attempt, stage) != (self._attempt.number, self.stage):
            self._go_to(attempt, stage)
        self.learned.restore(state)

    @property
    def task(self) -> Task:
        """Draws the samples of each epoch."""
        return self.problem.task

    @property
    def logits(self) -> Array:
        """The current logits (16, parameters), which further steps change."""
        return self.learned.logits

    @property
    def circuit(self) -> SoftCircuit:
        """A copy of the current circuit; further steps do not change it."""
        return self._attempt.start.of_columns(self.logits)

    @property
    def attempt(self) -> int:
        """The current attempt, from 1."""
        return self._attempt.number + 1

    @property
    def conformed_gates(self) -> tuple[int, int]:
        """Number of gates that started from their most probable op alone, and of all gates.

        They did not have the form that is learned.
        """
        return self.learned.conformed_gates, len(self.learned.ops)

    @property
    def plan(self) -> ParallelPlan:
        """How this rank's work is divided among its workers."""
        return self._rank_plan.plan

    @property
    def engine(self) -> Engine:
        """The engine of the current attempt. Raises ConfigError if a GPU takes its place."""
        found = self._attempt.engine
        if not isinstance(found, Engine):
            raise ConfigError(
                "[parallel] device: this is about workers, and a GPU has none: use cpu"
            )
        return found

    @property
    def warnings(self) -> list[str]:
        """The plan's warnings for these workers and ranks, and that of a device."""
        of_ranks = self._rank_plan.warnings(self._whole, self.ranks)
        return [*self.plan.warnings, *of_ranks, *warnings(self._whole.parallel.device)]
