"""What the training commands train: a configuration, with changes and a name, by their options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from difflogic.config import Override, load_config
from difflogic.library import growing
from difflogic.library.groups import PictureOptions
from difflogic.system.errors import ConfigError

CONWAY = "B3/S23"


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
    lines: Sequence[str] = ()
    """What was chosen, for people."""
    warnings: Sequence[str] = ()
    """Those of the lines that are to be shown in any case."""


def checkerboard(
    config: str | None, small: bool, asynchronous: bool, recipe: str | None
) -> Experiment:
    """Return the experiment of a checkerboard. Raises ConfigError for options that conflict."""
    overrides: list[Override] = []
    if asynchronous:
        _refuse_both("--async", config)
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
    overrides = [] if rule is None else [Override("task.rule", rule, f"--rule {rule}")]
    chosen = _chosen(config, small, "game-of-life-small")
    name = None if rule in (None, CONWAY) else "life-" + rule.replace("/", "-")
    return Experiment(chosen, "game-of-life", overrides, name, "life")


def picture(config: str | None, options: PictureOptions, resumed: bool) -> Experiment:
    """Return the experiment of a picture, with grid, circuit and steps that suit it.

    Raises ConfigError for options that conflict, and for what is no picture.
    """
    target, colors, channels = options.target, options.colors, options.channels
    chosen = options.choose_configuration
    if colors in (1, 3) and (options.palette or options.dither):
        raise ConfigError(f"--colors {colors} has no palette: leave --palette and --dither out")
    if colors is not None and options.palette:
        raise ConfigError("--colors and --palette both choose colours: give only one of them")
    if colors is not None:
        _refuse_both("--colors", config)
    if chosen and config is not None:
        raise ConfigError(
            f"{config}: --hold, --heal, --second, --size, --steps, --colors, --palette, --dither "
            f"and --tough choose a configuration by the picture: leave {config} out, or use --set"
        )
    is_image = target is not None and colors is None and growing.is_image(target)
    if config is None and not resumed and (chosen or is_image):
        growth = growing.plan(options)
        warnings = [line for line in growth.lines if line.startswith("warning: ")]
        name = picture_name(growth.picture.name)
        return Experiment(
            None, growth.config, growth.overrides, name, "pattern", growth.lines, warnings
        )
    default = "letter-g" if colors == 3 or (colors is None and target == "letter-g") else "lizard"
    overrides = [] if target is None else [picture_override(target)]
    if channels is not None:
        changes = growing.circuit_for(config or default, channels)
        overrides += growing.overriding(changes, f"--channels {channels}")
    named = None if target in (None, config or default) else picture_name(target)
    return Experiment(config, default, overrides, named, "pattern")


def picture_override(target: str) -> Override:
    """Return the override for a picture: a file, or a shipped name if there is no such file."""
    path = Path(target)
    looks_like_a_path = path.suffix != "" or len(path.parts) > 1
    name = str(path.absolute()) if looks_like_a_path or path.is_file() else target
    return Override("task.target", name, f"--target {target}")


def picture_name(target: str) -> str:
    """Name an experiment after its picture's file."""
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in Path(target).stem)
    return f"pattern-{stem}"[:64]


def _chosen(config: str | None, flagged: bool, shipped: str) -> str | None:
    """Return `shipped` if a flag chose it, else the named configuration."""
    if flagged:
        _refuse_both("--small", config)
        return shipped
    return config


def _refuse_both(flag: str, config: str | None) -> None:
    if config is not None:
        raise ConfigError(
            f"{flag} and {config} both choose a configuration: give only one of them "
            "(dct train CONFIG takes any)"
        )
