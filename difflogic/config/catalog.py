"""What comes with the program: experiments, their sizes and how long they take, and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from difflogic.config import Config, load_config, picture_directory, shipped_configs
from difflogic.system.errors import ConfigError
from difflogic.tasks import Task, make_task
from difflogic.tasks.pictures import parse_picture, shipped_pictures

# Time of a training step, fitted to `dct bench --workers 1` of all shipped experiments on one core
# of an Intel Xeon with AVX-512 (minima of 40 steps, each within 15 % of the fit).
_STEP_SECONDS = 2e-4
_SAMPLE_SECONDS = 25e-6
"""To draw a sample."""
_GATE_SECONDS = 1.85e-10
"""To evaluate one gate for one cell: forward, again, and backward, 15 fused multiply-adds."""
_GATE_SECONDS_PER_GATE = 2.9e-14
"""What every gate of a circuit adds to that, since larger circuits leave the nearest caches."""
_TWO_CORES = 1.8
"""How many times as fast rollouts are on two cores, as measured in the README."""
_SHARING_SECONDS = 3e-4
"""To hand a step's work to two workers, as measured on the Game of Life, whose step is short."""


@dataclass(frozen=True)
class Experiment:
    """A shipped configuration, and what follows from it."""

    config: Config

    @property
    def task(self) -> Task:
        """What it trains."""
        return make_task(self.config)

    @property
    def seconds(self) -> float:
        """Expected time of an attempt's steps on two cores, within a factor of 2 elsewhere.

        Compilation, final scores and what levers of learning add are not in it.
        """
        task, automaton, training = self.config.task, self.config.automaton, self.config.training
        gates = self.config.architecture.gates
        evaluated = gates * task.height * task.width * automaton.steps * training.batch
        rollouts = evaluated * (_GATE_SECONDS + _GATE_SECONDS_PER_GATE * gates) / _TWO_CORES
        samples = _SAMPLE_SECONDS * training.batch
        return self.attempt_epochs * (_STEP_SECONDS + _SHARING_SECONDS + samples + rollouts)

    @property
    def attempt_epochs(self) -> int:
        """Epochs after which learning starts over, or ends."""
        training = self.config.training
        attempt = training.restart_every + self.config.pool.restart_every
        return min(attempt or training.epochs, training.epochs)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines. Sizes in cells, bits and gates, time in seconds."""
        config, architecture, task = self.config, self.config.architecture, self.task
        return {
            "name": config.name,
            "task": task.name,
            "task_settings": task.settings,
            "height": config.task.height,
            "width": config.task.width,
            "channels": config.automaton.channels,
            "steps": config.automaton.steps,
            "fire_rate": config.automaton.fire_rate,
            "gates_with_logits": architecture.parameters,
            "gates_per_cell": architecture.gates,
            "epochs": config.training.epochs,
            "attempt_epochs": self.attempt_epochs,
            "batch": config.training.batch,
            "expected_seconds": round(self.seconds, 2),
            "published": config.published.model_dump(),
        }


@dataclass(frozen=True)
class Picture:
    """A shipped picture."""

    name: str
    height: int
    width: int
    loss_channels: int
    """1 or 3, as many as its colours need."""
    ones: int
    """Bits that are set, over all loss channels."""

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines. Sizes in cells."""
        return dict(vars(self))


def experiments() -> list[Experiment]:
    """Return all shipped experiments, by name."""
    return [Experiment(load_config(name)) for name in shipped_configs()]


def pictures() -> list[Picture]:
    """Return all shipped pictures, by name."""
    found = []
    for name, path in shipped_pictures(picture_directory()).items():
        text = path.read_text(encoding="utf-8")
        try:
            bits = parse_picture(text, 1)
        except ConfigError:  # it has colours
            bits = parse_picture(text, 3)
        channels, height, width = bits.shape
        found.append(Picture(name, height, width, channels, int(bits.sum())))
    return found
