"""How fast a training step is here, and what part of the machine's arithmetic it uses.

Steps of the compared paths alternate in one process, since the speed of a shared machine drifts.
Both start from the same model and see the same samples, and must end with the same results: a
fast wrong answer fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, Protocol

import numpy as np

from difflogic.config import Config
from difflogic.engine.kernels.peak import fma_peak, fma_per_round
from difflogic.engine.program import compile_program
from difflogic.engine.traffic import Traffic, training
from difflogic.engine.work import sum_of
from difflogic.engine.workers import Workers
from difflogic.model.model import Model
from difflogic.simulation.peak import clock_rate
from difflogic.system.jit.processor import registers
from difflogic.system.measuring import Spread, fastest_rate, peak_memory
from difflogic.training.phases import PHASES, SHARED, WAITING, PhaseTimer
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.step_result import StepResult
from difflogic.training.trainer import Trainer

Comparison = Literal["sequential", "oracle"]

OPERATIONS = 15
"""Fused multiply-adds per gate and lane of a training step: 3 forward, 3 to recompute, 9 back."""

WARM_UP_STEPS = 3

REPEAT = 30
REPEAT_WITH_ORACLE = 5

ROUNDING = 0.005
"""Of speed-ups, as they are printed."""

ORACLE_GATE_LANES = 2_500_000
"""Size that the oracle is cut down to, in gate evaluations per step: half a second."""
ORACLE_TOLERANCE = 1e-4
"""Of soft losses, float32 kernels against the float64 oracle, after several steps of AdamW."""


@dataclass
class Path:
    """One way to compute training steps, and what its steps took."""

    name: str
    workers: int
    steps: list[float] = field(default_factory=list)
    phases: dict[str, list[float]] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)

    @property
    def total(self) -> Spread:
        return Spread(tuple(self.steps))

    def phase(self, name: str) -> Spread:
        return Spread(tuple(self.phases[name]))

    def add(self, seconds: float, phases: dict[str, float], losses: list[float]) -> None:
        """Add what `measure_step` found."""
        self.steps.append(seconds)
        self.losses += losses
        for name, spent in phases.items():
            self.phases.setdefault(name, []).append(spent)

    def as_dict(self) -> dict[str, Any]:
        """Seconds per step and per phase, for machines."""
        return {
            "name": self.name,
            "workers": self.workers,
            "step_seconds": self.total.as_dict(),
            "phase_seconds": {name: self.phase(name).as_dict() for name in self.phases},
        }


@dataclass(frozen=True)
class Agreement:
    """Whether the compared paths computed the same."""

    what: str
    difference: float
    tolerance: float

    @property
    def equal(self) -> bool:
        """Whether the difference is within the tolerance; NaN is not."""
        return self.difference <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines. The difference may be infinite or NaN."""
        return {"equal": self.equal, **vars(self)}


