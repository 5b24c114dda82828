"""The sections and keys of a configuration, with their types, ranges and meaning.

Every description says what the key means and its unit. `dct config show` prints it as a
comment, followed by the range, which is derived from the constraints and never written twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
import tomli_w
from pydantic import Field, model_validator

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.netlist import Architecture, wire
from difflogic.circuit.places import place_bits
from difflogic.circuit.wiring import FIRST_TOPOLOGIES, TOPOLOGIES
from difflogic.config.learning import Count, FinishingConfig, PoolConfig, TrainingConfig
from difflogic.config.running import FREE, CheckpointConfig, ParallelConfig
from difflogic.system.errors import ConfigError
from difflogic.tasks import AnySection, OwnSection, TaskSection, own, task_class
from difflogic.tasks.base import Start
from difflogic.tasks.sections import AutomatonConfig, Section, Size

MAX_GATES = 2**20
"""Gates per cell: 80 times the largest published circuit. Guards memory against slips."""

RUN = "run"
"""The table of a run's facts, which are no settings."""

Sha256 = Annotated[
    str, Field(pattern=r"^[0-9a-f]{64}$", json_schema_extra={"accepted": "64 hexadecimal digits"})
]
# A TOML array arrives as a list; only the array itself is converted, its items stay strict.
Layers = Annotated[tuple[Size, ...], Field(min_length=1, max_length=1000, strict=False)]
if TYPE_CHECKING:
    Topology: TypeAlias = str
    FirstTopology: TypeAlias = str
else:
    Topology, FirstTopology = Literal[*TOPOLOGIES], Literal[*FIRST_TOPOLOGIES]


class PerceptionConfig(Section):
    """The kernels, small circuits that read the 3×3 neighbourhood of one channel or several."""

    kernels: Size = Field(description="number of kernels, each with logits of its own")
    gates: Layers = Field(
        default=(8, 4, 2), description="gates per layer of one kernel, on 9 inputs a channel"
    )
    wiring: FirstTopology = Field(
        default="moore",
        description="wiring of all layers; moore, von-neumann, hexagonal and line are those of the "
        "first alone, with unique after it: each gate compares one of 8, 4, 6 or 2 neighbours with "
        "the centre, and each neighbour has as many gates",
    )
    channels: Size = Field(
        default=1,
        description="channels that a kernel sees at once, 9 inputs each: the one that it is "
        "applied to, and those after it, the first after the last",
    )
    directions: Literal["same", "random", "all"] = Field(
        default="same",
        description="where kernels look before they have learned anything: same, as they share one "
        "wiring; random, each by a wiring of its own; all, by wirings of their own all around, as "
        "far as wires allow: NW, NE, SE, SW, S, N, W, E in turn, and the last one S beside its own "
        "if these are fewer than five; needs wiring moore",
    )


class UpdateConfig(Section):
    """The circuit that maps a cell's channels and all it perceives to its next state."""

    gates: Layers = Field(description="gates per layer; the last layer has one per channel")
    wiring: Topology = Field(default="unique", description="wiring of all layers")
    carry: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0.0,
        description="mean number of steps an untrained cell passes a signal on in one direction, 1 "
        "or more, through nearly all channels in turn; 0 wires signals at random",
    )


class PublishedConfig(Section):
    """What the reference published for this experiment.

    Only recipes use it: --recipe reference, and --recipe benchmark, which measures steps.
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


class RunFacts(Section):
    """Facts of a run, written down by the program. A run that goes on has to find the same."""

    start_sha256: Sha256 | None = Field(
        default=None, description="hash of the model's file that training starts from"
    )
    task_sha256: Sha256 | None = Field(
        default=None, description="hash of the code of a task of your own"
    )
    task_start: Start | None = Field(
        default=None, description="where circuits of such a task start when they are simulated"
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
    finishing: FinishingConfig = FinishingConfig()
    parallel: ParallelConfig = ParallelConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    published: PublishedConfig = PublishedConfig()
    run: RunFacts = RunFacts()

    def __repr__(self) -> str:
        return f"Config({self.name!r}, {self.task.height}×{self.task.width} cells)"

    @property
    def architecture(self) -> Architecture:
        """The sizes of the circuit."""
        perception = self.perception
        return Architecture(
            channels=self.automaton.channels,
            kernels=perception.kernels,
            perception=perception.gates,
            update=self.update.gates,
            perception_first=perception.wiring,
            perception_wiring=perception.wiring if perception.wiring in TOPOLOGIES else "unique",
            update_wiring=self.update.wiring,
            distinct_wiring=perception.directions != "same",
            all_directions=perception.directions == "all",
            carry=self.update.carry,
            held=self.task.inputs,
            places=place_bits(self.task.height, self.task.width) if self.automaton.places else (),
            switch=self.automaton.switch,
            seen_channels=perception.channels,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables, lists and scalars, as TOML and JSON know them.

        Keys that have no value are left out, and so is [run] if there are no facts.
        """
        data: dict[str, Any] = _plain(self.model_dump(exclude_none=True))
        if not data[RUN]:
            del data[RUN]
        return data

    def effective(self) -> dict[str, Any]:
        """Return the same without what changes no bit of a result."""
        data = self.to_dict()
        for section, keys in FREE.items():
            data[section] = {key: value for key, value in data[section].items() if key not in keys}
            if not data[section]:
                del data[section]
        return data

    def to_toml(self) -> str:
        """Return the configuration as TOML; `load_config` reads it back to an equal one."""
        return tomli_w.dumps(self.to_dict(), multiline_strings=True)

    def with_sections(self, **sections: dict[str, Any]) -> Config:
        """Return the configuration with other values of some keys, by section, unchecked."""
        changed = {
            name: getattr(self, name).model_copy(update=keys) for name, keys in sections.items()
        }
        return self.model_copy(update=changed)

    def without_searches(self) -> Config:
        """Return the configuration of one attempt, which nothing ends."""
        return self.with_sections(training={"restart_every": 0}, finishing={"every": 0})

    def with_facts(self, **facts: str) -> Config:
        """Return the configuration of a run with other facts, by their names in `RunFacts`."""
        run = self.run.model_copy(update=facts)
        return self.model_copy(update={RUN: run, "task": _with_code(self.task, run)})

    @model_validator(mode="after")
    def _check_sections_agree(self) -> Config:
        self.__dict__["task"] = _with_code(self.task, self.run)
        problems = [*_task_problems(self), *_circuit_problems(self)]
        if problems:
            raise ValueError("\n".join(problems))
        return self


