"""The training loop with searches for exact circuits: `Trainer`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.loading import load_config
from difflogic.config.models import Config
from difflogic.config.problem import Problem
from difflogic.evaluation.exactness import answer_about
from difflogic.evaluation.judge import Judge
from difflogic.evaluation.toughness import Toughness
from difflogic.experiment.best import BestCircuit
from difflogic.experiment.compiling import Compilation
from difflogic.model.model import Model
from difflogic.proof.answer import Answer
from difflogic.run.measures import StepResult
from difflogic.run.opened_run import fitted
from difflogic.search.correction import Correction, step
from difflogic.search.finisher import AnyFinisher, Finished, SearchContext
from difflogic.search.footprint import search_bytes
from difflogic.search.polish import Polished
from difflogic.search.searches import search_for
from difflogic.search.walk import OnProgress
from difflogic.system.array_types import Array
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.work import ignore, say
from difflogic.training.learner import MakeLearner
from difflogic.training.optimizer import Learned
from difflogic.training.trainer import Descent

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets


class Trainer:
    """Trains a model, and searches for an exact circuit as often as [finishing] says.

    Use it in a `with`, which keeps the workers' threads alive. The configuration alone determines a
    run.
    """

    def __init__(
        self,
        config: Config | str | Path,
        model: Model | None = None,
        ranks: Ranks = ALONE,
        fleets: Fleets | None = None,
    ) -> None:
        """Start from `model`, or from an untrained one wired from the configuration's seed.

        `config` may also be the name of a configuration, or its file.

        If the configuration names a saved model, `model` must be that model, since starting over
        goes back to it. Raises ConfigError without it, and for a model of another circuit. With
        several `ranks`, each has a trainer, and all take every step together. Runs on a GPU may
        share `fleets`.
        """
        if not isinstance(config, Config):
            config = load_config(config)
        if config.run.start_sha256 is not None and model is None:
            raise config.missing_start
        self.config = config
        self.ranks = ranks
        problem = config.problem
        self.first_model = fitted(model, config, "model") if model else Model.create(config)
        """The model that the run begins with."""
        learner = learner_of(problem, ranks, fleets)
        netlist = self.first_model.netlist
        self.descent = Descent(
            problem, self.first_model, learner, ranks, search_bytes(problem, netlist)
        )
        self.phases = self.descent.phases
        self._best = BestCircuit(problem, self.first_model.columns)
        self._compilation = Compilation(config, self.descent.plan, ranks.leads)
        self._finishing: tuple[tuple[int, int], AnyFinisher | None] | None = None
        self._model: tuple[SoftCircuit, Model] | None = None
        self._closed = False
        self._turn = threading.Lock()
        self.on_search_progress: OnProgress = ignore
        """Called often during a search for an exact circuit; may be replaced."""

    def __enter__(self) -> Self:
        self.descent.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._closed = True
        self._compilation.close()
        self.descent.__exit__(*raised)

    def step(
        self, starts: npt.ArrayLike | None = None, targets: npt.ArrayLike | None = None
    ) -> StepResult:
        """Train for one epoch, as `Descent.step` does; then search if it is time to.

        Also raises TrainingError after closing, and while another thread takes a step.
        """
        if self._closed:
            raise TrainingError("the trainer is closed: take steps inside its with")
        if not self._turn.acquire(blocking=False):
            raise TrainingError(
                "another thread takes a step of this trainer: let one thread take all, or make a "
                "trainer for each"
            )
        try:
            return self._step(starts, targets)
        finally:
            self._turn.release()

    def _step(self, starts: npt.ArrayLike | None, targets: npt.ArrayLike | None) -> StepResult:
        descent = self.descent
        stage = self.descent.stage
        with self.ranks.together():
            result = descent.step(starts, targets)
        if descent.stage != stage:
            self._best.forget()
        if not self._best.is_due(self.epoch):
            return result
        stage = descent.stage
        result = replace(result, finished=self.search())
        # Show the exact circuit, unless it belongs to a later stage, which has other starts.
        if self.exact_epoch == self.epoch and descent.stage == stage and self.ranks.leads:
            assert descent.samples is not None, "a step drew them"
            if self.correction is not None:
                shown = step(self.correction.circuit, descent.task, descent.samples.starts)[0]
            else:
                shown = descent.last_states(self._trained.ops, descent.samples)[0].copy()
            result = replace(result, hard_state=shown)
        return result

    # The search for an exact circuit

    def search(self) -> Finished | None:
        """Search now for an exact circuit near the logits, with the settings in [finishing].

        `result` is then the best circuit so far. Does nothing if `finishing.every` is 0.
        """
        with self.phases("finish"):
            self.compile_search()
            return self._finish()

    def _finish(self) -> Finished | None:
        """Search for an exact circuit near rank 0's logits; all ranks find the same one.

        Once a stage is solved, the next one begins from its circuit, which often solves it too.
        """
        descent = self.descent
        # Ranks on other processors may differ in the last bits; a search needs equal ones.
        self.ranks.broadcast(descent.logits)
        with self.ranks.apart():
            return self._search()

    def _search(self) -> Finished | None:
        descent = self.descent
        epoch = max(1, self.epoch)  # `search` may come before the first step
        while True:
            finisher = self._finisher
            if finisher is None:
                return None
            found = self._best.update(finisher, descent.logits, epoch, self.on_search_progress)
            if self._best.exact_epoch is None or descent.stage == len(descent.stages) - 1:
                return found
            assert self._best.logits is not None
            descent.enter_stage(descent.stage + 1, self._best.logits)
            self._best.forget()
            ops = descent.logits.argmax(axis=0).astype(np.uint8)
            following = self._finisher if descent.stages[descent.stage].damages else None
            if following is not None and not following.verify(ops)[0]:
                # A circuit that only stays is far from healing: a search would cost much in vain.
                return found

    @property
    def _finisher(self) -> AnyFinisher | None:
        """What makes circuits of this attempt exact for this stage; None without searches."""
        descent = self.descent
        place = descent.attempt, descent.stage
        if self._finishing is None or self._finishing[0] != place:
            made = None
            if self.config.finishing.every:
                task = descent.stages[descent.stage]
                start = descent.circuit_of(descent.attempt - 1)
                problem = self.config.problem.of(task)
                workers = descent.plan.workers
                leads_on = descent.stage < len(descent.stages) - 1
                context = SearchContext(
                    start, problem, workers, self._certify, Judge, Toughness, leads_on
                )
                made = search_for(context)
            self._finishing = place, made
        return self._finishing[1]

    def _certify(self, circuit: SoftCircuit) -> Answer:
        return answer_about(self._model_of(circuit))

    @property
    def may_search(self) -> bool:
        """Whether the next step searches."""
        return self._best.is_due(self.epoch + 1)

    # Compiling

    @property
    def needs_compiling(self) -> bool:
        """Whether some kernels are not compiled on this machine yet; compiling takes a while."""
        return self._compilation.needs_compiling

    def warm_up(self) -> float:
        """Compile or load the kernels of a step; return the seconds it took.

        Does not change the training. Kernels of searches are compiled until the first search.
        """
        before = self.phases.timed
        announced = self.needs_compiling
        if announced:
            precision = self.config.training.precision
            say(f"compiling the kernels for {precision}, once …")
        with self.phases("compilation"):
            self._compilation.begin(self.first_model.netlist, self.descent.logits)
        # What other ranks do meanwhile cannot be stopped to wait here.
        if self.ranks.size > 1:
            self.compile_search()
        seconds = self.phases.timed - before
        if announced:
            later = "" if self._compilation.search_is_compiled else "; those of searches meanwhile"
            say(f"compiled in {seconds:.1f} s{later}")
        return seconds

    def compile_search(self) -> None:
        """Compile or load the kernels of searches, after `warm_up`; the first search does it."""
        with self.phases("compilation"):
            self._compilation.complete()

    # The state of the run

    def state(self) -> dict[str, Array]:
        """Return copies of everything, besides the configuration, that later epochs depend on.

        The configuration determines names, shapes and types.
        """
        return {**self.descent.state(), **self._best.state()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to `state`, bit for bit."""
        self.descent.restore(state)
        self._best.restore(state)

    @property
    def epoch(self) -> int:
        """Number of finished epochs."""
        return self.descent.epoch

    @property
    def model(self) -> Model:
        """A copy of the current model; further steps do not change it."""
        return self._model_of(self.descent.circuit)

    @property
    def result(self) -> Model:
        """The model that the run saves: the best one found by a search, or else the current one."""
        return self._model_of(self._completed[0])

    @property
    def correction(self) -> Correction | None:
        """The correction of the circuit that was found, if its picture has places."""
        return self._completed[1]

    @property
    def _completed(self) -> tuple[SoftCircuit, Correction | None]:
        """The circuit that the run saves, and its correction."""
        finisher = None if self.exact_epoch is None else self._finisher
        if finisher is None:
            return self._trained, None
        return finisher.complete(self._trained), finisher.correction

    def _model_of(self, circuit: SoftCircuit) -> Model:
        """Return a circuit with its configuration; the same object for the last one."""
        if self._model is None or self._model[0] is not circuit:
            self._model = circuit, Model.of(circuit, self.first_model.config)
        return self._model[1]

    @property
    def _trained(self) -> SoftCircuit:
        logits = self._best.logits
        attempt = self._best.attempt
        if logits is None:
            return self.descent.circuit
        # A run is saved every few seconds, so reuse the wiring of the current attempt.
        return self.descent.circuit_of(attempt).of_columns(logits)

    @property
    def result_attempt(self) -> int:
        """The attempt that found the result, from 1."""
        return self.descent.attempt if self._best.logits is None else self._best.attempt + 1

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


def learner_of(problem: Problem, ranks: Ranks, fleets: Fleets | None) -> MakeLearner:
    """Return what learns on [parallel] device; runs on a GPU may share `fleets`.

    Raises ConfigError if the GPU cannot train the run.
    """
    training = problem.training
    if problem.parallel.device == "cpu":
        return lambda logits: Learned(logits, training)
    if training.precision != "float32":
        raise ConfigError("[training] precision: a GPU computes in float32: use --device cpu")
    if ranks.size > 1:
        raise ConfigError("[parallel] device: ranks share the work of processors: use --device cpu")
    if problem.task.has_loss():
        raise ConfigError("[task] kind: a GPU computes no loss of a task's own: use --device cpu")
    from difflogic.gpu.learned import DeviceLearned

    return lambda logits: DeviceLearned(logits, training, fleets)


def compile_kernels(config: Config) -> None:
    """Compile the kernels for `config` here, unless they are compiled."""
    # With one worker: no other is left waiting in a kernel if Ctrl-C ends the compilation.
    with Trainer(config.with_sections(parallel={"workers": 1})) as trainer:
        if trainer.needs_compiling:
            trainer.warm_up()
            trainer.compile_search()
