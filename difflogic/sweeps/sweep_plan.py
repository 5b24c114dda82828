"""The plan of a sweep: a configuration, the values of its grid, and seeds."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from difflogic.config import Config, Override, load_config
from difflogic.run.settings import differing
from difflogic.system.errors import ConfigError

MAX_VARIANTS = 10_000
"""Limit that catches typing errors."""

MAX_NAME = 100
"""Characters of a variant's directory; file systems allow 255 bytes."""

_QUOTED = re.compile(r"""(["']).*?(?<!\\)\1""", re.DOTALL)


@dataclass(frozen=True)
class Request:
    """The arguments of a sweep, as the user gave them."""

    config: str
    overrides: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    recipe: str | None = None


@dataclass(frozen=True)
class Variant:
    """One combination of the grid's values."""

    name: str
    """Also the name of its directory."""
    values: Mapping[str, Any]
    """The configuration's values of the axes, by key."""
    config: Config
    """Its seed does not matter."""


@dataclass(frozen=True)
class SweepPlan:
    """All runs of a sweep."""

    request: Request
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...]
    """Ascending."""
    axes: tuple[str, ...] = ()
    """The keys of the grid."""

    @property
    def experiment(self) -> str:
        return self.variants[0].config.name

    @property
    def runs(self) -> Iterator[tuple[Variant, int]]:
        """The runs, seed by seed, so that each variant has early results."""
        return ((variant, seed) for seed in self.seeds for variant in self.variants)

    @property
    def size(self) -> int:
        return len(self.variants) * len(self.seeds)

    def with_seeds(self, seeds: Sequence[int]) -> SweepPlan:
        """Return the same plan with more seeds."""
        return replace(self, seeds=tuple(sorted({*self.seeds, *seeds})))


def make_plan(request: Request, seeds: Sequence[int], *, allow_code: bool = False) -> SweepPlan:
    """Load and check every configuration of a sweep.

    By default, each run has one worker thread, since separate runs need no barriers. `allow_code`
    is as for `load_config`. Raises ConfigError that names every wrong value.
    """
    axes = parse_axes(request.grid)
    found = []
    problems = []
    for values in itertools.product(*axes.values()):  # the last axis varies fastest
        texts = dict(zip(axes, values, strict=True))
        try:
            config = _load(request, texts, allow_code)
        except ConfigError as error:
            problems += _lines(error)
            continue
        found.append((config, {key: lookup(config, key) for key in texts}, texts))
    if problems:
        # A wrong value is reported by every combination that contains it.
        different = list(dict.fromkeys(problems))
        head = f"{len(different)} problems in the grid:\n  " if len(different) > 1 else ""
        raise ConfigError(head + "\n  ".join(different))
    names = variant_names([each[1:] for each in found]) if axes else [found[0][0].name]
    named = zip(names, found, strict=True)
    variants = [Variant(name, values, config) for name, (config, values, _) in named]
    _require_different(variants)
    return SweepPlan(request, tuple(variants), tuple(seeds), tuple(axes))


def with_seed(config: Config, seed: int) -> Config:
    """Return the configuration of one run, with its seed."""
    return config.with_sections(training={"seed": seed})


def lookup(config: Config, key: str) -> Any:
    """Return the value of ``section.key`` as in TOML."""
    value: Any = config.to_dict()
    for part in key.split("."):
        value = value[part]
    return value


def differences(before: SweepPlan, now: SweepPlan) -> list[str]:
    """Return "section.key: before → now" for each key in which two plans differ.

    Seeds, and keys that change no result, are not compared.
    """
    old = {variant.name: variant.config for variant in before.variants}
    new = {variant.name: variant.config for variant in now.variants}
    if old.keys() != new.keys():
        return [f"grid: {', '.join(old)} → {', '.join(new)}"]
    found: dict[str, None] = {}
    for name, there in old.items():
        here = new[name]
        if there.training.epochs != here.training.epochs:
            found[f"training.epochs: {there.training.epochs} → {here.training.epochs}"] = None
        found |= dict.fromkeys(differing(with_seed(there, 0), with_seed(here, 0)))
    return list(found)


def _load(request: Request, texts: Mapping[str, str], allow_code: bool) -> Config:
    overrides = [Override("parallel.workers", 1)]
    overrides += [Override(text, typed=f"--set {text}") for text in request.overrides]
    overrides += [
        Override(f"{key}={text}", typed=f"--grid {key}={text}") for key, text in texts.items()
    ]
    return load_config(request.config, overrides, request.recipe, allow_code=allow_code)


