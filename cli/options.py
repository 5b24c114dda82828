"""Options that several commands share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from difflogic.library.options import AUTO, MOST_WORKERS, Opt, Set, parse_workers
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Override

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"


def worker_counts(text: str) -> int | Literal["auto"] | tuple[int, ...]:
    """Parse a number of workers, "auto", or a list of numbers. Raises ConfigError."""
    if "," not in text:
        return parse_workers(text)
    found = tuple(Opt(1, MOST_WORKERS).read(int, part.strip()) for part in text.split(","))
    if len(set(found)) < len(found):
        raise ConfigError(f'"{text}" lists a number twice')
    return found


def _key(text: str) -> int | str:
    """Parse the value of a configuration's key, which has its type and range."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


_CONFIG = {"help": "Name of a shipped configuration, or TOML file", "metavar": "CONFIG"}
ConfigArgument = Annotated[str | None, Opt(**_CONFIG, shown=False, panel="Operands")]
ShippedConfig = Annotated[str | None, Opt(**_CONFIG, shown=SHIPPED, panel="Operands")]
ConfigOption = Annotated[str | None, Opt(**_CONFIG, shown=SHIPPED)]
Small = Annotated[bool, Opt(help="Use the small experiment, with fewer gates")]
Output = Annotated[
    Path | None, Opt(help="Save the circuit as JSON", metavar="FILE", names="--output -o")
]
AsJson = Annotated[bool, Opt(help="Print the result as JSON", names="--json")]
Quiet = Annotated[bool, Opt(help="Show no progress and no timings")]
WorkerCounts = Annotated[
    int | Literal["auto"] | tuple[int, ...] | None,
    Opt(
        help="Worker threads, or several numbers to compare: 1,2,4",
        metavar="N,…",
        shown=AUTO,
        parse=worker_counts,
    ),
]

# Options that set a key of the configuration.
Key = Annotated[int | str | None, Opt(parse=_key)]
Epochs = Annotated[
    int | str | None, Opt(help="Number of epochs (optimizer steps)", metavar="N", parse=_key)
]
Device = Annotated[
    str | None,
    Opt(
        help="Device to train on: cpu, or gpu (needs the gpu extra)", metavar="DEVICE", shown="cpu"
    ),
]


@dataclass(frozen=True)
class RunOptions:
    """Options of all training commands; None means not given.

    Options:
        seed N: Random seed
        workers N: Worker threads, by default auto, as many as help, at most one per core
        watch: Show the run in a local browser; prints a link
    """

    epochs: Epochs = None
    seed: Key = None
    workers: Key = None
    device: Device = None
    resume: str | None = None
    source: str | None = None
    directory: Path | None = None
    overrides: Set = ()
    recipe: str | None = None
    watch: bool = False
    quiet: Quiet = False
    as_json: AsJson = False
    allow_code: bool = False

    @property
    def all_overrides(self) -> list[str | Override]:
        """The overrides by --set and by other options: the last of a key wins."""
        flags = {name: getattr(self, name) for name in FLAG_KEYS}
        return [*(self.overrides or ()), *with_flags(**flags)]


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
