"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from difflogic.experiment.overrides import Set
from difflogic.system.declaration import (
    AUTO,
    THREAD_RANGE,
    Advanced,
    AllowCode,
    NewDirectory,
    Operand,
    Opt,
    Recipe,
    Seed,
    WorkersOption,
    named,
)
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Override

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"


def worker_counts(text: str) -> int | Literal["auto"] | tuple[int, ...]:
    """Parse a number of workers, "auto", or a list of numbers. Raises ConfigError."""
    if "," not in text:
        return cast(int | Literal["auto"], THREAD_RANGE.read_or("auto", text))
    found = tuple(THREAD_RANGE.read(int, part.strip()) for part in text.split(","))
    if len(set(found)) < len(found):
        raise ConfigError(f'"{text}" lists a number twice')
    return found


def _key(text: str) -> int | str:
    """Parse the value of a configuration's key, which has its type and range."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


_CONFIG = Opt("Name of a shipped configuration, or TOML file", "CONFIG", shown=SHIPPED)
ConfigArgument = Annotated[str | None, _CONFIG, Operand(shown=False)]
ShippedConfig = Annotated[str | None, _CONFIG, Operand()]
ConfigOption = Annotated[str | None, _CONFIG]
Small = Annotated[bool, Opt("Use the small experiment, with fewer gates")]
_SOURCE = Operand(
    'Run directory ("last" for the newest), model file, or circuit in JSON', "RUN|MODEL|CIRCUIT"
)
SourceOperand = Annotated[Path, _SOURCE]
Sources = Annotated[Sequence[Path], _SOURCE]
TO = Opt(metavar="FILE", names="--output -o")
"""Of the file that a command writes."""
Output = Annotated[Path | None, TO, Opt("Save the circuit as JSON")]
AsJson = Annotated[bool, Opt("Print the result as JSON", names="--json")]
Quiet = Annotated[bool, Opt("Show no progress and no timings")]
WorkerCounts = Annotated[
    int | Literal["auto"] | tuple[int, ...] | None,
    Opt(
        "Worker threads, or several numbers to compare: 1,2,4",
        "N,…",
        shown=AUTO,
        parse=worker_counts,
    ),
]

# Options that set a key of the configuration.
KeyOption = Annotated[int | str | None, Opt(parse=_key, metavar="N")]
Epochs = Annotated[KeyOption, Opt("Number of epochs (optimizer steps)")]
DeviceOption = Annotated[
    str | None, Advanced("Train on: cpu, or gpu (needs the gpu extra)", "DEVICE", shown="cpu")
]


@dataclass(frozen=True)
class Shared:
    """Options of all commands that make a run; None means not given."""

    directory: NewDirectory = None
    seed: Seed | None = None
    workers: WorkersOption | None = None
    quiet: Quiet = False
    as_json: AsJson = False


@dataclass(frozen=True)
class RunOptions:
    """Options of all commands that train a configuration; None means not given."""

    overrides: Set = ()
    recipe: Recipe = None
    resume: Annotated[
        str | None, Opt('Resume a run ("last" for the newest); --epochs extends it', "RUN")
    ] = None
    source: Annotated[
        Path | None,
        Advanced(
            'Initialise from a run ("last" for the newest) or a model file',
            "RUN|MODEL",
            names="--from",
            parse=named,
        ),
    ] = None
    epochs: Epochs = None
    device: DeviceOption = None
    watch: Annotated[bool, Advanced("Show the run in a local browser; prints a link")] = False
    timings: Annotated[bool, Advanced("Show the seconds of each phase at the end")] = False
    allow_code: AllowCode = False

    def all_overrides(self, shared: Shared) -> list[str | Override]:
        """Return the overrides by --set and by other options."""
        given = vars(self) | vars(shared)
        return [*self.overrides, *with_flags(**{name: given[name] for name in FLAG_KEYS})]


FLAG_KEYS = {
    "epochs": "training.epochs",
    "seed": "training.seed",
    "workers": "parallel.workers",
    "device": "parallel.device",
}
"""Configuration keys with an option of their own."""


def with_flags(**flags: Any) -> list[Override]:
    """Return the options that were given, as overrides."""
    from difflogic.config import Override

    return [
        Override(FLAG_KEYS[name], value, f"--{name} {value}")
        for name, value in flags.items()
        if value is not None
    ]


@dataclass(frozen=True)
class Configured:
    """The configuration that a command is about."""

    config: ShippedConfig = None
    small: Small = False
    overrides: Set = ()
    label = "CONFIG"

    @property
    def source(self) -> str:
        """Its name or file. Raises ConfigError if two are chosen."""
        if self.config is not None and self.small:
            raise ConfigError(
                f"--small and {self.label} both choose a configuration: give only one of them "
                f"(the small one is called {SHIPPED_SMALL})"
            )
        return SHIPPED_SMALL if self.small else self.config or SHIPPED


@dataclass(frozen=True)
class ConfiguredByOption(Configured):
    """The same for commands whose operands are something else."""

    config: ConfigOption = None
    label = "--config"
