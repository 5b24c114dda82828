"""How the library's functions declare their parameters, so that `cli` can make options of them.

Type, range and default stand in the signature; `checked` holds callers to them. The words of an
option stand in the docstring: see `cli.calling`. This module imports nothing that takes long.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
)

from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.quantities import parse_ranges, parse_seeds

if TYPE_CHECKING:
    from difflogic.config import Override
    from difflogic.library import loading

    GridSource = str | Path | Sequence[Any]

MOST_SIDE = 10**9 - 1
MOST_SEED = 2**63 - 1
MOST_WORKERS = 1024


@dataclass(frozen=True)
class Opt:
    """What a parameter's annotation or docstring declares."""

    least: float | None = None
    most: float = math.inf
    help: str = ""
    metavar: str | None = None
    names: str = ""
    """Such as "--output -o"; by default the parameter's name."""
    shown: str | bool = True
    """The default in words."""
    panel: str = "Options"
    parse: Callable[[str], Any] | None = None
    """From the text to the value. Raises ConfigError."""

    def read(self, kind: Any, given: Any) -> Any:
        """Return the value that a text stands for. Raises ConfigError."""
        if not isinstance(given, str):  # a default
            return given
        if self.parse is not None:
            return self.parse(given)
        # int() and float() would also take 1_000 and +5.
        fraction = r"(\.[0-9]{1,40})?(e-?[0-9]{1,3})?" if kind is float else ""
        number = kind(given) if re.fullmatch(f"-?[0-9]{{1,40}}{fraction}", given) else None
        if number is None or abs(number) == math.inf or not self.allows(number):
            what = "whole number" if kind is int else "number"
            limits = self.limits if self.most < math.inf else f"of {self.limits}"
            raise ConfigError(f'"{given}" is not a {what} {limits}')
        return number

    def allows(self, value: float) -> bool:
        return self.least is None or self.least <= value <= self.most

    @property
    def limits(self) -> str:
        """The range in words."""
        if self.most == math.inf:
            return f"at least {self.least}"
        least, most = (f"{x:g}" if isinstance(x, float) else x for x in (self.least, self.most))
        return f"from {least} to {most}"


class Declared(NamedTuple):
    """The type of a parameter's value, or of each of many; without None."""

    kind: Any
    opt: Any
    """An `Opt`; None if the annotation holds something else."""
    many: bool = False


def declared(annotation: str, names: Mapping[str, Any]) -> Declared:
    """Return what an annotation declares. It may use `names`; of others, Path and str are known."""
    try:
        hint = eval(annotation, dict(names))
    except NameError:  # a type that is imported for annotations only
        hint = Path if "Path" in annotation else str
    noted = next((each for each in (hint, *get_args(hint)) if hasattr(each, "__metadata__")), None)
    opt = Opt()
    if noted is not None and not isinstance(noted.__metadata__[0], Opt):
        return Declared(hint, None)
    if noted is not None:
        hint, opt = noted.__origin__, noted.__metadata__[0]
        annotation = str(hint)
        if isinstance(hint, ForwardRef):  # something loaded, or its file or text
            hint = Path if "Source" in annotation else str
    many = "Sequence[" in annotation and opt.parse is None
    if get_origin(hint) is not Literal and opt.parse is None:
        kinds = [each for each in get_args(hint) or (hint,) if each is not NoneType]
        hint = Path if Path in kinds else kinds[0]
        if many and hint is int:
            many, opt = False, replace(opt, parse=parse_ranges, metavar="LIST")
        elif get_origin(hint) is tuple:
            opt = replace(opt, parse=parse_size, metavar="HxW")
        elif hasattr(hint, "parse"):
            opt = replace(opt, parse=hint.parse)
    return Declared(hint, opt, many)


Function = TypeVar("Function", bound=Callable[..., Any])


