"""Records of runs: listed, compared, described and noted: `runs`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.config import load_config, shipped_configs
from difflogic.config.loading import flat
from difflogic.library.declaration import checked
from difflogic.library.exchange import table
from difflogic.run.note import MAX_TEXT, TAG, Note, read_note, write_note
from difflogic.run.record import RunRecord, list_runs, read_record
from difflogic.run.run_directory import ROOT, RunDirectory
from difflogic.system.errors import ConfigError, RunDirectoryError, did_you_mean
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
    the runs are record. `where` are conditions that all hold, such as ``seed>=10``,
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
        found = [record for record in found if holds(record)]
    if tag is not None:
        found = [record for record in found if tag in record.columns["tags"]]
    if sort is not None:
        key = _key(sort.removeprefix("-"), found)
        found.sort(key=lambda record: _order(_get(record, key)), reverse=sort.startswith("-"))
        found.sort(key=lambda record: _get(record, key) is None)
    settings = differing(found, across)
    records = ({**x.columns, **{key: x.settings.get(key) for key in settings}} for x in found)
    return Records(records, settings)


@dataclass(frozen=True)
class Described:
    """One run."""

    record: dict[str, Any]
    """As `runs` returns it."""
    changed: dict[str, tuple[Any, Any]]
    """Settings that differ from the shipped experiment's: its value, and the run's."""
    is_shipped: bool
    """Whether the experiment is a shipped one; if not, `changed` is empty."""
    summary: dict[str, Any] | None
    """The contents of summary.json."""
    files: dict[str, int]
    """The bytes of each file."""


def describe(run: str | Path) -> Described:
    """Return a run's results, its settings beside the shipped ones, and its files.

    Raises RunDirectoryError.
    """
    found = opened(run)
    (record,) = runs([found.path])
    changed = {}
    if is_shipped := (name := found.columns["experiment"]) in shipped_configs():
        shipped = flat(load_config(name).to_dict())
        for key in dict.fromkeys([*shipped, *found.settings]):
            pair = shipped.get(key), found.settings.get(key)
            if pair[0] != pair[1] and found.settings and not UNIMPORTANT.match(key):
                changed[key] = pair
    summary = None if found.summary is None else dict(found.summary)
    return Described(record, changed, is_shipped, summary, RunDirectory(found.path).sizes)


def annotate(
    run: str | Path, text: str | None = None, tags: Sequence[str] = (), without: Sequence[str] = ()
) -> Note:
    """Keep a note with a run or sweep: replace its text, add tags, and take others away.

    Returns the whole note. Raises ConfigError for a text or a tag that is too long, and for other
    signs in a tag than letters, digits and ``._+-``.
    """
    place = RunDirectory.named(run, sweeps=True)
    for tag in (*tags, *without):
        if not re.fullmatch(TAG, tag):
            raise ConfigError(f'tag "{tag}": must be letters, digits and . _ + -, at most 40')
    if text is not None and len(text) > MAX_TEXT:
        raise ConfigError(f"the note has {len(text)} characters: at most {MAX_TEXT} are kept")
    try:
        before = read_note(place)
    except RunDirectoryError:
        if text is None:
            raise
        before = Note()
    kept = [tag for tag in dict.fromkeys([*before.tags, *tags]) if tag not in without]
    note = Note(text=before.text if text is None else text, tags=kept)
    write_note(place, note)
    return note


def opened(name: str | Path) -> RunRecord:
    """Return the run or sweep in a directory, or the newest one for "last".

    Raises RunDirectoryError.
    """
    run = RunDirectory.named(name, sweeps=True)
    try:
        return read_record(run)
    except OSError as error:
        raise refused(run.path, "used as run directory", error) from error


def _get(record: RunRecord, key: str) -> Any:
    return record.columns[key] if key in record.columns else record.settings.get(key)


def differing(found: Sequence[RunRecord], across: bool = False) -> list[str]:
    """Return the settings that differ between runs of an experiment, or `across` experiments."""
    groups: dict[str | None, list[Mapping[str, Any]]] = {}
    for record in found:
        if record.settings:
            group = None if across else record.columns["experiment"]
            groups.setdefault(group, []).append(record.settings)
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


def _key(name: str, found: Sequence[RunRecord]) -> str:
    """Return the column or setting that `name` means; a setting's section may be left out."""
    columns = [key for record in found[:1] for key in record.columns]
    settings = dict.fromkeys(key for record in found for key in record.settings)
    if not found or name in columns or name in settings:
        return name
    meant = [key for key in settings if key.rpartition(".")[2] == name]
    if len(meant) != 1:
        hint = f"name one of {', '.join(meant)}" if meant else did_you_mean(name, columns)
        raise ConfigError(f'no column or setting "{name}": {hint}')
    return meant[0]


def _parse(condition: str, found: Sequence[RunRecord]) -> Callable[[RunRecord], bool]:
    """Return what tells whether a condition holds for a run. Raises ConfigError."""
    parts = _CONDITION.fullmatch(condition)
    if parts is None:
        word = condition.strip().casefold()
        return lambda record: any(
            word in str(text).casefold()
            for text in (record.path.name, *(record.columns[key] for key in TEXTS))
        )
    name, sign, text = parts.groups()
    key, compare, number = _key(name, found), _OPERATORS[sign], _number(text)
    if number is None and sign[0] in "<>":
        raise ConfigError(f'"{condition}": {sign} compares with a number, such as {name}{sign}10')

    def holds(record: RunRecord) -> bool:
        value = _get(record, key)
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
