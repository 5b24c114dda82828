"""The sections and keys of a configuration, with their types, ranges and meaning.

Every description says what the key means and its unit. `dct config show` prints it as a
comment, followed by the range, which is derived from the constraints and never written twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
import tomli_w
from pydantic import Field, ValidationInfo, model_validator

from difflogic.circuit.netlist import Architecture, wire
from difflogic.circuit.wiring import FIRST_TOPOLOGIES, TOPOLOGIES
from difflogic.config.learning import (
    Count,
    FinishingConfig,
    HardeningConfig,
    PoolConfig,
    ScheduleConfig,
    TrainingConfig,
)
from difflogic.config.running import CheckpointConfig, ParallelConfig
from difflogic.system.errors import ConfigError
from difflogic.tasks import AnySection, own, task_class
from difflogic.tasks.sections import AutomatonConfig, Section, Size

MAX_GATES = 2**20
"""Gates per cell: 80 times the largest published circuit. Guards memory against slips."""

SAVED = "saved"
"""In the context of a check: whether a version of the program wrote the configuration to a file."""

# A TOML array arrives as a list; only the array itself is converted, its items stay strict.
Layers = Annotated[tuple[Size, ...], Field(min_length=1, max_length=1000, strict=False)]
if TYPE_CHECKING:
    Topology: TypeAlias = str
    FirstTopology: TypeAlias = str
else:
    Topology, FirstTopology = Literal[*TOPOLOGIES], Literal[*FIRST_TOPOLOGIES]


class PerceptionConfig(Section):
    """The kernels, small circuits that read the 3×3 neighbourhood of one channel."""

    kernels: Size = Field(description="number of kernels, each with logits of its own")
    gates: Layers = Field(
        default=(8, 4, 2), description="gates per layer of one kernel, on 9 inputs"
    )
    first_wiring: FirstTopology = Field(
        default="moore", description="wiring of the first layer; moore needs 8 gates there"
    )
    wiring: Topology = Field(default="unique", description="wiring of later layers")
    distinct_wiring: bool = Field(
        default=False, description="every kernel draws a wiring of its own, instead of sharing one"
    )
    all_directions: bool = Field(
        default=False,
        description="before they have learned anything kernels see all around, as far as wires "
        "allow: NW, NE, SE, SW, S, N, W, E in turn, and the last one S beside its own if these are "
        "fewer than five; else random neighbours, or all the same one if they share a wiring",
    )


class UpdateConfig(Section):
    """The circuit that maps a cell's channels and all it perceives to its next state."""

    gates: Layers = Field(description="gates per layer; the last layer has one per channel")
    wiring: Topology = Field(default="unique", description="wiring of all layers")
    carry: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0.0,
        description="steps on the average, 1 or more, that a signal goes one way before anything "
        "is learned, through nearly all channels in turn; 0 leaves to chance where signals go, and "
        "which are lost",
    )


class EvaluationConfig(Section):
    """How the hard circuit, each gate replaced by its most probable op, is scored."""

    hard_every: Count = Field(default=1, description="epochs from one hard evaluation to the next")
    starts: Size = Field(default=64, description="held-out start states for the final scores")


class PublishedConfig(Section):
    """What the reference published for this experiment.

    Only recipes use it: --recipe reference, and benchmark, of which steps are measured.
    """

    epochs: Count | None = Field(default=None, description="training steps, as published")
    batch: Size | None = Field(
        default=None, description="samples per training step, where another number works better"
    )
    learning_rate: Annotated[float, Field(gt=0, le=1000)] | None = Field(
        default=None, description="AdamW's step size, where another one works better here"
    )
    learned_by: Count | None = Field(
        default=None, description="epoch from which its hard loss was 0, with its one seed"
    )
    active_gates: Count | None = Field(
        default=None, description="gates of its circuit whose op is neither A nor B"
    )


class Config(Section):
    """One experiment, whole and checked."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)] = Field(
        description="names the experiment and its run directories",
        json_schema_extra={"accepted": "1 to 64 letters, digits, - and _, no - or _ first"},
    )
    task: AnySection
    automaton: AutomatonConfig
    perception: PerceptionConfig
    update: UpdateConfig
    training: TrainingConfig
    pool: PoolConfig = PoolConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    hardening: HardeningConfig = HardeningConfig()
    finishing: FinishingConfig = FinishingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    parallel: ParallelConfig = ParallelConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    published: PublishedConfig = PublishedConfig()

    @property
    def architecture(self) -> Architecture:
        """The sizes of the circuit."""
        return Architecture(
            channels=self.automaton.channels,
            kernels=self.perception.kernels,
            perception=self.perception.gates,
            update=self.update.gates,
            perception_first=self.perception.first_wiring,
            perception_wiring=self.perception.wiring,
            update_wiring=self.update.wiring,
            distinct_wiring=self.perception.distinct_wiring,
            all_directions=self.perception.all_directions,
            carry=self.update.carry,
        )

    @property
    def starts_over(self) -> bool:
        """Whether learning starts over now and then."""
        return bool(self.training.restart_every or self.pool.restart_every)

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables, lists and scalars, as TOML and JSON know them.

        Keys that have no value are left out.
        """
        return _plain(self.model_dump(exclude_none=True))

    def to_toml(self) -> str:
        """Return the configuration as TOML; `load_config` reads it back to an equal one."""
        return tomli_w.dumps(self.to_dict(), multiline_strings=True)

    def without_searches(self) -> Config:
        """Return the configuration of one attempt, which nothing ends, and no pool that waits."""
        training = {"restart_every": 0, "abandon_after": 0}
        return self.model_copy(
            update={
                "training": self.training.model_copy(update=training),
                "finishing": self.finishing.model_copy(update={"every": 0}),
                "pool": PoolConfig() if self.pool.after_growth else self.pool,
            }
        )

    @model_validator(mode="after")
    def _check_sections_agree(self, info: ValidationInfo) -> Config:
        problems = [*_task_problems(self), *_circuit_problems(self), *_form_problems(self)]
        if not (info.context or {}).get(SAVED):
            problems += _growth_problems(self)
        if problems:
            raise ValueError("\n".join(problems))
        return self