def require_declared(what: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Raise ConfigError for a value outside the range or the choices that `what` declares."""
    module = inspect.getmodule(what)
    for name, parameter in inspect.signature(what).parameters.items():
        value = values.get(name)
        if not isinstance(value, int | float | str):
            continue
        kind, opt, _ = declared(str(parameter.annotation), vars(module))
        label, choices = name.replace("_", " "), get_args(kind)
        if get_origin(kind) is Literal and value not in choices:
            raise ConfigError(f'no {label} "{value}": {did_you_mean(str(value), choices)}')
        if not isinstance(value, str) and not opt.allows(value):
            shown = f"{value:g}" if isinstance(value, float) else value
            raise ConfigError(f"{label} {shown}: must be {opt.limits}")


def checked(function: Function) -> Function:
    """Make a function refuse arguments outside the ranges and choices that it declares."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        require_declared(function, signature.bind(*given, **named).arguments)
        return function(*given, **named)

    return call  # type: ignore[return-value]


def parse_size(text: str, most: int = MOST_SIDE) -> tuple[int, int]:
    """Parse a size such as 512x1024: rows and columns, each at most `most`. Raises ConfigError."""
    found = re.fullmatch(r"([0-9]{1,9})[x×]([0-9]{1,9})", text)
    height, width = map(int, found.groups()) if found else (0, 0)
    if not (1 <= height <= most and 1 <= width <= most):
        raise ConfigError(f'"{text}": must be rows x columns, such as 16x32, each from 1 to {most}')
    return height, width


def number_or_auto(least: int, most: int) -> Callable[[str], int | Literal["auto"]]:
    """Return a parser of a number in a range, or "auto". It raises ConfigError."""

    def parse(text: str) -> int | Literal["auto"]:
        if text == "auto":
            return "auto"
        try:
            return int(Opt(least, most).read(int, text))
        except ConfigError as error:
            raise ConfigError(f'{error}, or "auto"') from None

    return parse


parse_workers = number_or_auto(1, MOST_WORKERS)


def run_directory(text: str) -> Path:
    """Parse the directory of a new run. Elsewhere, "last" means the newest run."""
    if named(text) == Path("last"):
        raise ConfigError('"last" means the newest run: choose another name')
    return Path(text)


def named(text: str) -> Path:
    """Parse a path. An empty one, as from an unset variable, would mean this directory."""
    if not text:
        raise ConfigError('"" names no file, no directory and no run')
    return Path(text)


_SOURCE = Opt(
    help='Run directory ("last" for the newest), model file, or circuit in JSON',
    metavar="RUN|MODEL|CIRCUIT",
    panel="Operands",
)
Source = Annotated["loading.Source", _SOURCE]
Sources = Annotated["loading.Source | Sequence[loading.Source]", _SOURCE]
Grids = Annotated["GridSource", Opt(panel="Operands", metavar="INPUT")]
Neighbourhood = Literal[
    "moore", "von-neumann", "hexagonal", "radius-2", "line-1", "line-2", "line-3"
]
Symmetry = Literal[
    "none",
    "reflections",
    "rotations",
    "isotropic",
    "outer-totalistic",
    "outer-sum",
    "totalistic",
    "auto",
]
Radius = Annotated[int | Literal["auto"] | None, Opt(1, 3, "", "N", parse=number_or_auto(1, 3))]
Gap = Annotated[int | Literal["auto"], Opt(1, 64, "", "N", parse=number_or_auto(1, 64))]
Set = Annotated[
    "Sequence[str | Override]",
    Opt(
        help="Override a configuration value; repeatable",
        metavar="SECTION.KEY=VALUE",
        names="--set",
    ),
]
Recipe = Annotated[
    str | None,
    Opt(
        help="How to learn: reference learns like the article's notebook; benchmark uses the "
        "notebook's batch size",
        metavar="NAME",
    ),
]
NewDirectory = Annotated[str | Path, Opt(parse=run_directory)]
StartSource = Annotated["loading.Source | None", Opt(parse=named)]
Seeds = Annotated[str | Sequence[int] | None, Opt(parse=parse_seeds)]
Count = Annotated[int, Opt(1)]
Natural = Annotated[int, Opt(0)]
Share = Annotated[float, Opt(0, 1, metavar="SHARE")]
Pixels = Annotated[int, Opt(1, 4096)]
Seconds = Annotated[float, Opt(0.001, 1e9, metavar="SECONDS")]
Effort = Annotated[
    Literal["low", "normal", "high"],
    Opt(help="Effort: low takes about a second, normal a few seconds, high minutes"),
]
TimeLimit = Annotated[
    float | None,
    Opt(0.001, 1e9, "Time limit for search and proof", "SECONDS", "", "60 for the proof alone"),
]
Unsimplified = Annotated[bool, Opt(help="Use the circuit as trained, with every gate")]
Force = Annotated[bool, Opt(help="Overwrite existing files")]
AllowCode = Annotated[
    bool,
    Opt(help="Allow a custom task's code to run; read the code first", panel="Advanced options"),
]
AUTO = "auto, as many as help, at most one per core"
Workers = Annotated[
    int | Literal["auto"],
    Opt(1, MOST_WORKERS, "Worker threads", "N", "", AUTO, parse=parse_workers),
]
Seed = Annotated[int, Opt(0, MOST_SEED, "Random seed")]
