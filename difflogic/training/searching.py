"""The training loop with searches for exact circuits: `Trainer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from difflogic.config import Config
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan, is_deterministic
from difflogic.evaluation.scene import Streams
from difflogic.model.model import Model
from difflogic.run.measures import StepResult
from difflogic.search.corrector import Corrector
from difflogic.search.finisher import AnyFinisher, Correction, Finished, Finisher
from difflogic.search.footprint import ROUND
from difflogic.search.polish import Polished
from difflogic.search.rewirer import Rewirer
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.search.toughness import Toughness
from difflogic.search.walk import OnProgress
from difflogic.system.array_types import Array
from difflogic.system.callbacks import ignore
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.streams import Purpose
from difflogic.tasks import Task
from difflogic.training.best import BestCircuit
from difflogic.training.compiling import Compilation
from difflogic.training.sampling import Samples, staged
from difflogic.training.trainer import Attempt, Descent

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets


class Trainer(Descent):
    """Trains a model, and searches for an exact circuit as often as [finishing] says."""

    def __init__(
        self,
        config: Config,
        model: Model | None = None,
        ranks: Ranks = ALONE,
        fleets: Fleets | None = None,
    ) -> None:
        super().__init__(config, model, ranks, fleets)
        self._best = BestCircuit(config, self.first_model.logits.T)
        self._compilation = Compilation(config, self.plan, ranks.leads)
        self.on_search_progress: OnProgress = ignore
        """Called often during a search for an exact circuit; may be replaced."""

    def _finished(self, result: StepResult, samples: Samples) -> StepResult:
        if not self._best.is_due(self.epoch):
            return result
        stage = self.stage
        with self.phases("finish"):
            result = replace(result, finished=self._finish())
        # Show the exact circuit, unless it belongs to a later stage, which has other starts.
        if self.exact_epoch == self.epoch and self.stage == stage and self.ranks.leads:
            if self.correction is not None:
                shown = Corrector(self.result, self.task).run(self.result, samples.starts)[0]
            else:
                shown = self._last_states(self._trained.ops, samples)[0].copy()
            result = replace(result, hard_state=shown)
        return result

    # The search for an exact circuit

    def search(self) -> Finished | None:
        """Search now for an exact circuit near the logits, with the settings in [finishing].

        `result` is then the best circuit so far. Does nothing if `finishing.every` is 0.
        """
        with self.phases("finish"):
            return self._finish()

    def _finish(self) -> Finished | None:
        """Search for an exact circuit near rank 0's logits; all ranks find the same one.

        Once a stage is solved, the next one begins from its circuit, which often solves it too.
        """
        # Ranks on other processors may differ in the last bits; a search needs equal ones.
        self.ranks.broadcast(self._logits)
        epoch = max(1, self.epoch)  # `search` may come before the first step
        while True:
            finisher = self._finisher
            if finisher is None:
                return None
            found = self._best.update(finisher, self._logits, epoch, self.on_search_progress)
            if self._best.exact_epoch is None or self.stage == len(self._stages) - 1:
                return found
            assert self._best.logits is not None
            self._learned.load(self._best.logits)
            self._go_to(self._attempt.number, self.stage + 1)
            ops = self._logits.argmax(axis=0).astype(np.uint8)
            following = self._finisher if self._stages[self.stage].damages else None
            if following is not None and not following.verify(ops)[0]:
                # A circuit that only stays is far from healing: a search would cost much in vain.
                return found

    @property
    def may_search(self) -> bool:
        """Whether the next step searches."""
        return self._best.is_due(self.epoch + 1)

    def _make_attempt(self, attempt: int) -> Attempt:
        made = super()._make_attempt(attempt)
        self._finisher: AnyFinisher | None = None
        if self.config.finishing.every:
            workers = Workers(self.plan.workers)
            self._finisher = make_finisher(made.start, self._stages[self.stage], workers)
            made.threads.append(workers)
        return made

    def _go_to(self, attempt: int, stage: int = 0) -> None:
        if stage != self.stage:
            self._best.forget()
        super()._go_to(attempt, stage)

    # Compiling

    @property
    def needs_compiling(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        return self._compilation.needs_compiling

    def warm_up(self) -> float:
        """Compile or load the kernels; return the seconds it took. Does not change the training."""
        before = self.phases.timed
        with self.phases("compilation"):
            self._compilation.compile(self.engine.netlist, self._logits)
        return self.phases.timed - before

    # The state of the run

    def state(self) -> dict[str, Array]:
        """Return copies of everything, besides the configuration, that later epochs depend on.

        The configuration determines names, shapes and types.
        """
        return {**super().state(), **self._best.state()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to `state`, bit for bit."""
        super().restore(state)
        self._best.restore(state)

    @property
    def result(self) -> Model:
        """The model that the run saves: the best one found by a search, or else the current one."""
        finisher = None if self.exact_epoch is None else self._finisher
        return self._trained if finisher is None else finisher.complete(self._trained)

    @property
    def correction(self) -> Correction | None:
        """The correction of the circuit that was found, if its picture has places."""
        finisher = None if self.exact_epoch is None else self._finisher
        if finisher is None:
            return None
        finisher.complete(self._trained)
        return finisher.correction

    @property
    def _trained(self) -> Model:
        logits, attempt = self._best.logits, self._best.attempt
        if logits is None:
            return self.model
        # A run is saved every few seconds, so reuse the wiring of the current attempt.
        current = self._attempt
        start = current.start if attempt == current.number else self._first_model_of(attempt)
        return replace(start, logits=np.ascontiguousarray(logits.T))

    @property
    def result_attempt(self) -> int:
        """The attempt that found the result, from 1."""
        return self.attempt if self._best.logits is None else self._best.attempt + 1

    @property
    def exact_epoch(self) -> int | None:
        """The epoch after which a circuit was first verified to be exact, if any."""
        return self._best.exact_epoch

    @property
    def gain(self) -> Polished | None:
        """What polishing the verified circuit gained; None if none was polished."""
        return self._best.gain

    @property
    def done(self) -> bool:
        """Whether the run is over: a circuit is exact, or all epochs are finished."""
        return self.exact_epoch is not None or self.epoch >= self.config.training.epochs


