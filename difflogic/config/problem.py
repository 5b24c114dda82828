"""What is trained, made once from a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.forms import first_logits
from difflogic.circuit.netlist import Architecture, Wires, rewire, wire
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.sections import FinishingConfig, ParallelConfig, PoolConfig, TrainingConfig
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.base import Task
from difflogic.tasks.section import AutomatonConfig


@dataclass(frozen=True)
class Problem:
    """A task, a circuit's sizes, and how it is learned: typed and checked, without files."""

    task: Task
    architecture: Architecture
    training: TrainingConfig
    pool: PoolConfig
    finishing: FinishingConfig
    parallel: ParallelConfig
    restarts_from_first: bool = False
    """Whether each attempt begins with the first circuit, since that was given."""

    @property
    def automaton(self) -> AutomatonConfig:
        """The automaton of the task."""
        return self.task.automaton

    def of(self, task: Task) -> Problem:
        """Return the problem with another task, such as one of its stages."""
        return replace(self, task=task)


def untrained(
    architecture: Architecture,
    training: TrainingConfig,
    attempt: int = 0,
    perception: Sequence[Wires] | None = None,
    update: Wires | None = None,
) -> SoftCircuit:
    """Return an untrained circuit, wired from the seed or as given: see `Model.create`."""
    layers = wire(architecture, stream(training.seed, Purpose.WIRING, attempt))
    if architecture.fixed is not None and (perception is not None or update is not None):
        raise ConfigError("own wires cannot replace those that count places: set places = false")
    layers = rewire(layers, perception, update)
    logits = first_logits(
        training.form,
        training.initial_logit,
        training.initial_spread,
        layers.first_ops,
        stream(training.seed, Purpose.FIRST_LOGITS, attempt),
    )
    fixed = layers.fixed
    logits[fixed] = gates.fixed_logits(layers.first_ops[fixed])
    return SoftCircuit(layers, np.ascontiguousarray(logits, training.precision))