def _with_code(task: TaskSection, run: RunFacts) -> TaskSection:
    """Return a task's section that knows the code it was used with, if that is a user's own."""
    if isinstance(task, OwnSection):
        return task.of_code(run.task_sha256, run.task_start)
    return task


def _task_problems(config: Config) -> list[str]:
    task, channels = config.task, config.automaton.channels
    training, pool = config.training, config.pool
    problems = task.problems(config.automaton)
    if training.restart_every and not config.finishing.every:
        problems.append(
            "[training] restart_every: would throw away what was learned, since without checks no "
            "circuit is kept: set it to 0, or [finishing] every above 0"
        )
    later = {
        "[training] later_steps": config.training.later_steps,
        "[pool] batch": config.pool.batch,
    }
    if any(later.values()) and own.is_loaded(task):
        kind, why = task_class(task), None
        if kind.moves_on():
            why = "the targets of this task do not stay as they are"
        elif kind.has_loss():
            why = "this task has a loss of its own, and says itself which steps that sees"
        problems += [
            f"{key}: {why}: leave it at 0" for key, value in later.items() if value and why
        ]
    if task.weights and own.is_loaded(task) and task_class(task).has_loss():
        problems.append("[task] weights: this task has a loss of its own: leave it at []")
    if pool.batch and config.automaton.fire_rate < 1:
        problems.append(
            "[pool] batch: the pool's cells all fire: it needs [automaton] fire_rate = 1"
        )
    for key, listed in (("loss_channels", task.loss_channels), ("inputs", task.inputs)):
        beyond = [channel for channel in listed if channel >= channels]
        if beyond:
            problems.append(
                f"[task] {key}: no channel {beyond[0]}, as the automaton has {channels}: "
                f"use 0 to {channels - 1}"
            )
        if len(set(listed)) < len(listed):
            problems.append(f"[task] {key}: a channel is listed twice: list it once")
    try:
        task.spread_weights()
    except ConfigError as error:
        problems.append(str(error))
    both = set(task.inputs) & set(task.loss_channels)
    if both:
        problems.append(
            f"[task] inputs: channel {min(both)} never changes, and cannot learn what "
            "loss_channels asks of it: list it in one of the two"
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
    if architecture.seen_channels > channels:
        return [
            f"[perception] channels: a kernel sees each channel once: use 1 to {channels} "
            "([automaton] channels)"
        ]
    if architecture.all_directions and architecture.perception_first != "moore":
        return [
            "[perception] directions: all is for kernels that are wired from one neighbour per "
            'gate: set wiring = "moore", or directions to "same" or "random"'
        ]
    if config.automaton.switch and not config.automaton.places:
        return ["[automaton] switch: is read where places are counted: set places = true"]
    if config.automaton.places:
        problems = _places_problems(config)
        if problems:
            return problems
    if 0 < architecture.carry < 1:
        return ["[update] carry: must be 0, or at least 1 step"]
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


def _places_problems(config: Config) -> list[str]:
    """Return why cells could not count their places."""
    perception, bits = config.perception, config.architecture.places
    fits = perception.kernels == 1 and perception.gates == (NEIGHBORHOOD - 1,)
    fits = fits and perception.channels == 1
    found = []
    if not fits or perception.wiring != "moore" or perception.directions != "same":
        found.append(
            "[automaton] places: needs a perception that hands every neighbour on: [perception] "
            'kernels = 1, gates = [8], channels = 1, wiring = "moore", directions = "same"'
        )
    if config.automaton.boundary != "zero" or config.automaton.fire_rate < 1:
        found.append(
            '[automaton] places: counts from the edges, step by step: set boundary = "zero" and '
            "fire_rate = 1"
        )
    if config.training.form != "ops":
        found.append('[automaton] places: counters need [training] form = "ops"')
    own = sum(bits) + config.automaton.switch
    if config.automaton.channels <= own:
        found.append(
            f"[automaton] places: counts in {own} channels, and needs more than "
            f"{config.automaton.channels}"
        )
    *hidden, _ = config.update.gates
    layers, least = max(*bits, 4 * config.automaton.switch), own + 2 + 4 * config.automaton.switch
    if len(config.update.gates) < layers or min(hidden, default=0) <= least:
        found.append(
            f"[update] gates: counters need {layers} layers or more, all but the last of more than "
            f"{least} gates"
        )
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value
