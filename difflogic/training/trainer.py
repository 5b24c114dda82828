"""The training loop: sample, forward, loss, backward, reduce, update.

It is compared with `reference.py`, epoch by epoch.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from difflogic.config.models import Config
from difflogic.engine.hard import HardSimulator
from difflogic.engine.rollout import Engine
from difflogic.engine.workers import Workers
from difflogic.model.model import Model
from difflogic.run.measures import PhaseTimer, StepResult
from difflogic.system.array_types import Array, Bits
from difflogic.system.callbacks import pause
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.rounding import warnings
from difflogic.tasks import make_task
from difflogic.training.optimizer import make_learned, require_finite
from difflogic.training.plan import ParallelPlan
from difflogic.training.pool import AT_ONCE, draw_pool_sample, pool_samples
from difflogic.training.rank_plan import OrderedSum, RankPlan, exchanged_bytes, split_exchanged
from difflogic.training.sampling import Samples, attempt_of, draw_samples, own_batch, staged

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets


@dataclass
class Attempt:
    """One attempt at learning: a wiring, and the engines that run its circuit."""

    number: int
    """From 0."""
    start: Model
    engine: Engine
    """Trains."""
    single: HardSimulator
    """Runs one sample, for [pool]."""
    hard: HardSimulator
    """Runs a batch."""
    threads: list[Engine | Workers]
    """What keeps threads alive while entered."""


class Descent:
    """Trains a model by gradient descent; a `Trainer` also searches for exact circuits.

    Use it in a `with`, which keeps the workers' threads alive.

    The configuration alone determines a run: neither the number of workers nor the way they divide
    the work changes a bit of it.
    """

    def __init__(
        self,
        config: Config,
        model: Model | None = None,
        ranks: Ranks = ALONE,
        fleets: Fleets | None = None,
    ) -> None:
        """Start from `model`, or from an untrained one wired from the configuration's seed.

        If the configuration names a saved model, `model` must be that model, since starting over
        goes back to it; raises ConfigError without it. With several `ranks`, each has a trainer,
        and all take every step together. Runs on a GPU may share `fleets`.
        """
        if config.run.start_sha256 is not None and model is None:
            raise config.missing_start
        self.config = config
        self.ranks = ranks
        self.first_model = model or Model.create(config)
        """The model that the run begins with."""
        task = make_task(config)
        self._stages = task.stages
        self._enter_stage(0)

        self.epoch = 0
        """Number of finished epochs."""
        # Transposed, for the optimizer's kernels.
        logits = np.array(self.first_model.logits.T, dtype=config.training.precision, order="C")
        self._learned = make_learned(config, logits, ranks, fleets)
        self._attempt = self._make_attempt(0)
        self._threads: ExitStack | None = None

        self.phases = PhaseTimer()

    def __enter__(self) -> Self:
        self._start_threads()
        return self

    def _start_threads(self) -> None:
        with ExitStack() as stack:
            for threads in self._attempt.threads:
                stack.enter_context(threads)
            self._threads = stack.pop_all()

    def __exit__(self, *raised: Any) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.__exit__(*raised)
        self._learned.close()

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
            drawn = draw_samples(self.task, self._staged, self.epoch)
            samples = own_batch(starts, targets, drawn)
        with phase("forward"):
            coefficients = self._learned.mix()
        gradients, losses = self._differentiate(coefficients, samples)
        self._learn_from_pool(coefficients, gradients)
        # One after the other: from Python 3.12 on, sum() corrects what floats lose.
        total = float(np.cumsum([0.0, *losses])[-1])
        soft_loss = require_finite(total, gradients, self.epoch + 1, self.config.training)
        with phase("hard"):
            scores = self._evaluate_hard(samples)
        with phase("optimizer"):
            self._learned.step(gradients)
        self.epoch += 1
        result = StepResult(
            self.epoch,
            soft_loss,
            *scores,
            self._learned.decided,
            attempt=self.attempt,
            stage=self.stage + 1,
        )
        return self._finished(result, samples)

    def _finished(self, result: StepResult, samples: Samples) -> StepResult:
        """Return the result of a step; a `Trainer` may add that of a search."""
        return result

    def _differentiate(self, coefficients: Array, samples: Samples) -> tuple[Array, list[float]]:
        """Return dL/d(coefficients) (parameters, 4), and the loss of each sample of the batch."""
        # The ranks exchange one buffer: the sums and the losses.
        buffer = np.zeros(exchanged_bytes(self.config, len(coefficients)), np.uint8)
        gradients, losses = split_exchanged(buffer, coefficients)
        own, total = self._rank_plan.samples, OrderedSum(self.ranks, gradients)
        own_losses: list[float] = []
        # Waves bound memory; usually there is one. Their number does not change the order of sums.
        for first in range(own.start, own.stop, self.plan.wave):
            pause("batch", first - own.start, own.stop - own.start, "samples")
            wave = slice(first, min(first + self.plan.wave, own.stop))
            own_losses.extend(self._run_batch(coefficients, samples.some(wave)))
            with self.phases("reduce"):
                total.add(self.engine, last=wave.stop == own.stop)

        def add_losses() -> None:
            losses[own] = own_losses

        with self.phases("reduce"):
            total.combine(buffer, add_losses)
        return gradients, losses.tolist()

    def _run_batch(self, coefficients: Array, samples: Samples) -> list[float]:
        """Run samples forward and back; return the loss of each."""
        engine, phase, (starts, targets, masks, loss_steps) = self.engine, self.phases, samples
        if not self.task.has_loss():
            # Forward, loss and backward are one parallel call, which measures their seconds.
            batch = coefficients, starts, targets, self._channels, masks, loss_steps
            losses, seconds = engine.run_training(*batch)
            phase.add(seconds)
            return losses
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
        attempt, phase = self._attempt, self.phases
        pool = pool_samples(self.task, self.config)
        if not pool:
            return
        attempt.single.load(self._learned.ops)

        def run(start: Bits, steps: int) -> Bits:
            state: Bits = attempt.single.rollout(start[None], steps)[0]
            return state

        # A few at a time: a rank keeps its slots until the ranks before it have added theirs.
        most = AT_ONCE * self.ranks.size
        for first in range(0, pool, most):
            total, own = OrderedSum(self.ranks, gradients), self.ranks.part(min(most, pool - first))
            for number in range(first + own.start, first + own.stop):
                pause("pool", number, pool, "samples")
                with phase("sample"):
                    sample = draw_pool_sample(self.task, self._staged, self.epoch, number, run)
                start, target = sample.start[None], sample.target[None]
                self._run_batch(coefficients, Samples(start, target, None, (sample.step,)))
                with phase("reduce"):
                    total.add(self.engine)
            with phase("reduce"):
                total.combine()

    def _evaluate_hard(self, samples: Samples) -> tuple[float | None, float | None, Bits | None]:
        """Return hard loss and accuracy on the batch, and the first sample's last state."""
        # Training does not depend on it; only the rank that writes the run needs it.
        if not self.ranks.leads:
            return None, None, None
        states, targets = self._last_states(self._learned.ops, samples), samples.targets
        errors = (states[:, self._channels] - targets)[~np.isnan(targets)] ** 2
        wrong = (errors > 0.25).sum()
        return float(errors.sum()), 1.0 - float(wrong) / errors.size, states[0].copy()

    def _last_states(self, ops: Bits, samples: Samples) -> Bits:
        """Return the states of a hard circuit at the training step, (samples, C, H, W)."""
        hard, steps, masks = self._attempt.hard, self._staged.automaton.steps, samples.masks
        hard.load(ops)
        return hard.rollout(samples.starts, steps, None if masks is None else masks[:, :steps])

    # Attempts and stages

    def _start_over_if_due(self) -> None:
        """Begin another attempt, with another wiring, once the current one is over."""
        attempt = attempt_of(self.config.training, self.epoch)
        if attempt != self._attempt.number:
            self._go_to(attempt)
            self._learned.forget(self._attempt.start.logits.T)

    def _enter_stage(self, stage: int) -> None:
        self.stage = stage
        """The current stage of the task, from 0; most tasks have one only."""
        self.task = self._stages[stage].lessons
        """Draws the samples of each epoch; may be replaced."""
        self._staged = staged(self.config, self.task)
        self._channels = list(self.task.loss_channels)
        self._rank_plan = RankPlan.of(self._staged, self.first_model.netlist, self.ranks)

    def _go_to(self, attempt: int, stage: int = 0) -> None:
        """Switch to another wiring or stage, and its engines; the logits stay."""
        if stage != self.stage:
            self._enter_stage(stage)
        self._attempt = self._make_attempt(attempt)
        if self._threads is not None:
            self._threads.close()
            self._start_threads()

    def _make_attempt(self, attempt: int) -> Attempt:
        start, plan = self._first_model_of(attempt), self.plan
        engine = self._learned.engine(start.netlist, plan.rollouts.grid, plan)
        single, hard = (
            HardSimulator(start.netlist, plan.rollouts.grid, samples)
            for samples in (1, self.config.training.batch)
        )
        return Attempt(attempt, start, engine, single, hard, [engine])

    def _first_model_of(self, attempt: int) -> Model:
        if attempt == 0 or self.config.run.start_sha256 is not None:
            return self.first_model
        return Model.create(self.config, attempt)

    def time_step(self) -> float:
        """Return the seconds of a training step, by a trial that changes nothing."""
        with self.phases("other"):
            one = draw_samples(self.task, self._staged, self.epoch).some(slice(1))
            began = time.perf_counter()
            self._run_batch(self._learned.mix(), one)
            return (time.perf_counter() - began) * self.config.training.batch

    # The state of the run

    def state(self) -> dict[str, Array]:
        """Return copies of everything, besides the configuration, that later epochs depend on.

        The configuration determines names, shapes and types.
        """
        return {
            "epoch": np.array(self.epoch, np.int64),
            "logits": self._logits.copy(),
            **({"stage": np.array(self.stage, np.int64)} if len(self._stages) > 1 else {}),
            **self._learned.state(),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to `state`, bit for bit."""
        self.epoch = int(state["epoch"])
        attempt = attempt_of(self.config.training, max(0, self.epoch - 1))
        stage = int(state.get("stage", 0))
        if (attempt, stage) != (self._attempt.number, self.stage):
            self._go_to(attempt, stage)
        self._learned.restore(state)

    @property
    def _logits(self) -> Array:
        return self._learned.logits

    @property
    def model(self) -> Model:
        """A copy of the current model; further steps do not change it."""
        return replace(self._attempt.start, logits=np.ascontiguousarray(self._logits.T))

    @property
    def attempt(self) -> int:
        """The current attempt, from 1."""
        return self._attempt.number + 1

    @property
    def conformed_gates(self) -> tuple[int, int]:
        """Number of gates that started from their most probable op alone, and of all gates.

        They did not have the form that is learned.
        """
        return self._learned.conformed_gates, len(self._learned.ops)

    @property
    def plan(self) -> ParallelPlan:
        """How this rank's work is divided among its workers."""
        return self._rank_plan.plan

    @property
    def engine(self) -> Engine:
        """The engine of the current attempt."""
        return self._attempt.engine

    @property
    def workers(self) -> int:
        """Number of threads that share the rollouts."""
        return self.plan.workers

    @property
    def warnings(self) -> list[str]:
        """The plan's warnings for these workers and ranks, and that of a device."""
        of_ranks = self._rank_plan.warnings(self.config, self.ranks)
        return [*self.plan.warnings, *of_ranks, *warnings(self.config.parallel.device)]
