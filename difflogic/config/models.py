"""A whole configuration, and the checks across its sections."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import tomli_w
from pydantic import Field, model_validator

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.netlist import Architecture, wire
from difflogic.config.problem import Problem
from difflogic.config.sections import (
    CHANGEABLE,
    CheckpointConfig,
    FinishingConfig,
    ParallelConfig,
    PerceptionConfig,
    PoolConfig,
    PublishedConfig,
    RunFacts,
    TrainingConfig,
    UpdateConfig,
)
from difflogic.pictures.places import Places
from difflogic.system.errors import ConfigError
from difflogic.tasks import AnySection, CustomSection, TaskSection, custom, make_task, task_class
from difflogic.tasks.base import Task
from difflogic.tasks.section import AutomatonConfig, Section

MAX_GATES_PER_CELL = 2**20
"""Most gates per cell: 80 times the largest published circuit. Guards memory against typos."""

COUNTING = {
    ("perception", "kernels"): 1,
    ("perception", "gates"): (NEIGHBORHOOD - 1,),
    ("perception", "wiring"): "moore",
    ("perception", "directions"): "same",
    ("automaton", "boundary"): "zero",
    ("automaton", "fire_rate"): 1.0,
    ("training", "form"): "ops",
}
"""What cells need that count their places."""

RUN = "run"
"""The section of a run's facts, which are not settings."""


class Config(Section):
    """One experiment, complete and checked."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)] = Field(
        description="names the experiment and its run directories",
        json_schema_extra={
            "accepted": "1 to 64 letters, digits, - and _, starting with a letter or digit"
        },
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
            distinct_wiring=perception.directions != "same",
            all_directions=perception.directions == "all",
            carry=self.update.carry,
            held=self.task.inputs,
            moving=self.task.moving,
            fixed=self.places,
        )

    @property
    def problem(self) -> Problem:
        """What is trained. Raises ConfigError if the code of its task is not loaded."""
        return self.problem_of(make_task(self))

    def problem_of(self, task: Task) -> Problem:
        """Return what is trained, with its task."""
        return Problem(
            task,
            self.architecture,
            self.training,
            self.pool,
            self.finishing,
            self.parallel,
            self.run.start_sha256 is not None,
        )

    def grown(self, architecture: Architecture) -> Config:
        """Return the configuration of a circuit that was rebuilt after training."""
        if architecture == self.architecture:
            return self
        own = "all" if architecture.all_directions else "random"
        perception = {
            "kernels": architecture.kernels,
            "gates": architecture.perception,
            "wiring": architecture.perception_first,
            "directions": own if architecture.distinct_wiring else "same",
        }
        update = {"gates": architecture.update, "carry": architecture.carry, "corrected": True}
        return self.with_sections(perception=perception, update=update)

    @property
    def places(self) -> Places | None:
        """What cells count by gates that do not learn, if anything."""
        return self.automaton.counted(self.task.height, self.task.width)

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables, lists and scalars for TOML or JSON.

        Keys without a value are left out, and so is [run] if there are no facts.
        """
        data = self.model_dump(mode="json", exclude_none=True)
        if not data[RUN]:
            del data[RUN]
        return data

    def effective(self) -> dict[str, Any]:
        """Return the tables without the sections in `CHANGEABLE`, which change no result."""
        return {name: table for name, table in self.to_dict().items() if name not in CHANGEABLE}

    def to_toml(self) -> str:
        """Return the configuration as TOML; `load_config` reads it back to an equal one."""
        return tomli_w.dumps(self.to_dict(), multiline_strings=True)

    def with_sections(self, **sections: dict[str, Any]) -> Config:
        """Return the configuration with some keys of some sections replaced, unchecked."""
        changed = {
            name: getattr(self, name).model_copy(update=keys) for name, keys in sections.items()
        }
        return self.model_copy(update=changed)

    def without_searches(self) -> Config:
        """Return the configuration of a single attempt that runs to its last epoch."""
        return self.with_sections(training={"restart_every": 0}, finishing={"every": 0})

    def with_facts(self, **facts: str | None) -> Config:
        """Return the configuration with some of its `RunFacts` replaced."""
        run = self.run.model_copy(update=facts)
        return self.model_copy(update={RUN: run, "task": _with_code(self.task, run)})

    @property
    def missing_start(self) -> ConfigError:
        """The error for a run that should start from a saved model, but has none."""
        return ConfigError(
            f"[run] start_sha256: {self.name} starts from a saved model, of SHA-256 "
            f"{self.run.start_sha256}: name its run or its file with dct train CONFIG --from"
        )

    @model_validator(mode="after")
    def _check_sections_agree(self) -> Config:
        self.__dict__["task"] = _with_code(self.task, self.run)
        problems = [*_task_problems(self), *_circuit_problems(self)]
        if problems:
            raise ValueError("\n".join(problems))
        return self


