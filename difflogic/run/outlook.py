"""How long a run usually takes, by earlier runs with its settings, here or behind the pages."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from difflogic.config import Config, load_config, shipped_configs
from difflogic.pictures.picture import picture_directory
from difflogic.run.records import SEED, proved_runs
from difflogic.run.settings import changed

FEW = 3
"""Fewer runs than this say nothing about another one."""

Between = tuple[float, float]


@dataclass(frozen=True)
class Usual:
    """What most proved runs of an experiment took: least and most."""

    epochs: Between
    seconds: Between


def usual(config: Config, run: Path) -> Usual | None:
    """Return what runs of `config` usually take, if that is known.

    Runs beside `run` count, or else, with shipped settings, those that docs/results/runs.csv has.
    """
    return usual_of(proved_runs(run, config)) or _published(config)


def usual_of(runs: Sequence[tuple[float, float]]) -> Usual | None:
    """Return what runs of these epochs and seconds usually take, if they are at least `FEW`."""
    if len(runs) < FEW:
        return None
    return Usual(
        *(_most_of(min(each), median(each), max(each)) for each in zip(*runs, strict=True))
    )


def _most_of(least: float, middle: float, most: float) -> Between:
    return least, min(most, 2 * middle)


def _published(config: Config) -> Usual | None:
    if config.name not in shipped_configs():
        return None
    if set(changed(load_config(config.name), config)) - {SEED, "training.epochs"}:
        return None
    shipped = picture_directory().parent
    file = shipped / "runs.csv"  # in a wheel
    if not file.exists():
        file = shipped.parent / "docs" / "results" / "runs.csv"
    with suppress(OSError), file.open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            if row["name"] == config.name and row["seconds_min"]:  # else not yet measured
                ends = ("_min", "", "_max")
                both = ("epochs", "seconds")
                return Usual(*(_most_of(*(float(row[key + end]) for end in ends)) for key in both))
    return None


UNITS = ((3600, "h"), (60, "min"), (1, "s"))


def in_words(seconds: Between) -> str:
    """Return a range of time as people say it: "9 to 35 s", "2 to 5 min"."""
    size, unit = next((s, u) for s, u in UNITS if seconds[1] >= 2 * s or s == 1)
    low, high = (max(1, round(each / size)) for each in seconds)
    return f"{low} to {high} {unit}" if low < high else f"about {high} {unit}"


def beside_usual(passed: float, seconds: Between) -> str:
    """Return the seconds that have passed, beside those that are usual."""
    if passed <= seconds[1]:
        return f"{passed:.0f} s of usually {in_words(seconds)}"
    return f"{passed:.0f} s, longer than usual"
