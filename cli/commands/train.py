"""`dct train` and its shortcuts: which experiment is meant. What happens then is in running.py."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.commands import config as config_command
from cli.options.parsing import whole_number
from cli.options.run_options import RunOptions, with_run_options
from cli.running import Experiment, run_experiment

CONWAY = "B3/S23"


CONFIG = typer.Argument(
    metavar="CONFIG",
    help="Another configuration: a shipped one's name, or a TOML file.",
    show_default=False,
)


class Start(StrEnum):
    """What a pattern grows from."""

    CENTER = "center"
    ZEROS = "zeros"


@with_run_options
def train(
    options: RunOptions,
    config: Annotated[
        str | None,
        typer.Argument(
            metavar="CONFIG",
            help="Name of a shipped configuration, or a TOML file; may be left out with --resume.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Train any experiment: a shipped configuration by its name, or a TOML file.

    A flag goes before --set, and both before the file. Ctrl-C, or SIGTERM, finishes the step and
    saves the run; --resume goes on with it, and it ends as if it had never been interrupted.
    """
    run_experiment(Experiment(config), options)


@with_run_options
def train_checkerboard(
    options: RunOptions,
    small: Annotated[bool, config_command.SMALL] = False,
    asynchronous: Annotated[
        bool, typer.Option("--async", help="Each cell updates with probability 0.6 in each step.")
    ] = False,
    config: Annotated[str | None, CONFIG] = None,
) -> None:
    """Train an automaton that grows a checkerboard from random cells.

    A flag goes before --set, and both before the configuration's file: `dct config show` prints
    what comes out. Ctrl-C, or SIGTERM, finishes the step and saves the run.
    """
    from difflogic.config import Override

    overrides: list[Override] = []
    if asynchronous:
        _refuse_both("--async", config)
    if small and asynchronous:
        from difflogic.config import load_config

        gates = list(load_config("checkerboard-small").update.gates)
        overrides = [Override(f"update.gates={gates}", "--small")]
    shipped = "checkerboard-async" if asynchronous else "checkerboard-small"
    chosen = _chosen(config, small or asynchronous, shipped)
    name = "checkerboard-async-small" if small and asynchronous else None
    run_experiment(Experiment(chosen, "checkerboard", overrides, name, "checkerboard"), options)


@with_run_options
def train_gol(
    options: RunOptions,
    small: Annotated[bool, typer.Option("--small", help="A circuit a fifth of the size.")] = False,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="B…/S…",
            help="Numbers of living neighbours at which a cell is born, survives; B36/S23 is "
            "HighLife.",
            show_default=f"{CONWAY}, Conway's",
        ),
    ] = None,
    config: Annotated[str | None, CONFIG] = None,
) -> None:
    """Train the Game of Life, or another life-like rule, on the 512 boards of 3×3 cells.

    Ends with a check of the hard circuit against the real automaton.
    """
    from difflogic.config import Override

    overrides = [] if rule is None else [Override(f'task.rule="{rule}"', f"--rule {rule}")]
    chosen = _chosen(config, small, "game-of-life-small")
    name = None if rule in (None, CONWAY) else "life-" + rule.replace("/", "-")
    run_experiment(Experiment(chosen, "game-of-life", overrides, name, "life"), options)


@with_run_options
def train_pattern(
    options: RunOptions,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="The picture: a shipped one, a text grid, or an image.",
            show_default="lizard",
        ),
    ] = None,
    colors: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=3,
            metavar="1|3",
            help="Loss channels: 1, black and white as the lizard, or 3, red, green and blue as "
            "the letter G, whose configurations they choose.",
            show_default="3 for letter-g, else 1",
        ),
    ] = None,
    channels: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help="Bits of state per cell.",
            show_default="128 or 64",
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help="Steps of the automaton to grow in.",
            show_default="12 or 15",
        ),
    ] = None,
    start: Annotated[
        Start | None,
        typer.Option(
            help="Grow from one cell of ones in the middle, or from nothing.",
            show_default="center, zeros for the letter G",
        ),
    ] = None,
    config: Annotated[str | None, CONFIG] = None,
) -> None:
    """Train an automaton that grows a picture. It is shown before the training starts."""
    from cli.options.pattern import circuit_for, picture_name, picture_override
    from difflogic.config import Override

    if colors is not None:
        _refuse_both("--colors", config)
        if colors == 2:
            raise typer.BadParameter("there are pictures of 1 colour and of 3", param_hint="colors")
    three = target == "letter-g" if colors is None else colors == 3
    default = "letter-g" if three else "lizard"
    overrides = [] if target is None else [picture_override(target)]
    if steps is not None:
        overrides.append(Override(f"automaton.steps={steps}", f"--steps {steps}"))
    if start is not None:
        overrides.append(Override(f"task.start={start.value}", f"--start {start.value}"))
    if channels is not None:
        overrides += circuit_for(channels, config or default)
    name = None if target in (None, default) else picture_name(target)
    run_experiment(Experiment(config, default, overrides, name, "pattern"), options)


def _chosen(config: str | None, other: bool, shipped: str) -> str | None:
    """Return the configuration that was asked for, `shipped` if `other` was; None if none was."""
    if other:
        _refuse_both("--small", config)
        return shipped
    return config


def _refuse_both(flag: str, config: str | None) -> None:
    from difflogic.system.errors import ConfigError

    if config is not None:
        raise ConfigError(
            f"{flag} and {config} both choose a configuration: give one of them "
            "(dct train CONFIG takes the name of any)"
        )
