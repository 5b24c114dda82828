"""Records of runs: listed, compared and described: `runs`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.run.record import RunRecord, list_runs, read_record
from difflogic.run.run_directory import ROOT, RunDirectory
from difflogic.system.declaration import checked
from difflogic.system.files import refused
from difflogic.system.html_table import table
from difflogic.system.toml import flat

UNIMPORTANT = re.compile(r"name$|training\.seed$|(parallel\.(?!device$)|checkpoint\.|published\.)")
"""Settings that have a column of their own, or change no result."""
FROM_EXAMPLES = re.compile(r"task\.(pairs|held_out)$|automaton\.")
"""Settings of rules learned from examples that a list shows; the others are chosen to fit."""


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
def runs(source: str | Path | Sequence[str | Path] = ROOT, *, inside: bool = False) -> Records:
    """Return the runs in a directory, or the named ones, as records, the newest last.

    A sweep counts as one, unless `inside` lists its runs in its place; of a sweep's own directory,
    the runs are records. The settings that differ between runs of the same experiment are keys,
    too; of named runs, all that differ.

    Each record has path, experiment, seed, verdict, gates, epochs, seconds (from start to
    end), processor_seconds, attempts, wrong_cells, from_step (since when it is proved), state
    (finished, stopped, training, damaged or sweep), begun (UTC), age (seconds), version and
    processor. The verdict is proved (right in every case), exact (right on samples), late
    (proved, but only from a later step than the trained one), right on its pairs (learned from
    examples, and not proved on other grids), not exact, or the state of a run that has not ended.

    Raises RunDirectoryError.
    """
    if isinstance(source, str | Path):
        across = False
        found = list_runs(source, inside)
    else:
        across = True
        found = [opened(name) for name in source]
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
    problem: str | None
    """Why the run is damaged: a file that is, or does not match summary.json."""


def describe(run: str | Path) -> Described:
    """Return a run's results, its settings beside the shipped ones, and its files.

    Raises RunDirectoryError.
    """
    from difflogic.config import load_config, shipped_configs  # a list needs no models

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
    sizes = RunDirectory(found.path).sizes
    return Described(record, changed, is_shipped, summary, sizes, found.problem)


def opened(name: str | Path) -> RunRecord:
    """Return the run or sweep in a directory, or the newest one for "last".

    Raises RunDirectoryError.
    """
    run = RunDirectory.named(name, sweeps=True)
    try:
        return read_record(run)
    except OSError as error:
        raise refused(run.path, "used as run directory", error) from error


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