@dataclass(frozen=True)
class Report:
    """What a benchmark found. Times in seconds, rates per second, memory in bytes."""

    config: Config
    path: Path
    compared: Path | None
    agreement: Agreement | None
    gate_lanes: int
    """Gate evaluations of one step's rollouts: gates that are read · cells · steps · batch."""
    traffic: Traffic
    """Rows that a tile moves in one automaton step, on the way forward and back."""
    gates: int
    """That are evaluated per cell."""
    peak_one_core: float
    """Fused multiply-adds per second, counted per lane, of one thread."""
    peak_all_workers: float
    """The same of all the workers' threads at once."""
    bytes_per_worker: int
    bytes_shared: int
    peak_memory: int | None
    """Of the process; None where the system does not tell."""
    clock: float
    """Cycles per second of one core."""
    vector: int
    """Numbers of float32 in a vector register."""
    pieces: int
    """Pieces of work that one automaton step of the batch is cut into: chunks of tiles."""
    alone: int
    """Of these, those of groups of samples that one worker does by itself."""
    stolen: float
    """Tasks per training step that a worker took from another's share."""
    ceiling: float
    """The speed-up over one worker that number and size of the tasks allow."""
    noise: float
    """(median - minimum) / minimum of the step: 0 on a quiet machine."""

    @property
    def gate_rate(self) -> float:
        """Gate evaluations per second, each with its share of the backward pass."""
        return self.gate_lanes / self.path.total.median

    @property
    def vectors_per_cycle(self) -> float:
        """Vectors of fused multiply-adds that one core does in a cycle: its units, or nearly."""
        return self.peak_one_core / (self.vector * self.clock)

    @property
    def limit(self) -> float:
        """Seconds that the arithmetic alone would take on the workers at the measured peak."""
        return self.gate_lanes * OPERATIONS / self.peak_all_workers

    @property
    def share_of_peak(self) -> float:
        """Part of the arithmetic peak of the workers that a median step reaches, 0 to 1."""
        return self.limit / self.path.total.median

    @property
    def bytes_per_gate(self) -> float:
        """Bytes between registers and memory, per gate and cell, forward and back."""
        return self.traffic.rows * self._itemsize / self.gates

    @property
    def store_limit(self) -> float:
        """Seconds that the stores alone would take on the workers, one vector per cycle each."""
        stores = self.traffic.stores * self.gate_lanes / self.gates
        numbers = self.vector * 4 / self._itemsize
        return stores / numbers / self.clock / self.path.workers

    @property
    def _itemsize(self) -> int:
        return np.dtype(self.config.training.precision).itemsize

    @property
    def speedup(self) -> float | None:
        """Median step of the compared path over ours: the median of pairwise ratios."""
        if self.compared is None:
            return None
        bound = self.ceiling if self.compared.name == "sequential" else None
        return possible(ratio(self.compared.steps, self.path.steps), bound)

    def phase_speedup(self, phase: str) -> float | None:
        """The same for one phase, of the time that workers were busy.

        None if there is nothing to compare, or above what the tasks allow: then it measures what
        else the machine did.
        """
        if self.compared is None or phase == WAITING:
            return None
        if not any(self.compared.phases.get(phase, ())):
            return None
        found = ratio(self.compared.phases[phase], self.path.phases[phase])
        bound = self.ceiling if phase in SHARED and self.compared.name == "sequential" else None
        return possible(found, bound)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "experiment": self.config.name,
            "batch": self.config.training.batch,
            "automaton_steps": self.config.automaton.steps,
            "repeat": len(self.path.steps),
            "precision": self.config.training.precision,
            "path": self.path.as_dict(),
            "compared": None if self.compared is None else self.compared.as_dict(),
            "speedup": self.speedup,
            "phase_speedup": {name: self.phase_speedup(name) for name in self.path.phases},
            "agreement": None if self.agreement is None else self.agreement.as_dict(),
            "gate_evaluations_per_step": self.gate_lanes,
            "gate_evaluations_per_second": self.gate_rate,
            "fma_per_second_one_core": self.peak_one_core,
            "fma_per_second_all_workers": self.peak_all_workers,
            "clock": self.clock,
            "vector": self.vector,
            "vectors_per_cycle": self.vectors_per_cycle,
            "arithmetic_limit_seconds": self.limit,
            "share_of_peak": self.share_of_peak,
            "rows_loaded": self.traffic.loads,
            "rows_stored": self.traffic.stores,
            "bytes_per_gate": self.bytes_per_gate,
            "store_limit_seconds": self.store_limit,
            "bytes_per_worker": self.bytes_per_worker,
            "bytes_shared": self.bytes_shared,
            "peak_memory": self.peak_memory,
            "pieces": self.pieces,
            "pieces_alone": self.alone,
            "stolen_per_step": self.stolen,
            "speedup_ceiling": self.ceiling,
            "noise": self.noise,
        }


class Steps(Protocol):
    """What is measured: a Trainer or a ReferenceTrainer."""

    phases: PhaseTimer

    @property
    def model(self) -> Model:
        """The model as it is now."""

    def step(self) -> StepResult: ...