def _with_code(task: TaskSection, run: RunFacts) -> TaskSection:
    """Return the section; a custom task's remembers which code it was used with."""
    if isinstance(task, CustomSection):
        return task.of_code(run.task_sha256, run.task_start)
    return task


def _task_problems(config: Config) -> list[str]:
    task = config.task
    channels = config.automaton.channels
    training = config.training
    pool = config.pool
    problems = task.problems(config.automaton)
    if training.restart_every and not config.finishing.every:
        problems.append(
            "[training] restart_every: a restart would lose what was learned, since no circuit is "
            "kept without checks: set it to 0, or [finishing] every above 0"
        )
    if custom.is_loaded(task):
        kind = task_class(task)
        why = None
        if kind.has_changing_targets():
            why = "the target of this task changes with every step"
        elif kind.has_loss():
            why = "this task has its own loss, which chooses the steps that it reads"
        later = {"[training] later_steps": training.later_steps, "[pool] batch": pool.batch}
        problems += [
            f"{key}: {why}: leave it at 0" for key, value in later.items() if value and why
        ]
    if pool.batch and config.automaton.fire_rate < 1:
        problems.append("[pool] batch: needs [automaton] fire_rate = 1")
    for key, listed in (("loss_channels", task.loss_channels), ("inputs", task.inputs)):
        beyond = [channel for channel in listed if channel >= channels]
        if beyond:
            problems.append(
                f"[task] {key}: no channel {beyond[0]}, as the automaton has {channels}: "
                f"use 0 to {channels - 1}"
            )
        if len(set(listed)) < len(listed):
            problems.append(f"[task] {key}: a channel is listed twice: list it once")
    both = set(task.inputs) & set(task.loss_channels)
    if both:
        problems.append(
            f"[task] inputs: channel {min(both)} never changes, so it cannot learn a target: list "
            "it in inputs or in loss_channels, not in both"
        )
    return problems


def _circuit_problems(config: Config) -> list[str]:
    channels = config.automaton.channels
    update = config.update.gates
    if update[-1] != channels:
        return [
            "[update] gates: the last layer is the cell's next state and needs one gate per "
            f"channel: {channels} ([automaton] channels), not {update[-1]}"
        ]
    architecture = config.architecture
    if architecture.all_directions and architecture.perception_first != "moore":
        return [
            '[perception] directions: "all" needs wiring = "moore": set that, or directions to '
            '"same" or "random"'
        ]
    for key in ("tough", "periods"):
        if getattr(config.automaton, key) and not config.automaton.places:
            return [f"[automaton] {key}: needs counted places: set places = true"]
    if config.places is not None:
        problems = _places_problems(config, config.places)
        if problems:
            return problems
    if 0 < architecture.carry < 1:
        return ["[update] carry: must be 0, or at least 1 step"]
    if architecture.gates > MAX_GATES_PER_CELL:
        return [
            f"[perception] and [update] gates: {architecture.gates} gates per cell are more than "
            f"the limit of {MAX_GATES_PER_CELL}: use fewer kernels, channels or gates"
        ]
    if config.update.corrected:
        return []
    try:
        # Whether layers can be wired depends on sizes only: any generator and one kernel will do.
        wire(replace(architecture, distinct_wiring=False), np.random.default_rng(0))
    except ConfigError as error:
        return [str(error)]
    return []


def _places_problems(config: Config, counters: Places) -> list[str]:
    """Return why cells cannot count their places."""
    found = []
    wrong = []
    for (section, key), value in COUNTING.items():
        if counters.periods and key == "fire_rate":
            continue  # tiles are right in any order of firing
        if getattr(getattr(config, section), key) != value:
            wrong.append(f"[{section}] {key} = {json.dumps(value)}")
    if wrong:
        found.append(
            "[automaton] places: cells count from the edges, step by step, and all neighbours are "
            f"passed on to them: set {', '.join(wrong)}"
        )
    if counters.tough and min(config.task.height, config.task.width) < 3:
        return [*found, "[automaton] tough: needs 3 rows and columns or more: set tough = false"]
    channels = config.automaton.channels
    gates = config.update.gates
    if channels <= counters.channels:
        found.append(
            f"[automaton] places: the counters take {counters.channels} channels: set channels "
            f"above that, not to {channels}"
        )
    try:
        least = [len(layer.op) for layer in counters.layers(len(gates))][:-1]
    except ConfigError as error:
        return [*found, str(error)]
    layers = counters.least_layers
    if len(gates) < layers or any(size <= need for size, need in zip(gates, least, strict=False)):
        found.append(
            f"[update] gates: counters need {layers} layers or more, all but the last of more than "
            f"{max(least, default=0)} gates"
        )
    return found
