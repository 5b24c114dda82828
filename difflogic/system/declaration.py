"""How parameters are declared, so that `cli` can make options of them: `Annotated[type, Opt(…)]`.

`checked` holds callers of the library to the ranges. This module imports nothing that takes long.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial, wraps
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from difflogic.system.errors import ConfigError, described, did_you_mean
from difflogic.system.quantities import parse_ranges, parse_seeds

MOST_SIDE = 10**9 - 1
MOST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Range:
    """The smallest and the largest number that an option takes."""

    least: float
    most: float = math.inf

    def read(self, kind: Any, text: str) -> Any:
        """Return the number that a text stands for. Raises ConfigError."""
        # int() and float() would also take 1_000 and +5.
        fraction = r"(\.[0-9]{1,40})?(e-?[0-9]{1,3})?" if kind is float else ""
        number = kind(text) if re.fullmatch(f"-?[0-9]{{1,40}}{fraction}", text) else None
        if number is None or abs(number) == math.inf or not self.allows(number):
            what = "whole number" if kind is int else "number"
            limits = self.words if self.most < math.inf else f"of {self.words}"
            raise ConfigError(f'"{text}" is not a {what} {limits}')
        return number

    def allows(self, value: float) -> bool:
        return self.least <= value <= self.most

    def read_or(self, word: str, text: str) -> Any:
        """Return a whole number, or the word. Raises ConfigError."""
        if text == word:
            return word
        try:
            return int(self.read(int, text))
        except ConfigError as error:
            raise ConfigError(f'{error}, or "{word}"') from None

    @property
    def words(self) -> str:
        if self.most == math.inf:
            return f"at least {self.least}"
        least, most = (f"{x:g}" if isinstance(x, float) else x for x in (self.least, self.most))
        return f"from {least} to {most}"


@dataclass(frozen=True)
class Opt:
    """What an annotation says of an option. Without `help`, it is for callers only."""

    help: str = ""
    metavar: str | None = None
    shown: str | bool = True
    """The default in words."""
    names: str = ""
    """Such as "--output -o"; by default the parameter's name."""
    panel: str = "Options"
    parse: Callable[[str], Any] | None = None
    """From the text to the value. Raises ConfigError."""


class Declared(NamedTuple):
    """What an annotation declares: the type of the value, or of each of many, without None."""

    kind: Any
    opt: Opt
    range: Range | None
    many: bool


def declared(hint: Any) -> Declared:
    """Return what an annotation declares. Its own notes win over those of what it annotates."""
    many = False
    word = ""
    notes = list[Any]()
    while get_origin(hint) not in (None, Literal, tuple):
        inner = [each for each in get_args(hint) if each is not NoneType]
        if get_origin(hint) is Annotated:
            notes[:0] = inner[1:]
        many |= get_origin(hint) is Sequence
        word = next((get_args(each)[0] for each in inner if get_origin(each) is Literal), word)
        hint = Path if Path in inner else inner[0]
    words = (each for each in notes if isinstance(each, Opt))
    changes = ((f.name, getattr(each, f.name), f.default) for each in words for f in fields(Opt))
    opt = Opt(**{name: value for name, value, usual in changes if value != usual})
    limits = next((each for each in notes if isinstance(each, Range)), None)
    if opt.parse is not None:
        many = False
    elif many and hint is int:
        many, opt = False, replace(opt, parse=parse_ranges, metavar=opt.metavar or "LIST")
    elif get_origin(hint) is tuple:
        opt = replace(opt, parse=parse_size, metavar=opt.metavar or "HxW")
    elif hasattr(hint, "parse"):
        opt = replace(opt, parse=hint.parse)
    elif limits is not None:
        read = partial(limits.read_or, word) if word else partial(limits.read, hint)
        opt = replace(opt, parse=read)
    return Declared(hint, opt, limits, many)


@cache
def parameters(what: Callable[..., Any]) -> Mapping[str, Declared]:
    """Return what the parameters of a function or a dataclass declare."""
    hints = get_type_hints(what, include_extras=True)
    return {name: declared(hints.get(name)) for name in inspect.signature(what).parameters}


