"""`dct train` and its shortcuts: name the experiment. cli/running.py trains it."""

from __future__ import annotations

from typing import Annotated

from cli.options import ConfigArgument, RunOptions, Shared, Small
from cli.running import run_experiment
from difflogic.library.groups import PictureOptions
from difflogic.system.declaration import Opt


def train(config: ConfigArgument = None, *, options: RunOptions, shared: Shared) -> None:
    """Train an experiment: a shipped one by its name, or one of your own from a TOML file.

    Flags such as --epochs override --set; both override the file. Ctrl-C or SIGTERM finishes the
    step and saves the run. --resume continues it, with the same result as if it had never stopped.
    """
    from difflogic.library.experiments import Experiment

    run_experiment(Experiment(config), options, shared)


def train_checkerboard(
    config: ConfigArgument = None,
    small: Small = False,
    asynchronous: Annotated[
        bool, Opt("Update each cell with probability 0.6 per step", names="--async")
    ] = False,
    *,
    options: RunOptions,
    shared: Shared,
) -> None:
    """Train an automaton that grows a checkerboard on every grid, and closes its wounds.

    Flags such as --epochs override --set; both override the file. Ctrl-C or SIGTERM finishes the
    step and saves the run. --resume continues it. --small and --recipe train for one grid only.
    """
    from difflogic.library import experiments

    experiment = experiments.checkerboard(config, small, asynchronous, options.recipe)
    run_experiment(experiment, options, shared)


def train_gol(
    config: ConfigArgument = None,
    small: Small = False,
    rule: Annotated[
        str | None,
        Opt(
            "Numbers of neighbours for birth and survival, such as B36/S23, b3s23, 23/3 or B2/S34H",
            "B…/S…",
            shown="B3/S23, Conway's rule",
        ),
    ] = None,
    *,
    options: RunOptions,
    shared: Shared,
) -> None:
    """Train the Game of Life, or another life-like rule, on all 512 boards of 3×3 cells.

    The run ends with a test of the hard circuit against the real automaton.
    """
    from difflogic.library import experiments

    run_experiment(experiments.life(config, small, rule), options, shared)


def train_pattern(
    config: ConfigArgument = None, *, picture: PictureOptions, options: RunOptions, shared: Shared
) -> None:
    """Train an automaton that grows a picture.

    The terminal shows the picture as it grows. An image keeps its colours. dct chooses grid,
    circuit, steps and recipe to suit the picture, and prints them. Flags and --set override these
    choices.
    """
    from difflogic.library import picture_experiment

    experiment = picture_experiment.picture(config, picture, options.resume is not None)
    run_experiment(experiment, options, shared)
