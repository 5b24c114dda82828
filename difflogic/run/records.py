"""Runs at a glance: settings and results, read quickly from their directories; lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from difflogic.run import lock
from difflogic.run.run_directory import ROOT, RunDirectory, changed_at, entries, epoch_of
from difflogic.run.story import verdict
from difflogic.run.summary import Summary, read_summary, require_its_files
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, DctError, RunDirectoryError, UnreadableError
from difflogic.system.files import kind_of
from difflogic.system.toml import flat

ListedState = Literal["waiting", "training", "stopped", "finished"]
"""A run waits before its configuration is written. It trains while a process holds its lock."""
SEED = "training.seed"
UNIMPORTANT = re.compile(r"name$|training\.seed$|(parallel\.(?!device$)|checkpoint\.|published\.)")
"""Settings that have a column of their own, or change no result."""
FROM_EXAMPLES = re.compile(r"task\.(pairs|held_out)$|automaton\.")
"""Settings of rules learned from examples that a list shows; the others are chosen to fit."""


@dataclass(frozen=True)
class RunRecord:
    """One run or sweep in a list."""

    path: Path
    columns: dict[str, Any]
    """What `runs` says about each run; None if unknown."""
    settings: Mapping[str, Any]
    """The run's configuration, by ``section.key``."""
    summary: Summary | None = None
    """The contents of summary.json, once the run has ended or stopped."""
    problem: str | None = None
    """Why the run is damaged, cannot be read, or failed."""


class Records(list[dict[str, Any]]):
    """A dict per run, all with the same keys: ``pandas.DataFrame(records)`` makes a frame of them.

    After the columns come the settings that differ, by ``section.key``, None where not set.
    """

    def __init__(self, records: Iterable[RunRecord], settings: Sequence[str] = ()) -> None:
        found = list(records)
        super().__init__(
            {**each.columns, **{key: each.settings.get(key) for key in settings}} for each in found
        )
        self.settings = tuple(settings)
        self.problems = [each.problem for each in found if each.problem is not None]
        """What is wrong with runs, in the order of the records."""
        self.is_complete = all(each.columns["state"] != "unreadable" for each in found)
        """Whether everything could be read."""


@checked
def runs(source: str | Path | Sequence[str | Path] = ROOT, *, inside: bool = False) -> Records:
    """Return the runs in a directory, or the named ones, as records, the newest last.

    A sweep counts as one, unless `inside` lists its runs in its place; of a sweep's own directory,
    the runs are records. The settings that differ between runs of the same experiment are keys,
    too; of named runs, all that differ.

    Each record has path, experiment, seed, verdict, gates, epochs, seconds (from start
    to end), processor_seconds, attempts, wrong_cells, from_step (since when it is proved), state
    (finished, stopped, training, failed in a sweep, damaged, unreadable or sweep), begun (UTC), age
    (seconds), version and processor. The verdict is proved (right in every case), exact (right on
    samples), late (proved, but only from a later step than the trained one), right on its pairs
    (learned from examples, and not proved on other grids), not exact, or the state of a run that
    has not ended.

    Raises RunDirectoryError, and UnreadableError for the directory itself.
    """
    if isinstance(source, str | Path):
        across = False
        found = list_runs(source, inside)
    else:
        across = True
        found = [opened(name) for name in source]
    return Records(found, differing(found, across))


def list_runs(root: str | Path, inside: bool = False) -> list[RunRecord]:
    """Return the runs and sweeps under `root`, the last begun or extended at the end.

    With `inside`, the runs of a sweep stand in its place, as they do if `root` is a sweep. What is
    damaged, or cannot be read, is listed as such. Raises RunDirectoryError or UnreadableError for
    `root` itself.
    """
    if not kind_of(Path(root), follow=False):
        raise RunDirectoryError(
            f"{root}: no such directory: dct runs lists runs/, which dct train NAME makes"
        )
    named = RunDirectory(Path(root))
    if named.is_sweep:
        found = list(_of_sweep(named))
    else:
        found = [record for each in entries(root) for record in _under(each, inside)]
    return sorted(found, key=lambda record: (record.columns["begun"], record.path))


def _under(run: RunDirectory, inside: bool) -> Iterator[RunRecord]:
    try:
        if inside and run.is_sweep:
            yield from _of_sweep(run)
        else:
            yield read_record(run)
    except FileNotFoundError:  # removed meanwhile
        return
    except UnreadableError as error:
        yield _unknown(run, error)


def _of_sweep(sweep: RunDirectory) -> Iterator[RunRecord]:
    """Yield the runs of a sweep, and those that failed before they had a directory."""
    failed = sweep.failed
    for record in _in_variants(sweep):
        error = failed.pop(record.path, None)
        if error is not None and record.columns["state"] == "stopped":
            columns = {**record.columns, "state": "failed", "verdict": "failed"}
            yield RunRecord(record.path, columns, record.settings, record.summary, error)
        else:
            yield record
    for path, error in failed.items():
        seed = path.name.removeprefix("seed")
        number = int(seed) if seed.isdecimal() else None
        columns = _columns(path, "failed", changed_at(sweep.path), seed=number)
        yield RunRecord(path, columns, {}, problem=f"{path}: failed: {error}")


def _in_variants(sweep: RunDirectory) -> Iterator[RunRecord]:
    """Yield the runs of a sweep that have a directory, and the variants that cannot be read."""
    for variant in sweep.folders:
        try:
            runs = variant.folders
        except FileNotFoundError:  # removed meanwhile
            continue
        except UnreadableError as error:
            yield _unknown(variant, error)
            continue
        for run in runs:
            if run.may_be_run:
                yield from _under(run, inside=False)


