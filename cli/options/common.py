"""What several commands are told: arguments and options, each declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from cli.options.parsing import (
    named_model,
    named_path,
    parse_damage,
    parse_size,
    parse_workers,
    run_directory,
    whole_number,
)
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Override
    from difflogic.library.simulating import Conditions

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"
MOST_SEED = 2**63 - 1


def option(
    metavar: str | None,
    help: str,
    *names: str,
    shown: str | bool = True,
    rare: bool = False,
    **more: Any,
) -> Any:
    """Declare an option, named as its parameter unless `names` are given.

    `shown` is the default in the help's words. A rare option stands in a panel of its own.
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


def size_option(shown: str = "as trained") -> Any:
    """Declare --size."""
    return option(
        "HxW",
        "Rows and columns of the grid",
        parser=lambda text: parse_size("--size", text),
        shown=shown,
    )


SOURCE = typer.Argument(
    metavar="RUN|MODEL|CIRCUIT",
    help='Run directory ("last" for the newest), model file, or circuit in JSON',
)
Source = Annotated[Path, SOURCE]
Sources = Annotated[list[Path], SOURCE]
TrainedSource = Annotated[
    Path,
    typer.Argument(metavar="RUN|MODEL", help='Run directory ("last" for the newest) or model file'),
]

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
        "Learning recipe: reference learns as the article's notebook does; benchmark takes its "
        "batch size",
    ),
]
Epochs = Annotated[int | None, number("Number of training steps", 1)]
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
    option(None, "Effort: low takes about a second, normal seconds, high minutes"),
]
TimeLimit = Annotated[
    float | None,
    option(
        "SECONDS", "Time limit for search and proof", min=0.001, max=1e9, shown="60 for a proof"
    ),
]
UNSIMPLIFIED = ("--unsimplified", "Use the circuit as trained, with every gate")
Unsimplified = Annotated[bool, flag(*UNSIMPLIFIED)]
AllowCode = Annotated[
    bool, flag("--allow-code", "Allow a custom task's code to run; read it first", rare=True)
]
Force = Annotated[bool, flag("--force", "Overwrite existing files")]
AsJson = Annotated[bool, flag("--json", "Print the result as JSON")]
Quiet = Annotated[bool, flag("--quiet", "Show no progress and no timings")]
Steps = Annotated[int | None, number("Number of automaton steps", 0, shown="as trained")]
Seed = Annotated[int, number("Random seed", 0, MOST_SEED)]


@dataclass(frozen=True)
class ConditionOptions:
    """The conditions that a circuit runs under: the fields of `difflogic.Conditions`."""

    size: Annotated[Any, size_option()] = None
    steps: Steps = None
    start: Annotated[
        str | None,
        option(
            "START",
            "random, center, zeros, or a file: image, text picture, .rle pattern, .npz state",
            shown="as trained",
        ),
    ] = None
    density: Annotated[float, option("SHARE", "Share of ones in a random start", min=0, max=1)] = (
        0.5
    )
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
            "Zero H rows and W columns from row Y and column X, after steps such as 10,20; "
            "repeatable",
            parser=parse_damage,
        ),
    ] = None
    unsimplified: Annotated[bool, flag(*UNSIMPLIFIED, rare=True)] = False

    @property
    def conditions(self) -> Conditions:
        """These options as the library takes them. Raises ConfigError if out of range."""
        from difflogic.library.simulating import Conditions

        return Conditions(**{**vars(self), "damage": self.damage or ()})


@dataclass(frozen=True)
class RunOptions:
    """What all commands that train are told; None if not given."""

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
        """The overrides of the configuration."""
        return with_flags(self.overrides, **{name: getattr(self, name) for name in FLAG_KEYS})


FLAG_KEYS = {
    "epochs": "training.epochs",
    "seed": "training.seed",
    "workers": "parallel.workers",
    "device": "parallel.device",
}
"""Keys of a configuration that have an option of their own."""


def with_flags(overrides: list[str] | None, **flags: Any) -> list[str | Override]:
    """Return what --set gives, and after it what these options do: the last of a key wins.

    An option that is None was not given.
    """
    from difflogic.config import Override

    given = [
        Override(f"{FLAG_KEYS[name]}={value}", f"--{name} {value}")
        for name, value in flags.items()
        if value is not None
    ]
    return [*(overrides or []), *given]


def choose_config(config: str | None, small: bool, name: str) -> str:
    """Return the configuration to use; `name` is what the user calls `config`."""
    if config is not None and small:
        raise ConfigError(
            f"--small and {name} both choose a configuration: give only one of them "
            f"(the small one is called {SHIPPED_SMALL})"
        )
    if small:
        return SHIPPED_SMALL
    return SHIPPED if config is None else config


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Expand each of a command's parameters that is a dataclass of options into those options.

    Typer reads a function's signature: the returned one has every option as a parameter.
    """
    own = inspect.signature(command).parameters
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints.pop(name) for name in own if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        group = groups[name]
        inner = get_type_hints(group, include_extras=True)
        for each in inspect.signature(group).parameters.values():
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
