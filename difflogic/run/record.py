"""A run at a glance: settings and results, read quickly from its directory; lists of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from difflogic.run import lock
from difflogic.run.run_directory import ROOT, RunDirectory, entries, epoch_of, suggestion
from difflogic.run.story import ON_PAIRS, verdict, whole
from difflogic.run.summary import read_summary, require_its_files
from difflogic.system.errors import DctError, RunDirectoryError
from difflogic.system.files import read_inside
from difflogic.system.toml import MAX_BYTES, flat, parse_toml

if TYPE_CHECKING:
    from difflogic.config import Config

State = Literal["waiting", "training", "stopped", "finished"]
"""A run waits before its configuration is written. It trains while a process holds its lock."""
SEED = "training.seed"
NEIGHBOURS = 50
_LINE = re.compile(r"^(?=\[|\w+ = )", re.MULTILINE)
"""Where a line of a configuration begins a section or a key."""


@dataclass(frozen=True)
class RunRecord:
    """One run or sweep in a list."""

    path: Path
    columns: dict[str, Any]
    """What `runs` says about each run; None if unknown."""
    settings: Mapping[str, Any]
    """The run's configuration, by ``section.key``."""
    summary: Mapping[str, Any] | None
    """The contents of summary.json, once the run has ended or stopped."""
    problem: str | None = None
    """Why the run is damaged."""


def list_runs(root: str | Path = ROOT, inside: bool = False) -> list[RunRecord]:
    """Return the runs and sweeps under `root`, the last begun or extended at the end.

    With `inside`, the runs of a sweep stand in its place, as they do if `root` is a sweep. Damaged
    ones are listed as such. Raises RunDirectoryError if `root` cannot be read.
    """
    if not os.path.lexists(root):
        hint = suggestion(Path(root)) or ": dct train NAME makes runs/"
        raise RunDirectoryError(f"{root}: no such directory{hint}")
    named = RunDirectory(Path(root))
    found = []
    for each in [named] if named.is_sweep else entries(root):
        for run in each.runs if each.is_sweep and (inside or named.is_sweep) else [each]:
            with suppress(OSError, ValueError, OverflowError):  # removed meanwhile, or unreadable
                found.append(read_record(run))
    return sorted(found, key=lambda record: (record.columns["begun"], record.path))


def read_record(run: RunDirectory, with_files: bool = True) -> RunRecord:
    """Return what the files of a run or sweep say. Raises OSError if it is neither.

    `with_files` also compares the files of a finished run with its summary.
    """
    state = "damaged"
    epochs = None
    found = {}
    settings = {}
    when = run.begun
    path = run.path
    problem = None
    if run.is_sweep:
        state = "sweep"
    else:
        with suppress(DctError, ValueError):
            settings = parse_settings(read_inside(run.config, MAX_BYTES).decode())
        try:
            found = read_summary(run) or {}
            if found or isinstance(settings.get("training.seed"), int):
                last = run.checkpoints[:1]
                state = state_of(run, found)
                if with_files and state == "finished":
                    require_its_files(run, found)
                epochs = found["epochs"] if found else epoch_of(last[0]) if last else 0
        except DctError as error:
            state = "damaged"
            problem = str(error)
            found = {}
    scores = found.get("scores", {})
    seconds = found.get("seconds")
    columns = {
        "path": str(path),
        "experiment": found.get("experiment") or settings.get("name"),
        "seed": found.get("seed", settings.get("training.seed")),
        "verdict": verdict(scores) if state == "finished" else state,
        "gates": scores.get("checked", {}).get("active_gates"),
        "epochs": epochs,
        "seconds": seconds and whole(seconds),
        "processor_seconds": seconds and seconds["processor"],
        "attempts": found.get("attempts", {}).get("begun"),
        "wrong_cells": scores.get("checked", {}).get("wrong_cells"),
        "from_step": scores.get("assurance", {}).get("from_step"),
        "state": state,
        "begun": when,
        "age": (datetime.now(UTC) - when).total_seconds(),
        "version": found.get("versions", {}).get("dct"),
        "processor": found.get("cpu", {}).get("name"),
    }
    return RunRecord(path, columns, settings, found or None, problem)


def state_of(run: RunDirectory, summary: Mapping[str, Any] | None) -> State:
    """Return the state of a run with this summary, if any: what lists, pages and sweeps say."""
    if lock.is_held(run.path):
        return "training"
    if summary and summary["finished"]:
        return "finished"
    return "stopped" if run.is_run else "waiting"


def proved_runs(run: Path, config: Config) -> list[tuple[int, float]]:
    """Return epochs and seconds of the earlier runs beside `run` that proved with its settings.

    Looks at the newest `NEIGHBOURS` whose names have the experiment's in them.
    """
    beside = sorted(path for path in run.parent.glob(f"*{escape(config.name)}*") if path != run)
    settings = flat(config.effective())
    found = []
    for path in beside[-NEIGHBOURS:]:
        with suppress(OSError):
            each = read_record(RunDirectory(path), with_files=False)  # each run starts with this
            is_same = all(
                each.settings.get(key) == value for key, value in settings.items() if key != SEED
            )
            if is_same and each.columns["verdict"] in ("proved", ON_PAIRS):
                found.append((each.columns["epochs"], each.columns["seconds"]))
    return found


def parse_settings(text: str) -> dict[str, Any]:
    """Return the values of a configuration's text, by ``section.key``. Raises ValueError.

    Most lines are the same in many runs, so each is parsed once.
    """
    found: dict[str, Any] = {}
    section = ""
    try:
        for part in _LINE.split(text):
            for name, value in _parsed(part).items():
                if isinstance(value, dict):
                    section = f"{name}."
                else:
                    found[section + name] = value
    except ValueError:  # a line of a text or list looks like a key
        return flat(parse_toml(text))
    return found


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Mapping[str, Any]:
    return parse_toml(text)