def _lines(error: ConfigError) -> list[str]:
    """Return the problems that a message lists, or its only one."""
    first, *others = str(error).split("\n  ")
    return others or [first]


def _require_different(variants: Sequence[Variant]) -> None:
    seen: dict[str, str] = {}
    for variant in variants:
        # Some file systems ignore case in names.
        other = seen.setdefault(variant.name.casefold(), variant.name)
        same = [c.name for c in variants if c is not variant and c.config == variant.config]
        if same or other is not variant.name:
            raise ConfigError(
                f"--grid: two combinations mean the same, {variant.name}: list each value once"
            )


def parse_axes(options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read the values of each key, as texts that an override accepts.

    Raises ConfigError for a malformed one, or a key that is given twice.
    """
    axes: dict[str, tuple[str, ...]] = {}
    for option in options:
        key, values = _parse_axis(option)
        if key in axes:
            raise ConfigError(f"--grid {option}: {key} is given twice: list all its values at once")
        axes[key] = values
    variants = math.prod(map(len, axes.values()))
    if variants > MAX_VARIANTS:
        raise ConfigError(f"--grid: {variants} combinations are too many: at most {MAX_VARIANTS}")
    return axes


def variant_names(variants: Sequence[tuple[Mapping[str, Any], Mapping[str, str]]]) -> list[str]:
    """Name directories after the values that differ, such as ``batch=2,weight_decay=0.0``.

    A variant is two mappings from keys: to values, and to the texts that were typed for them. Of
    paths, the last parts are used if they differ. Unsuitable characters and long ends are left out;
    if that makes two names equal, a digest follows.
    """
    keys = [*variants[0][0]]
    varied = [key for key in keys if len({texts[key] for _, texts in variants}) > 1] or keys
    shorts = [key.rpartition(".")[2] for key in varied]
    labels = [s if shorts.count(s) == 1 else key for s, key in zip(shorts, varied, strict=True)]
    exact = [""] * len(variants)
    for label, key in zip(labels, varied, strict=True):
        whole = [_value_name(values[key], texts[key]) for values, texts in variants]
        ends = [name.rpartition("/")[2] for name in whole]
        parts = ends if len({*ends}) == len({*whole}) else whole
        exact = [f"{name},{label}={part}" for name, part in zip(exact, parts, strict=True)]
    exact = [name.removeprefix(",") for name in exact]
    names = [re.sub(r"[^A-Za-z0-9._+=,-]+", "_", name)[:MAX_NAME] for name in exact]
    taken = Counter(name.casefold() for name in names)
    return [
        name if taken[name.casefold()] == 1 else f"{name}-{_digest(text)}"
        for name, (_, typed) in zip(names, variants, strict=True)
        for text in [",".join(typed.values())]
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _value_name(value: Any, text: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            runs = [(item, len([*same])) for item, same in itertools.groupby(value)]
            return "-".join(
                _value_name(item, str(item)) + (f"x{many}" if many > 1 else "")
                for item, many in runs
            )
        case str():
            return text.strip("\"'").rstrip("/")
        case _:
            return str(value)


def _parse_axis(option: str) -> tuple[str, tuple[str, ...]]:
    key, equals, text = option.partition("=")
    key = ".".join(part.strip() for part in key.split("."))
    if not equals or not key:
        raise ConfigError(
            f"--grid {option}: write it as section.key=value,value, such as "
            "training.weight_decay=0.0,0.01"
        )
    if key == "training.seed":
        raise ConfigError(f"--grid {option}: cannot vary the seed: use dct sweep --seeds 0-15")
    values = tuple(part.strip() for part in _split(text))
    if "" in values:
        raise ConfigError(f"--grid {option}: a value is missing next to a comma or the equals sign")
    repeated = next((value for value in values if values.count(value) > 1), None)
    if repeated is not None:
        raise ConfigError(f"--grid {option}: {repeated} is listed twice: list it once")
    return key, values


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets and quotes."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and _is_open(parts[-1]):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _is_open(text: str) -> bool:
    """Return whether a bracket or a quotation begins in a text and does not end there."""
    bare = _QUOTED.sub("", text)
    begun = any(bare.count(first) > bare.count(last) for first, last in ("[]", "{}"))
    return begun or '"' in bare or "'" in bare