def compile_kernels(config: Config, warm_up: Callable[[Trainer], object] = Trainer.warm_up) -> None:
    """Compile the kernels for `config` here, unless they are compiled.

    `warm_up` is called with a trainer that needs it.
    """
    # With one worker: no other is left waiting in a kernel if Ctrl-C ends the compilation.
    with Trainer(config.with_sections(parallel={"workers": 1})) as trainer:
        if trainer.needs_compiling:
            warm_up(trainer)


def make_finisher(start: Model, task: Task, workers: Workers) -> AnyFinisher:
    """Return what makes circuits exact for a stage, `task`; they are wired like `start`.

    The configuration of `start` is the run's: a corrected or rewired circuit keeps it.
    """
    if start.config.places is not None:
        return Corrector(start, task)
    config, netlist = staged(start.config, task), start.netlist
    leads_on = task.section != start.config.task
    checks = replace(_plan_of_checks(config, task), leads_on=leads_on)
    toughness = None
    if config.finishing.tough and task.lessons is not task:
        toughness = Toughness(netlist, task, config.training.seed)
        if config.finishing.polish:
            return Rewirer(start, checks, toughness, workers)
    sensitivity = GradientSensitivity(netlist, checks, config.automaton.steps)
    return Finisher(netlist, checks, config.finishing, sensitivity, toughness)


def _plan_of_checks(config: Config, task: Task) -> Plan:
    streams = Streams(config.training.seed, Purpose.CHECK_START, Purpose.CHECK_MASK)
    if task.whole is not task:
        plan = Plan.of_task(task, ROUND, streams)
        return replace(plan, proved=plan.proved or task.whole)
    cases = task.find_cases()
    if cases is not None and cases.each:
        return Plan.of_task(task, ROUND, streams)
    if task.damages:
        return Plan.healing(task, streams)
    if task.holds and is_deterministic(task):
        return Plan.holding(task, streams)
    return Plan.of_task(task, ROUND, streams)
