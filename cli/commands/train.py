"""`dct train` and its shortcuts: choose the experiment. cli/running.py trains it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cli.calling import Call, calls
from cli.errors import note
from cli.options import ConfigArgument, RunOptions, Small
from cli.running import Experiment, run_experiment
from difflogic.library.options import Count, Opt
from difflogic.pictures.colors import Color
from difflogic.pictures.palettes import parse_palette
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Override

CONWAY = "B3/S23"


@calls("training.train")
def train(run: Call, config: ConfigArgument = None, *, options: RunOptions) -> None:
    """Train an experiment: a shipped one by its name, or one of your own from a TOML file.

    Flags such as --epochs override --set; both override the file. Ctrl-C or SIGTERM finishes the
    step and saves the run. --resume continues it, with the same result as if it had never stopped.
    """
    run_experiment(run, Experiment(config), options)


@calls("training.train")
def train_checkerboard(
    run: Call,
    small: Small = False,
    asynchronous: bool = False,
    config: ConfigArgument = None,
    *,
    options: RunOptions,
) -> None:
    """Train an automaton that grows a checkerboard on every grid, and closes its wounds.

    Flags such as --epochs override --set; both override the file. Ctrl-C or SIGTERM finishes the
    step and saves the run. --resume continues it. --small and --recipe train for one grid only.

    Options:
        asynchronous --async: Update each cell with probability 0.6 per step
    """
    from difflogic.config import Override, load_config

    overrides: list[Override] = []
    if asynchronous:
        _refuse_both("--async", config)
    if small and asynchronous:
        gates = list(load_config("checkerboard-small").update.gates)
        overrides = [Override("update.gates", gates, "--small")]
    default = "checkerboard" if options.recipe else "checkerboard-tough"
    shipped = "checkerboard-async" if small or options.recipe else "checkerboard-tough-async"
    chosen = _chosen(
        config, small or asynchronous, shipped if asynchronous else "checkerboard-small"
    )
    name = "checkerboard-async-small" if small and asynchronous else None
    run_experiment(run, Experiment(chosen, default, overrides, name, "checkerboard"), options)


@calls("training.train")
def train_gol(
    run: Call,
    small: Small = False,
    rule: str | None = None,
    config: ConfigArgument = None,
    *,
    options: RunOptions,
) -> None:
    """Train the Game of Life, or another life-like rule, on all 512 boards of 3×3 cells.

    The run ends with a test of the hard circuit against the real automaton.

    Options:
        rule B…/S…: Numbers of neighbours for birth and survival, such as B36/S23, by default
            B3/S23, Conway's rule
    """
    from difflogic.config import Override

    overrides = [] if rule is None else [Override("task.rule", rule, f"--rule {rule}")]
    chosen = _chosen(config, small, "game-of-life-small")
    name = None if rule in (None, CONWAY) else "life-" + rule.replace("/", "-")
    run_experiment(run, Experiment(chosen, "game-of-life", overrides, name, "life"), options)


def _colors(text: str) -> int:
    if text not in ("1", "2", "3", "4", "8", "16"):
        raise ConfigError(f'"{text}" is not 1, 2, 3, 4, 8 or 16')
    return int(text)


def _palette(text: str) -> tuple[Color, ...]:
    found = parse_palette(text)
    if not found and text != "median-cut":
        raise ConfigError(
            f'"{text}" is not median-cut, ega or 2 to 16 colours such as #ffffff,#d63031'
        )
    return found


Colors = Annotated[int | None, Opt(parse=_colors)]
Palette = Annotated[tuple[Color, ...] | None, Opt(parse=_palette)]


@calls("training.train")
def train_pattern(
    run: Call,
    target: str | None = None,
    hold: bool = False,
    heal: bool = False,
    second: str | None = None,
    size: tuple[int, int] | None = None,
    colors: Colors = None,
    palette: Palette = None,
    dither: bool = False,
    tough: bool = False,
    teach: bool = False,
    channels: Count | None = None,
    steps: Count | None = None,
    config: ConfigArgument = None,
    *,
    options: RunOptions,
) -> None:
    """Train an automaton that grows a picture.

    The picture is shown before training starts. An image keeps its colours. dct chooses grid,
    circuit, steps and recipe to suit the picture, and prints them. Flags and --set override these
    choices.

    Options:
        target NAME|FILE: Picture to grow: a shipped one, a text grid, or an image, by default
            lizard
        hold: Keep the picture at every later step
        heal: Keep the picture, and grow it back after damage
        second FILE: Second picture: grows from a single 1; --target grows from all zeros
        size: Rows and columns of the grid, by default the image's up to 128x128, else 64 cells on
            the longer side; at most 256x256
        colors N: Colours to keep, background included: 2, 4, 8 or 16; 1: ink only; 3: one bit each
            of red, green and blue, by default chosen for the picture
        palette P: Colours to choose: median-cut, which suits the image; ega, 16 fixed ones; or a
            list such as #ffffff,#d63031, by default median-cut
        dither: Mix colours of a photo by patterns of cells
        tough: Let cells count their places by majorities, so that damage stays where it is
        teach: Teach cells to count their places, so that all gates are learned
        channels: State bits per cell; the update circuit is sized to fit, by default from CONFIG
        steps: Automaton steps for growing, by default chosen for the picture
    """
    from difflogic.library import growing

    chosen = hold or heal or teach or (second, size, steps) != (None, None, None)
    chosen = chosen or colors not in (None, 1, 3) or palette is not None or dither or tough
    if colors in (1, 3) and (palette or dither):
        raise ConfigError(f"--colors {colors} has no palette: leave --palette and --dither out")
    if colors is not None and palette:
        raise ConfigError("--colors and --palette both choose colours: give only one of them")
    if colors is not None:
        _refuse_both("--colors", config)
    if chosen and config is not None:
        raise ConfigError(
            f"{config}: --hold, --heal, --second, --size, --steps, --colors, --palette, --dither "
            f"and --tough choose a configuration by the picture: leave {config} out, or use --set"
        )
    is_image = target is not None and colors is None and growing.is_image(target)
    if config is None and options.resume is None and (chosen or is_image):
        first = target or "lizard"
        if second is None:
            picture = growing.read(first, colors, size, palette or (), dither)
        else:
            picture = growing.read_two(first, second, colors, size, palette or (), dither)
        growth = growing.plan_growth(
            picture, hold=hold, heal=heal, tough=tough, teach=teach, channels=channels, steps=steps
        )
        if not options.quiet:
            for line in growth.lines:
                note(line)
        elif growth.picture.warning:
            note(f"warning: {growth.picture.warning}")
        run_name = picture_name(growth.picture.name)
        experiment = Experiment(None, growth.config, growth.overrides, run_name, "pattern")
        run_experiment(run, experiment, options)
        return
    default = "letter-g" if colors == 3 or (colors is None and target == "letter-g") else "lizard"
    overrides = [] if target is None else [picture_override(target)]
    if channels is not None:
        changes = growing.circuit_for(config or default, channels)
        overrides += growing.overriding(changes, f"--channels {channels}")
    name = None if target in (None, config or default) else picture_name(target)
    run_experiment(run, Experiment(config, default, overrides, name, "pattern"), options)


def picture_override(target: str) -> Override:
    """Return the override for a picture: a file, or a shipped name if there is no such file."""
    from difflogic.config import Override

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
