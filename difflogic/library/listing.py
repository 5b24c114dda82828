"""Many runs: find, compare, note and remove them: `runs`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from difflogic.library.common import table
from difflogic.library.options import checked
from difflogic.run.finding import ROOT
from difflogic.run.listing import Listed, list_runs, read_listed
from difflogic.run.run_directory import SWEEP, find_run
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.files import refused

UNIMPORTANT = re.compile(r"name$|training\.seed$|(parallel\.(?!device$)|checkpoint\.|published\.)")
"""Settings that have a column of their own, or change no result."""
FROM_EXAMPLES = re.compile(r"task\.(pairs|held_out)$|automaton\.")
"""Settings of rules learned from examples that a list shows; the others are chosen to fit."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
TEXTS = ("experiment", "verdict", "tags", "note")
"""Columns in which a word is looked for, besides the directory's name."""
_CONDITION = re.compile(r"\s*([a-z][\w. ]*?)\s*(<=|>=|!=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Records(list[dict[str, Any]]):
    """A dict per run, all with the same keys: ``pandas.DataFrame(records)`` makes a frame of them.

    After the columns come the settings that differ, by ``section.key``, None where not set.
    """

    def __init__(self, records: Iterable[dict[str, Any]], settings: Sequence[str] = ()) -> None:
        super().__init__(records)
        self.settings = tuple(settings)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return table(self)


@checked
def runs(
    source: str | Path | Sequence[str | Path] = ROOT,
    *,
    where: Sequence[str] = (),
    tag: str | None = None,
    sort: str | None = None,
    inside: bool = False,
) -> Records:
    """Return the runs in a directory, or the named ones, as records, the newest last.

    A sweep counts as one, unless `inside` lists its runs in its place; of a sweep's own directory,
    the runs are listed. `where` are conditions that all hold, such as ``seed>=10``,
    ``age<2d``, ``batch=4``, or words that occur in a run's texts. The settings that differ between
    runs of the same experiment are keys, too; of named runs, all that differ.

    Each record has path, experiment, seed, verdict, gates, epochs, seconds (training),
    processor_seconds (all), attempts, wrong_cells, from_step (since when it is proved), state
    (finished, stopped, training, damaged or sweep), begun (UTC), age (seconds), tags, note, version
    and processor. The verdict is proved (right in every case), exact (right on samples), late
    (proved, but only from a later step than the trained one), right on its pairs (learned from
    examples, and not proved on other grids), not exact, or the state of a run that has not ended.

    Raises ConfigError for a condition or a key that is not known, and RunDirectoryError.
    """
    if isinstance(source, str | Path):
        across, found = False, list_runs(source, inside)
    else:
        across, found = True, [opened(name) for name in source]
    for condition in where:
        holds = _parse(condition, found)
        found = [listed for listed in found if holds(listed)]
    if tag is not None:
        found = [listed for listed in found if tag in listed.columns["tags"]]
    if sort is not None:
        key = _key(sort.removeprefix("-"), found)
        found.sort(key=lambda listed: _order(_get(listed, key)), reverse=sort.startswith("-"))
        found.sort(key=lambda listed: _get(listed, key) is None)
    settings = differing(found, across)
    records = ({**x.columns, **{key: x.settings.get(key) for key in settings}} for x in found)
    return Records(records, settings)


def opened(name: str | Path) -> Listed:
    """Return the run or sweep in a directory, or the newest run for "last".

    Raises RunDirectoryError.
    """
    path = Path(name)
    try:
        return read_listed(path if (path / SWEEP).is_file() else find_run(str(name)))
    except OSError as error:
        raise refused(path, "used as run directory", error) from error


def _get(listed: Listed, key: str) -> Any:
    return listed.columns[key] if key in listed.columns else listed.settings.get(key)


def differing(found: Sequence[Listed], across: bool = False) -> list[str]:
    """Return the settings that differ between runs of an experiment, or `across` experiments."""
    groups: dict[str | None, list[Mapping[str, Any]]] = {}
    for listed in found:
        if listed.settings:
            group = None if across else listed.columns["experiment"]
            groups.setdefault(group, []).append(listed.settings)
    keys: dict[str, None] = {}
    for group in groups.values():
        learned = not across and all("task.pairs" in settings for settings in group)
        for key in dict.fromkeys(key for settings in group for key in settings):
            first = group[0].get(key)
            if learned and not FROM_EXAMPLES.match(key):
                continue
            if not UNIMPORTANT.match(key) and any(each.get(key) != first for each in group):
                keys[key] = None
    return list(keys)


def _key(name: str, found: Sequence[Listed]) -> str:
    """Return the column or setting that `name` means; a setting's section may be left out."""
    columns = [key for listed in found[:1] for key in listed.columns]
    settings = dict.fromkeys(key for listed in found for key in listed.settings)
    if not found or name in columns or name in settings:
        return name
    meant = [key for key in settings if key.rpartition(".")[2] == name]
    if len(meant) != 1:
        hint = f"name one of {', '.join(meant)}" if meant else did_you_mean(name, columns)
        raise ConfigError(f'no column or setting "{name}": {hint}')
    return meant[0]


def _parse(condition: str, found: Sequence[Listed]) -> Callable[[Listed], bool]:
    """Return what tells whether a condition holds for a run. Raises ConfigError."""
    parts = _CONDITION.fullmatch(condition)
    if parts is None:
        word = condition.strip().casefold()
        return lambda listed: any(
            word in str(text).casefold()
            for text in (listed.path.name, *(listed.columns[key] for key in TEXTS))
        )
    name, sign, text = parts.groups()
    key, compare, number = _key(name, found), _OPERATORS[sign], _number(text)
    if number is None and sign[0] in "<>":
        raise ConfigError(f'"{condition}": {sign} compares with a number, such as {name}{sign}10')

    def holds(listed: Listed) -> bool:
        value = _get(listed, key)
        if number is not None and isinstance(value, int | float):
            return compare(value, number)
        shown = "none" if value is None else str(value)
        return sign[0] in "=!" and compare(shown.casefold(), text.strip("\"'").casefold())

    return holds


def _number(text: str) -> float | None:
    """Return a number, perhaps with a unit of time, in seconds; None for anything else."""
    found = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]*)?(?:e-?[0-9]+)?)([smhd]?)", text)
    return float(found[1]) * UNITS.get(found[2], 1) if found else None


def _order(value: Any) -> tuple[bool, Any]:
    """Return a key that orders numbers before texts."""
    is_number = isinstance(value, int | float)
    return (not is_number, value if is_number else str(value))