_NO_SEARCHES = (
    "[pool] after_growth: without searches no circuit is found to begin with: set it to false, or "
    "[finishing] every above 0"
)


def _task_problems(config: Config) -> list[str]:
    task, channels = config.task, config.automaton.channels
    problems = task.problems(config.automaton)
    if config.training.restart_every and not config.finishing.every:
        problems.append(
            "[training] restart_every: would throw away what was learned, since without checks no "
            "circuit is kept: set it to 0, or [finishing] every above 0"
        )
    if (
        config.training.abandon_after
        and config.training.abandon_after >= config.training.restart_every
    ):
        problems.append(
            "[training] abandon_after: gives up an attempt before its restart_every epochs are "
            "over, and has to be less: set it to 0, or restart_every above it"
        )
    if config.pool.batch and config.pool.after_growth and not config.finishing.every:
        problems.append(_NO_SEARCHES)
    if config.pool.restart_every and not config.pool.after_growth:
        problems.append(
            "[pool] restart_every: counts the epochs of a pool that waits for growth: set [pool] "
            "after_growth = true, or this to 0"
        )
    if config.training.later_steps and own.is_loaded(task) and task_class(task).moves_on():
        problems.append(
            "[training] later_steps: the targets of this task do not stay as they are: leave it "
            "at 0"
        )
    if config.pool.batch and own.is_loaded(task) and task_class(task).moves_on():
        problems.append(
            "[pool] batch: the targets of this task do not stay as they are: leave it at 0"
        )
    if config.pool.batch and config.automaton.fire_rate < 1:
        problems.append(
            "[pool] batch: the pool's cells all fire: it needs [automaton] fire_rate = 1"
        )
    beyond = [channel for channel in task.loss_channels if channel >= channels]
    if beyond:
        problems.append(
            f"[task] loss_channels: no channel {beyond[0]}, as the automaton has {channels}: "
            f"use 0 to {channels - 1}"
        )
    if len(set(task.loss_channels)) < len(task.loss_channels):
        problems.append("[task] loss_channels: a channel is listed twice: list it once")
    return problems


def _growth_problems(config: Config) -> list[str]:
    """Return what is wrong today and earlier versions took: files of theirs mean what they did."""
    problems = []
    if not config.pool.batch and config.pool.after_growth and not config.finishing.every:
        problems.append(_NO_SEARCHES)
    if config.pool.restart_every and not config.training.restart_every:
        problems.append(
            "[pool] restart_every: [training] restart_every = 0 is never to start over, and would "
            "leave growth without a bound: set that above 0, or this to 0"
        )
    return problems


def _circuit_problems(config: Config) -> list[str]:
    channels, update = config.automaton.channels, config.update.gates
    if update[-1] != channels:
        return [
            f"[update] gates: the last layer is the cell's next state and needs one gate per "
            f"channel: {channels} ([automaton] channels), not {update[-1]}"
        ]
    architecture = config.architecture
    if architecture.all_directions and not (
        architecture.distinct_wiring and architecture.perception_first == "moore"
    ):
        return [
            "[perception] all_directions: needs kernels that are wired each by itself, from one "
            'neighbour per gate: set distinct_wiring = true and first_wiring = "moore", or this to '
            "false"
        ]
    if 0 < architecture.carry < 1:
        return ["[update] carry: a signal goes one way for 1 step at least: use 0, or 1 or more"]
    if architecture.gates > MAX_GATES:
        return [
            f"[perception] and [update] gates: {architecture.gates} gates per cell are more than "
            f"the {MAX_GATES} that this program accepts: use fewer kernels, channels or gates"
        ]
    try:
        # Which layers can be wired depends on sizes only: any generator and one kernel will do.
        wire(replace(architecture, distinct_wiring=False), np.random.default_rng(0))
    except ConfigError as error:
        return [str(error)]
    return []


def _form_problems(config: Config) -> list[str]:
    training = config.training
    if training.form == "polynomial" and training.initial_logit <= 0:
        return [
            "[training] initial_logit: with the form polynomial it is also what a distance counts, "
            f"and has to be above 0, not {training.initial_logit}"
        ]
    return []


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value
