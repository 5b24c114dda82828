"""One attempt at learning: a wiring of its own, and what runs and judges its circuit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.hard import HardSimulator
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.rollout import Engine
from difflogic.engine.search_buffers import ROUND
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan, is_deterministic
from difflogic.evaluation.scene import Streams, grid_of
from difflogic.evaluation.trial import count_wrong
from difflogic.model.model import Model
from difflogic.search.finishing import Finisher
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.streams import Purpose
from difflogic.tasks import make_task
from difflogic.training.best import NONE
from difflogic.training.levers import attempt_before, counts_attempts, first_epoch
from difflogic.training.step_result import GivenUp


class Stage(NamedTuple):
    """Where a run stands among its attempts."""

    attempt: int = 0
    first_epoch: int = 0
    """The epoch, from 0, at which it began."""
    grown: int | None = None
    """The epoch at which its target was grown, if [pool] waited for that."""
    abandoned: bool = False
    """Whether it is over, as it fell behind."""

    @classmethod
    def restored(cls, config: Config, state: Mapping[str, npt.NDArray[Any]]) -> Stage:
        """Return what `Attempt.state` was taken of."""
        attempt = attempt_before(config.training, int(state["epoch"]))
        first = first_epoch(config.training, attempt)
        if counts_attempts(config):
            attempt, first = state["attempt"].tolist()
        grown = int(state.get("pool_from", NONE))
        abandoned = bool(state.get("abandoned", False))
        return cls(attempt, first, None if grown == NONE else grown, abandoned)


class Attempt:
    """A start model and its engines. A `with` keeps the workers' threads alive; it works without.

    A run makes a new one each time that it starts over.
    """

    def __init__(
        self, config: Config, stage: Stage, start: Model, plan: ParallelPlan, ranks: Ranks = ALONE
    ) -> None:
        """`start` is the model that training begins with; the `ranks` search together."""
        grid, netlist = grid_of(config), start.netlist
        precision, sharing = config.training.precision, plan.sharing
        self._config, self.number, self.start = config, stage.attempt, start
        self.first_epoch = stage.first_epoch
        self.abandoned = stage.abandoned
        """Whether it is over, as it fell behind."""
        self.pool_from: int | None = stage.first_epoch
        """The epoch, from 0, from which [pool] is used; None if the target has yet to grow."""
        if config.pool.after_growth and not _grows(config, start):
            self.pool_from = stage.grown
        self.engine = Engine(netlist, grid, plan.rollouts.steps, plan.wave, precision, sharing)
        self.single = HardSimulator(netlist, grid, 1)
        """Runs one sample, for [pool]."""
        self.hard = HardSimulator(netlist, grid, config.training.batch)
        self.finisher: Finisher | None = None
        """Searches for exact circuits; None if no circuit is ever checked here."""
        self._threads: list[Engine | Workers] = [self.engine]
        if config.finishing.every:
            workers = Workers(plan.searchers)
            checks = _plan_of_growth(config) if self.growing else _plan_of_checks(config)
            sensitivity = GradientSensitivity(netlist, checks, config.automaton.steps)
            self.finisher = Finisher(netlist, checks, config.finishing, sensitivity, workers, ranks)
            self._threads.append(workers)
        self._stack = ExitStack()

    def ends_before(self, epoch: int) -> bool:
        """Whether learning starts over before an epoch, counted from 0.

        Restarts cut off the long tail of runs that are stuck (Gomes, Selman and Kautz 1998).
        """
        if self.abandoned:
            return True
        limit, since = self._config.training.restart_every, self.first_epoch
        if self._config.pool.restart_every and self.pool_from is not None:
            limit, since = self._config.pool.restart_every, self.pool_from
        return bool(limit) and epoch - since >= limit

    def hear(self, epoch: int, wrong: int) -> GivenUp | None:
        """Hear how many bits a search left `wrong` on fresh start states; perhaps give up.

        Returns why, if it does.
        An attempt that is behind at an early epoch costs less than one that is stuck at its end:
        one round of successive halving (Jamieson and Talwalkar 2016), by a fixed bar.
        """
        training = self._config.training
        old = 0 < training.abandon_after <= epoch - self.first_epoch
        # Only at an epoch at which every run looks: a run that is extended goes on as any other.
        due = old and not epoch % self._config.finishing.every
        if not due or self.finisher is None or self.pool_from not in (None, self.first_epoch):
            return None
        bits, above = self.finisher.fresh_bits, training.abandon_above
        self.abandoned = wrong > above * bits
        return GivenUp(epoch - self.first_epoch, wrong, bits, above) if self.abandoned else None

    @property
    def stage(self) -> Stage:
        """Where the run stands: another attempt of this stage would go on as this one does."""
        grown = self.pool_from if self._config.pool.after_growth else None
        return Stage(self.number, self.first_epoch, grown, self.abandoned)

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return what `Stage.restored` needs beside the epoch, as far as that does not tell."""
        state = {}
        if self._config.pool.after_growth:
            pool_from = NONE if self.pool_from is None else self.pool_from
            state["pool_from"] = np.array(pool_from, np.int64)
        if self._config.training.abandon_after:
            state["abandoned"] = np.array(self.abandoned)
        if counts_attempts(self._config):
            state["attempt"] = np.array([self.number, self.first_epoch], np.int64)
        return state

    @property
    def growing(self) -> bool:
        """Whether searches look at the training step alone, which [pool] waits for."""
        return self.pool_from is None

    def __enter__(self) -> Attempt:
        with ExitStack() as stack:
            for threads in self._threads:
                stack.enter_context(threads)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)


def _grows(config: Config, model: Model) -> bool:
    """Whether a model's hard circuit is right at the training step already."""
    plan = _plan_of_growth(config)
    return not count_wrong(model.netlist, model.ops, plan.scene, plan.starts).any()


def _plan_of_growth(config: Config) -> Plan:
    return Plan.growing(make_task(config), ROUND, _streams(config))


def _streams(config: Config) -> Streams:
    return Streams(config.training.seed, Purpose.CHECK_START, Purpose.CHECK_MASK)


def _plan_of_checks(config: Config) -> Plan:
    task, streams = make_task(config), _streams(config)
    if task.patches:
        return Plan.healing(task, streams)
    if task.holds and is_deterministic(task):
        return Plan.holding(task, streams)
    return Plan.of(config, ROUND, streams)