def run(
    config: Config,
    compare: Comparison | None = None,
    repeat: int = REPEAT,
    progress: Callable[[int], None] = lambda done: None,
) -> Report:
    """Measure `repeat` training steps of `config`, in turn with those of the compared path.

    They are those of one attempt: searches and starting over, which come now and then, are left
    out. `progress` is called after each repetition. Comparing with the oracle cuts steps and batch
    down to a size that it can finish; the report holds the configuration that was measured.
    """
    config = config.without_searches()
    if compare == "oracle":
        config = within_reach_of_the_oracle(config)
    with ExitStack() as stack:
        trainer = stack.enter_context(Trainer(config))
        trainer.warm_up()
        path = Path("parallel", trainer.engine.plan.workers)
        contestants: list[tuple[Path, Steps]] = [(path, trainer)]
        if compare == "sequential":
            sequential = stack.enter_context(
                Trainer(config.with_sections(parallel={"strategy": "sequential"}))
            )
            contestants.append((Path("sequential", 1), sequential))
        elif compare == "oracle":
            contestants.append((Path("oracle", 1), ReferenceTrainer(config)))
        for _ in range(WARM_UP_STEPS if compare != "oracle" else 1):
            for measured, steps in contestants:
                measured.losses.append(steps.step().soft_loss)
        peaks = [_peaks(path.workers)]
        before = sum_of(trainer.engine.work)
        for done in range(repeat):
            for measured, steps in contestants:
                measured.add(*measure_step(steps))
            progress(done + 1)
        peaks.append(_peaks(path.workers))
        compared = contestants[1][0] if compare else None
        agreement = _agreement(*contestants) if compare else None
        task, automaton = config.task, config.automaton
        cells = task.height * task.width
        program = compile_program(trainer.engine.netlist)
        gates = program.gates
        return Report(
            config=config,
            path=path,
            compared=compared,
            agreement=agreement,
            gate_lanes=gates * cells * automaton.steps * config.training.batch,
            traffic=training(program),
            gates=gates,
            peak_one_core=max(one for one, _ in peaks),
            peak_all_workers=max(every for _, every in peaks),
            bytes_per_worker=trainer.plan.bytes_per_worker,
            bytes_shared=trainer.plan.bytes_shared,
            peak_memory=peak_memory(),
            clock=clock_rate(),
            vector=registers().width // np.dtype(np.float32).itemsize,
            pieces=trainer.engine.pieces[0],
            alone=trainer.engine.pieces[1],
            # Two steps are done for each that is measured.
            stolen=(sum_of(trainer.engine.work) - before).steals / (2 * repeat),
            ceiling=trainer.plan.ceiling(),
            noise=path.total.median / path.total.minimum - 1,
        )


def ratio(slow: list[float], fast: list[float]) -> float | None:
    """Median of the pairwise ratios of two series that were measured in turn."""
    pairs = [(s, f) for s, f in zip(slow, fast, strict=True) if f > 0]
    return median(s / f for s, f in pairs) if pairs else None


def possible(speedup: float | None, ceiling: float | None) -> float | None:
    """Return a speed-up, or None if it is above its ceiling, which no measurement can be."""
    if speedup is None or ceiling is None or speedup <= ceiling + ROUNDING:
        return speedup
    return None


def within_reach_of_the_oracle(config: Config) -> Config:
    """Cut automaton steps, and then the batch, until the oracle can finish a step."""
    per_step = config.architecture.gates * config.task.height * config.task.width
    steps = max(1, min(config.automaton.steps, ORACLE_GATE_LANES // per_step))
    batch = max(1, min(config.training.batch, ORACLE_GATE_LANES // (per_step * steps)))
    return config.with_sections(automaton={"steps": steps}, training={"batch": batch})


def fma_rate(threads: int) -> float:
    """Measure fused multiply-adds per second, counted per lane of float32, on all threads."""
    seed = np.float32(0.5)
    fma_peak(1, seed)
    with Workers(threads) as workers:
        rounds = fastest_rate(lambda count: workers.run(fma_peak, [(count, seed)] * threads))
    return threads * fma_per_round() * rounds


def _peaks(workers: int) -> tuple[float, float]:
    one = fma_rate(1)
    return one, one if workers == 1 else fma_rate(workers)


def measure_step(steps: Steps) -> tuple[float, dict[str, float], list[float]]:
    """Take two steps; return seconds of the second, and of its phases, and the losses of both.

    The first fills the caches with this path's data: another's was measured before.
    """
    losses = [steps.step().soft_loss]
    before = dict(steps.phases.seconds)
    start = time.perf_counter()
    losses.append(steps.step().soft_loss)
    seconds = time.perf_counter() - start
    return seconds, {name: steps.phases.seconds[name] - before[name] for name in PHASES}, losses


def distance(
    ours: Sequence[float], theirs: Sequence[float], models: tuple[Model, Model] | None
) -> float:
    """Return the largest difference of losses and logits; of losses alone, relative, without them.

    NaN if a number is NaN.
    """
    losses = np.array(ours), np.array(theirs)
    if models is None:
        return float(np.max(np.abs(losses[0] - losses[1]) / losses[1]))
    logits = models[0].logits, models[1].logits
    # NumPy's maximum of NaN is NaN, Python's may be the other number.
    return float(np.max([np.abs(x - y).max() for x, y in (losses, logits)]))


def _agreement(ours: tuple[Path, Steps], theirs: tuple[Path, Steps]) -> Agreement:
    losses = ours[0].losses, theirs[0].losses
    if theirs[0].name == "oracle":
        return Agreement("soft losses, relative", distance(*losses, None), ORACLE_TOLERANCE)
    found = distance(*losses, (ours[1].model, theirs[1].model))
    return Agreement("soft losses and logits", found, 0.0)
