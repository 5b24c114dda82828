"""What comes with the program: experiments with their sizes, and pictures."""

from __future__ import annotations

from typing import Any

from difflogic.config import Config, load_config, picture_directory, shipped_configs
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.tasks.pictures import parse_picture, shipped_pictures


def experiments() -> list[dict[str, Any]]:
    """Return the facts of all shipped experiments, by name; sizes in cells, bits and gates."""
    return [_facts(load_config(name)) for name in shipped_configs()]


def _facts(config: Config) -> dict[str, Any]:
    task, training = make_task(config), config.training
    return {
        "name": config.name,
        "task": task.name,
        "task_title": task.title,
        "task_settings": task.settings,
        "height": config.task.height,
        "width": config.task.width,
        "channels": config.automaton.channels,
        "steps": config.automaton.steps,
        "fire_rate": config.automaton.fire_rate,
        "gates_with_logits": config.architecture.parameters,
        "gates_per_cell": config.architecture.gates,
        "epochs": training.epochs,
        "attempt_epochs": min(training.restart_every or training.epochs, training.epochs),
        "batch": training.batch,
        "published": config.published.model_dump(),
    }


def pictures() -> list[dict[str, Any]]:
    """Return name, cells, loss channels and set bits of all shipped pictures, by name."""
    found = []
    for name, path in shipped_pictures(picture_directory()).items():
        text = path.read_text(encoding="utf-8")
        try:
            bits = parse_picture(text, 1)
        except ConfigError:  # it has colours
            bits = parse_picture(text, 3)
        size = dict(zip(("loss_channels", "height", "width"), bits.shape, strict=True))
        found.append({"name": name, **size, "ones": int(bits.sum())})
    return found