Function = TypeVar("Function", bound=Callable[..., Any])


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value has the type of an annotation; of texts, lists and choices, roughly."""
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin in (Union, UnionType):
        words = len({*inner} - {NoneType}) > 1  # choices beside other types
        return any(
            value in get_args(each) if words and get_origin(each) is Literal else _fits(each, value)
            for each in inner
        )
    if origin is Literal:
        return isinstance(value, str)
    if origin in (tuple, Sequence):
        right = isinstance(value, Collection) and not isinstance(value, str)
        if right and origin is tuple and Ellipsis not in inner:
            right = len(value) == len(inner)
        return right and (inner[0] is str or all(_fits(inner[0], each) for each in value))
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return hint is Any or not isinstance(hint, type) or isinstance(value, hint)


def require_declared(what: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Raise ConfigError for a value of another type, or outside the range or choices declared."""
    hints = get_type_hints(what)
    known = parameters(what)
    for name, value in values.items():
        kind, _, limits, _ = known[name]
        label = name.replace("_", " ")
        choices = get_args(kind)
        # A method's first has no type; arrays have their own readers.
        if name not in hints or getattr(value, "shape", None):
            continue
        if not _fits(hints[name], value):
            # Python 3.13 names a path's class by a module of its own.
            type_ = inspect.formatannotation(hints[name]).replace("pathlib._local.", "pathlib.")
            raise ConfigError(f"{label}: is {described(value)}: give {type_}")
        if not isinstance(value, int | float | str):
            continue
        if get_origin(kind) is Literal and value not in choices:
            raise ConfigError(f'no {label} "{value}": {did_you_mean(str(value), choices)}')
        if limits is not None and not isinstance(value, str) and not limits.allows(value):
            shown = f"{value:g}" if isinstance(value, float) else value
            raise ConfigError(f"{label} {shown}: must be {limits.words}")


class CheckedOptions:
    """Refuses values outside the ranges and choices that its fields declare: ConfigError."""

    def __post_init__(self) -> None:
        require_declared(type(self), vars(self))


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


OPERANDS = "Operands"
ADVANCED = "Advanced options"
"""Panels besides "Options"."""
Operand = partial(Opt, panel=OPERANDS)
Advanced = partial(Opt, panel=ADVANCED)
Recipe = Annotated[
    str | None,
    Advanced(
        "How to learn: reference learns like the article's notebook; benchmark uses the "
        "notebook's batch size",
        "NAME",
    ),
]
NewDirectory = Annotated[
    str | Path | None,
    Opt(
        "Run directory, new or empty",
        "DIR",
        names="--dir",
        shown="a new one in runs/",
        parse=run_directory,
    ),
]
Seeds = Annotated[str | Sequence[int] | None, Opt(parse=parse_seeds)]
Count = Annotated[int, Range(1)]
Share = Annotated[float, Range(0, 1), Opt(metavar="SHARE")]
PixelCount = Annotated[int, Range(1, 4096)]
CellSide = Annotated[
    int | Literal["auto"],
    Range(1, 4096),
    Opt("Side of a cell in an image, in pixels; auto takes the largest squares of one colour"),
]
SecondsOption = Annotated[float, Range(0.001, 1e9), Opt(metavar="SECONDS")]
EffortOption = Annotated[
    Literal["low", "normal", "high"],
    Opt("Effort: low takes about a second, normal a few seconds, high minutes"),
]
TimeLimit = Annotated[
    SecondsOption | None, Opt("Time limit for search and proof", shown="60 for the proof alone")
]
Unsimplified = Annotated[bool, Opt("Use the circuit as trained, with every gate")]
Force = Annotated[bool, Opt("Overwrite existing files")]
AllowCode = Annotated[bool, Advanced("Allow a custom task's code to run; read the code first")]
THREAD_RANGE = Range(1, 1024)
AUTO = "auto, as many as help, at most one per core"
WorkersOption = Annotated[
    int | Literal["auto"], THREAD_RANGE, Opt("Worker threads", "N", shown=AUTO)
]
BackwardsOption = Annotated[
    bool, Advanced("Run a rule that remembers a frame back, if it is proved reversible")
]
EngineOption = Annotated[
    Literal["auto", "interpreter", "compiled"],
    Advanced("How to compute: all give the same bits; interpreter compiles nothing"),
]
Starts = Annotated[
    int | None,
    Range(1, 65536),
    Opt("Start states per test", shown="64; 16 on large grids, 8 for robustness and noise"),
]
Port = Annotated[int, Range(0, 65535), Opt("Port", shown="any free one")]
Seed = Annotated[int, Range(0, MOST_SEED), Opt("Random seed")]