def read_record(run: RunDirectory) -> RunRecord:
    """Return what the files of a run or sweep say. Raises FileNotFoundError if it is neither."""
    if run.is_sweep:
        return RunRecord(run.path, _columns(run.path, "sweep", run.begun), {})
    settings: dict[str, Any] = {}
    begun = changed_at(run.config)
    try:
        begun = run.begun
        settings = run.settings
        found = read_summary(run)
        if not (found or isinstance(settings.get(SEED), int)):
            raise RunDirectoryError(f"{run.config}: is damaged")
        state = state_of(run, found)
        if found and state == "finished":
            require_its_files(run, found)
        epochs = max(map(epoch_of, run.checkpoints), default=0)
    except UnreadableError as error:
        return _unknown(run, error)
    except DctError as error:
        columns = _columns(
            run.path, "damaged", begun, experiment=settings.get("name"), seed=settings.get(SEED)
        )
        return RunRecord(run.path, columns, settings, problem=str(error))
    if found is None:
        columns = _columns(
            run.path,
            state,
            begun,
            experiment=settings.get("name"),
            seed=settings[SEED],
            epochs=epochs,
        )
        return RunRecord(run.path, columns, settings)
    checked = found.scores.checked
    columns = _columns(
        run.path,
        state,
        begun,
        experiment=found.experiment,
        seed=found.seed,
        verdict=verdict(found.scores) if state == "finished" else state,
        gates=checked.active_gates,
        epochs=found.epochs,
        seconds=found.seconds.all,
        processor_seconds=found.seconds.processor,
        attempts=found.attempts.begun if found.attempts else None,
        wrong_cells=checked.wrong_cells,
        from_step=found.scores.assurance.from_step,
        version=found.versions.get("dct"),
        processor=found.cpu.name,
    )
    return RunRecord(run.path, columns, settings, found)


_COLUMNS = (
    "path",
    "experiment",
    "seed",
    "verdict",
    "gates",
    "epochs",
    "seconds",
    "processor_seconds",
    "attempts",
    "wrong_cells",
    "from_step",
    "state",
    "begun",
    "age",
    "version",
    "processor",
)


def _columns(path: Path, state: str, begun: datetime, **known: Any) -> dict[str, Any]:
    """Return all columns of a record, None where it is not known."""
    age = (datetime.now(UTC) - begun).total_seconds()
    always = {"path": str(path), "state": state, "verdict": state, "begun": begun, "age": age}
    return dict.fromkeys(_COLUMNS) | always | known


def _unknown(run: RunDirectory, error: UnreadableError) -> RunRecord:
    columns = _columns(run.path, "unreadable", changed_at(run.path))
    return RunRecord(run.path, columns, {}, problem=str(error))


def state_of(run: RunDirectory, summary: Summary | None) -> ListedState:
    """Return the state of a run with this summary, if any: what lists, pages and sweeps say.

    Raises UnreadableError.
    """
    if lock.is_held(run.path):
        return "training"
    if summary and summary.finished:
        return "finished"
    return "stopped" if run.is_run else "waiting"


@dataclass(frozen=True)
class Described:
    """One run."""

    record: dict[str, Any]
    """As `runs` returns it."""
    changed: dict[str, tuple[Any, Any]]
    """Settings that differ from the shipped experiment's: its value, and the run's."""
    is_shipped: bool | None
    """Whether the experiment is a shipped one; None if the settings are not known."""
    summary: Summary | None
    """The contents of summary.json."""
    files: dict[str, int]
    """The bytes of each file."""
    problem: str | None
    """Why the run is damaged, or cannot be read; or why this version cannot use it."""


def describe(run: str | Path) -> Described:
    """Return a run's results, its settings beside the shipped ones, and its files.

    Raises RunDirectoryError or UnreadableError.
    """
    from difflogic.config import load_config, shipped_configs
    from difflogic.run.settings import read_config

    found = opened(run)
    differences = {}
    is_shipped = None
    if found.settings:
        name = found.columns["experiment"]
        is_shipped = name in shipped_configs()
        shipped = flat(load_config(name).to_dict()) if is_shipped else found.settings
        for key in {**shipped, **found.settings}:
            pair = shipped.get(key), found.settings.get(key)
            if (pair[0] or None) != (pair[1] or None) and not UNIMPORTANT.match(key):
                differences[key] = pair
    place = RunDirectory(found.path)
    problem = found.problem
    if found.summary:
        try:
            read_config(place)
        except ConfigError as error:  # an earlier version's
            problem = f"this version cannot use it: {error}".replace("\n", "")
    return Described(found.columns, differences, is_shipped, found.summary, place.sizes, problem)


def opened(name: str | Path) -> RunRecord:
    """Return the run or sweep in a directory, or the newest one for "last".

    Raises RunDirectoryError or UnreadableError.
    """
    run = RunDirectory.named(name, sweeps=True)
    try:
        return read_record(run)
    except FileNotFoundError:
        raise RunDirectoryError(f"{run.path}: was removed meanwhile") from None


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
            if UNIMPORTANT.match(key) or (learned and not FROM_EXAMPLES.match(key)):
                continue
            first = group[0].get(key) or None  # a setting that a version does not have is off
            if any((each.get(key) or None) != first for each in group):
                keys[key] = None
    return list(keys)
