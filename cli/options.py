"""Arguments and options that several commands share, and parsers of their values."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Override
    from difflogic.library.simulating import Conditions, Rectangle

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"
MOST_SEED = 2**63 - 1
MOST_SIDE = 10**9 - 1
MOST_WORKERS = 1024
MOST_RANKS = 64
"""Largest number of processes in a comparison."""


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a parser that takes digits only: int() would also take 1_000 and +5."""

    def parse(given: str) -> int:
        text = str(given)  # a default arrives as an int
        number = int(text) if re.fullmatch(r"-?[0-9]{1,40}", text) else None
        if number is None or number < least or (most is not None and number > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise typer.BadParameter(f'"{text}" is not a whole number {limits}')
        return number

    return parse


def numbers(option: str, text: str | None, most: int) -> tuple[int, ...]:
    """Parse a list such as 1,2,4, each number from 1 to `most`; an empty tuple for None."""
    if text is None:
        return ()
    parse = whole_number(1, most)
    try:
        found = tuple(parse(part.strip()) for part in text.split(","))
    except typer.BadParameter as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if len(set(found)) < len(found):
        raise typer.BadParameter(f'"{text}" lists a number twice', param_hint=option)
    return found


def named_path(text: str) -> Path:
    """Parse a path. An empty one, as from an unset variable, would mean this directory."""
    if not text:
        raise typer.BadParameter('"" names no directory (use . for the current one)')
    return Path(text)


def run_directory(text: str) -> Path:
    """Parse the directory of a new run. Elsewhere, "last" means the newest run."""
    path = named_path(text)
    if path == Path("last"):
        raise typer.BadParameter('"last" means the newest run: choose another name')
    return path


def named_model(text: str) -> str:
    """Parse the name of a run or a model, which must not be empty."""
    if not text:
        raise typer.BadParameter('"" names no run and no model file (use last for the newest run)')
    return text


def parse_size(option: str, text: str, most: int = MOST_SIDE) -> tuple[int, int]:
    """Parse a size such as 512x1024: rows and columns, each at most `most`. Raises ConfigError."""
    found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", text)
    height, width = map(int, found.groups()) if found else (0, 0)
    if not (1 <= height <= most and 1 <= width <= most):
        raise ConfigError(
            f'{option} "{text}": must be rows x columns, such as 16x32, each from 1 to {most}'
        )
    return height, width


def parse_workers(text: str) -> int | Literal["auto"]:
    """Parse a number of workers, or "auto"."""
    if text == "auto":
        return "auto"
    try:
        return whole_number(1, MOST_WORKERS)(text)
    except typer.BadParameter as error:
        raise typer.BadParameter(f'{error}, or "auto"', param_hint="--workers") from None


def parse_damage(text: str) -> Rectangle:
    """Parse damage such as 10,20:0,0,8x8. Raises ConfigError."""
    from difflogic.library.simulating import Rectangle

    number = "([0-9]{1,9})"
    steps = "([0-9]{1,9}(?:,[0-9]{1,9})*)"
    found = re.fullmatch(f"{steps}:{number},{number},{number}[x×]{number}", text)
    if found is None:
        raise ConfigError(f'--damage "{text}": must be STEPS:Y,X,HxW, such as 10:4,4,8x8')
    y, x, height, width = map(int, found.groups()[1:])
    return Rectangle(tuple(map(int, found[1].split(","))), y, x, height, width)


def option(
    metavar: str | None,
    help: str,
    *names: str,
    shown: str | bool = True,
    rare: bool = False,
    **more: Any,
) -> Any:
    """Declare an option, named like its parameter unless `names` are given.

    `shown` describes the default in the help. Rare options get a panel of their own.
    """
    panel = "Advanced options" if rare else None
    more |= {"metavar": metavar, "help": help, "show_default": shown, "rich_help_panel": panel}
    return typer.Option(*names, **more)


def flag(name: str, help: str, **more: Any) -> Any:
    """Declare an option without a value."""
    return option(None, help, name, **more)


def number(help: str, least: int, most: int | None = None, **more: Any) -> Any:
    """Declare an option for a whole number from `least` to `most`."""
    return option("N", help, parser=whole_number(least, most), **more)


def output_file(help: str, metavar: str = "FILE", **more: Any) -> Any:
    """Declare -o, the file to write."""
    return option(metavar, help, "--output", "-o", **more)


def time_option(
    help: str, *names: str, least: float = 0.001, most: float = 1e9, **more: Any
) -> Any:
    """Declare an option for a time in seconds."""
    return option("SECONDS", help, *names, min=least, max=most, **more)


def size_option(name: str = "size", help: str = "Rows and columns of the grid", **more: Any) -> Any:
    """Declare an option for the size of a grid."""
    more.setdefault("shown", "as trained")
    return option("HxW", help, parser=lambda text: parse_size(f"--{name}", text), **more)


SOURCE = typer.Argument(
    metavar="RUN|MODEL|CIRCUIT",
    help='Run directory ("last" for the newest), model file, or circuit in JSON',
)
Source = Annotated[Path, SOURCE]
Sources = Annotated[list[Path], SOURCE]
_CONFIG = {"metavar": "CONFIG", "help": "Name of a shipped configuration, or TOML file"}
ConfigArgument = Annotated[str | None, typer.Argument(**_CONFIG, show_default=False)]
ShippedConfig = Annotated[str | None, typer.Argument(**_CONFIG, show_default=SHIPPED)]
ConfigOption = Annotated[str | None, option(**_CONFIG, shown=SHIPPED)]
Small = Annotated[bool, flag("--small", "Use the small experiment, with fewer gates")]
Set = Annotated[
    list[str] | None,
    option("SECTION.KEY=VALUE", "Override a configuration value; repeatable", "--set"),
]
Recipe = Annotated[
    str | None,
    option(
        "NAME",
        "How to learn: reference learns like the article's notebook; benchmark uses the "
        "notebook's batch size",
    ),
]
Epochs = Annotated[int | None, number("Number of epochs (optimizer steps)", 1)]
AUTO_WORKERS = "auto, as many as help, at most one per core"
Workers = Annotated[Any, option("N", "Worker threads", parser=parse_workers, shown=AUTO_WORKERS)]
Device = Annotated[
    Literal["cpu", "gpu"] | None,
    option(None, "Device to train on: the CPU, or a GPU (needs the gpu extra)", shown="cpu"),
]
Oversubscribe = Annotated[
    bool, flag("--oversubscribe", "With --ranks: allow more threads than cores", rare=True)
]
Effort = Annotated[
    Literal["low", "normal", "high"],
    option(None, "Effort: low takes about a second, normal a few seconds, high minutes"),
]
TimeLimit = Annotated[
    float | None, time_option("Time limit for search and proof", shown="60 for the proof alone")
]
Output = Annotated[Path | None, output_file("Save the circuit as JSON")]
_UNSIMPLIFIED = ("--unsimplified", "Use the circuit as trained, with every gate")
Unsimplified = Annotated[bool, flag(*_UNSIMPLIFIED)]
AllowCode = Annotated[
    bool, flag("--allow-code", "Allow a custom task's code to run; read the code first", rare=True)
]
Force = Annotated[bool, flag("--force", "Overwrite existing files")]
AsJson = Annotated[bool, flag("--json", "Print the result as JSON")]
Quiet = Annotated[bool, flag("--quiet", "Show no progress and no timings")]
Steps = Annotated[int | None, number("Number of automaton steps", 0, shown="as trained")]
Seed = Annotated[int, number("Random seed", 0, MOST_SEED)]


@dataclass(frozen=True)
class ConditionOptions:
    """How a circuit is run: the fields of `difflogic.Conditions`."""

    size: Annotated[Any, size_option()] = None
    steps: Steps = None
    start: Annotated[
        str | None,
        option(
            "START",
            "Start state: random, center, zeros, or a file (image, scaled to the grid; text "
            "picture; .rle pattern; .npz state)",
            shown="as trained",
        ),
    ] = None
    density: Annotated[float, option("SHARE", "Share of ones in a random start")] = 0.5
    seed: Seed = 0
    fire_rate: Annotated[
        float | None, option("SHARE", "Share of cells that update in a step", shown="as trained")
    ] = None
    boundary: Annotated[
        Literal["zero", "periodic"] | None,
        option(None, "What lies beyond the grid's edge", shown="as trained"),
    ] = None
    damage: Annotated[
        list[Any] | None,
        option(
            "STEPS:Y,X,HxW",
            "Zero H rows and W columns, starting at row Y and column X, after the given steps, "
            "such as 10,20; repeatable",
            parser=parse_damage,
        ),
    ] = None
    unsimplified: Annotated[bool, flag(*_UNSIMPLIFIED, rare=True)] = False

    @property
    def conditions(self) -> Conditions:
        """The library's form of these options. Raises ConfigError if one is out of range."""
        from difflogic.library.simulating import Conditions

        return Conditions(**{**vars(self), "damage": self.damage or ()})


@dataclass(frozen=True)
class RunOptions:
    """Options of all training commands; None means not given."""

    epochs: Epochs = None
    seed: Annotated[int | None, number("Random seed", 0)] = None
    workers: Workers = None
    device: Device = None
    resume: Annotated[
        str | None, option("RUN", 'Resume a run ("last" for the newest); --epochs extends it')
    ] = None
    source: Annotated[
        str | None,
        option(
            "RUN|MODEL",
            'Initialise from a run ("last" for the newest) or a model file',
            "--from",
            parser=named_model,
        ),
    ] = None
    directory: Annotated[
        Path | None,
        option(
            "DIR",
            "Run directory, new or empty",
            "--dir",
            parser=run_directory,
            shown="a new one in runs/",
        ),
    ] = None
    overrides: Set = None
    recipe: Recipe = None
    watch: Annotated[bool, flag("--watch", "Show the run in a local browser; prints a link")] = (
        False
    )
    quiet: Quiet = False
    as_json: AsJson = False
    allow_code: AllowCode = False
    trace: Annotated[
        Path | None,
        option(
            "FILE",
            "Write a trace of the first steps for Perfetto or chrome://tracing",
            parser=named_path,
            rare=True,
        ),
    ] = None
    ranks: Annotated[
        int | None,
        number(
            "MPI processes that share each batch (needs the mpi extra)", 1, shown="1", rare=True
        ),
    ] = None
    oversubscribe: Oversubscribe = False

    @property
    def all_overrides(self) -> list[str | Override]:
        return with_flags(self.overrides, **{name: getattr(self, name) for name in FLAG_KEYS})


FLAG_KEYS = {
    "epochs": "training.epochs",
    "seed": "training.seed",
    "workers": "parallel.workers",
    "device": "parallel.device",
}
"""Configuration keys with an option of their own."""


def with_flags(overrides: list[str] | None, **flags: Any) -> list[str | Override]:
    """Append the options that were given to the overrides by --set: the last of a key wins."""
    from difflogic.config import Override

    given = [
        Override(f"{FLAG_KEYS[name]}={value}", f"--{name} {value}")
        for name, value in flags.items()
        if value is not None
    ]
    return [*(overrides or []), *given]


def choose_config(config: str | None, small: bool, name: str) -> str:
    """Return the configuration to use; messages call `config` by `name`."""
    if config is not None and small:
        raise ConfigError(
            f"--small and {name} both choose a configuration: give only one of them "
            f"(the small one is called {SHIPPED_SMALL})"
        )
    if small:
        return SHIPPED_SMALL
    return SHIPPED if config is None else config


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Expand each parameter that is a dataclass of options into one parameter per field.

    Typer reads the options from the signature of the returned function.
    """
    own = inspect.signature(command).parameters
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints.pop(name) for name in own if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        inner = get_type_hints(groups[name], include_extras=True)
        for each in inspect.signature(groups[name]).parameters.values():
            parameters.append(each.replace(annotation=inner[each.name]))

    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    )
    return run
