"""What the training commands train: a configuration, with changes and a name, by their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from difflogic.circuit.life_like import CONWAY, usual
from difflogic.config import Config, Override, load_config
from difflogic.system.errors import ConfigError


@dataclass(frozen=True)
class Experiment:
    """What to train, apart from the options that all training commands share."""

    config: str | None
    """The configuration that the user named, if any."""
    default: str | None = None
    """The configuration of a new run if the user named none."""
    overrides: Sequence[str | Override] = ()
    """Changes by the command's own options."""
    name: str | None = None
    """Name of a new run, if not that of its configuration."""
    kind: str | None = None
    """The kind of task that the command is for; None for any."""
    about: Callable[[Config], Sequence[str]] = lambda config: ()
    """Say what was chosen, for people; lines that begin with "warning: " are for all."""


def checkerboard(
    config: str | None, small: bool, asynchronous: bool, recipe: str | None
) -> Experiment:
    """Return the experiment of a checkerboard. Raises ConfigError for options that conflict."""
    overrides: list[Override] = []
    if asynchronous:
        refuse_both("--async", config)
    if small and asynchronous:
        gates = list(load_config("checkerboard-small").update.gates)
        overrides = [Override("update.gates", gates, "--small")]
    default = "checkerboard" if recipe else "checkerboard-tough"
    shipped = "checkerboard-async" if small or recipe else "checkerboard-tough-async"
    chosen = _chosen(
        config, small or asynchronous, shipped if asynchronous else "checkerboard-small"
    )
    name = "checkerboard-async-small" if small and asynchronous else None
    return Experiment(chosen, default, overrides, name, "checkerboard")


def life(config: str | None, small: bool, rule: str | None) -> Experiment:
    """Return the experiment of a life-like rule. Raises ConfigError for options that conflict."""
    given, rule = rule, None if rule is None else usual(rule)
    overrides = [] if rule is None else [Override("task.rule", rule, f"--rule {given}")]
    chosen = _chosen(config, small, "game-of-life-small")
    name = None if rule in (None, CONWAY) else "life-" + rule.replace("/", "-")
    return Experiment(chosen, "game-of-life", overrides, name, "life")


def _chosen(config: str | None, flagged: bool, shipped: str) -> str | None:
    """Return `shipped` if a flag chose it, else the named configuration."""
    if flagged:
        refuse_both("--small", config)
        return shipped
    return config


def refuse_both(flag: str, config: str | None) -> None:
    """Raise ConfigError if there is a configuration beside a flag that chooses one."""
    if config is not None:
        raise ConfigError(
            f"{flag} and {config} both choose a configuration: give only one of them "
            "(dct train CONFIG takes any)"
        )
