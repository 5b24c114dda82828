"""Arguments and options that several commands share, each declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from cli.options.parsing import parse_workers, whole_number

ADVANCED = "Advanced options"
"""The panel of a command's rare options."""

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"
MOST_SEED = 2**63 - 1


class EffortName(StrEnum):
    """How long to search for a smaller circuit."""

    low = "low"
    normal = "normal"
    high = "high"


SOURCE = typer.Argument(
    metavar="RUN|MODEL|CIRCUIT",
    help='Run directory ("last" for the newest), model file, or circuit in JSON',
)
Source = Annotated[Path, SOURCE]
TrainedSource = Annotated[
    Path,
    typer.Argument(metavar="RUN|MODEL", help='Run directory ("last" for the newest) or model file'),
]

CONFIG = typer.Argument(
    metavar="CONFIG", help="Name of a shipped configuration, or TOML file", show_default=False
)
CONFIG_OPTION = typer.Option(
    "--config",
    metavar="CONFIG",
    help="Name of a shipped configuration, or TOML file",
    show_default=SHIPPED,
)
Small = Annotated[bool, typer.Option("--small", help="Use the small experiment, with fewer gates")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SECTION.KEY=VALUE", help="Override a configuration value; repeatable"
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="NAME",
        help="Learning recipe: reference turns all levers off, as in the notebook; benchmark uses "
        "the published batch size",
    ),
]
Epochs = Annotated[
    int | None, typer.Option("--epochs", parser=whole_number(1), metavar="N", help="Training steps")
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        parser=parse_workers,
        metavar="N",
        help="Worker threads",
        show_default="auto, as many as the work is worth, at most one per core",
    ),
]
Oversubscribe = Annotated[
    bool,
    typer.Option("--oversubscribe", help="Allow more threads than cores", rich_help_panel=ADVANCED),
]
Effort = Annotated[
    EffortName, typer.Option("--effort", help="How long to simplify: a second, seconds, minutes")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        min=0.001,
        max=1e9,
        metavar="SECONDS",
        help="Time limit for search and proof",
        show_default="60 for a proof",
    ),
]
Unsimplified = Annotated[
    bool, typer.Option("--unsimplified", help="Use the circuit as trained, with every gate")
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Allow a custom task's code to run; read it first",
        rich_help_panel=ADVANCED,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no timings")]


def choose_config(config: str | None, small: bool, name: str) -> str:
    """Return the configuration to use; `name` is what the user calls `config`."""
    from difflogic.system.errors import ConfigError

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
