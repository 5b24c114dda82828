"""Runs, searches, sweeps and compilations that are killed at random moments, and gone on with.

Each ends as one that was never killed: the same model, metrics, checkpoint and table.
"""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from tests.difflogic.training.kill import results
from tests.difflogic.training.tiny import GROWING, TINY

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240
MOST_KILLS = 4
"""Of one thing, before it may go on to its end."""

RUN = ("training.epochs=400", "checkpoint.every_epochs=1")
SEARCH = ("training.seed=8", "checkpoint.every_epochs=2", "training.epochs=60")


def run_kills(count: int, kept: Path, seed: int) -> dict:
    """Kill `count` times; count by what was killed."""
    found: dict = {"kills": 0, "failed": 0, "ends": 0}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        whole = _Whole(folder)
        number = 0
        while found["kills"] < count:
            random = Random(f"{seed}-{number}")
            # Compilation takes half a minute each time.
            kind = random.choices(["run", "search", "sweep", "compilation"], [9, 6, 4, 1])[0]
            place = folder / f"killed-{number}"
            place.mkdir()
            kills = 0
            try:
                kills = _kill(kind, place, random, count - found["kills"])
                whole.compare(kind, place)
                found["ends"] += 1
            except Exception:
                found["failed"] += 1
                (kept / f"kill-{seed}-{number}.txt").write_text(f"{kind}\n{traceback.format_exc()}")
                shutil.copytree(place, kept / f"kill-{seed}-{number}", symlinks=True)
            found["kills"] += kills
            found[kind] = found.get(kind, 0) + kills
            shutil.rmtree(place)
            number += 1
            print(found, flush=True)
    return found


class _Whole:
    """What nothing has interrupted, made once, when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "whole"

    def _of(self, kind: str) -> Path:
        place = self._folder / kind
        if not place.exists():
            place.mkdir(parents=True)
            _finish(_command(kind, place), place)
        return place

    def compare(self, kind: str, place: Path) -> None:
        """Raise AssertionError if what was killed has ended otherwise."""
        if kind == "sweep":
            assert _table(place / "sweep") == _table(self._of(kind) / "sweep")
            return
        whole = self._of("search" if kind == "search" else "run")
        assert results(place / "run") == results(whole / "run")
        assert not [path for path in (place / "run").iterdir() if path.name.startswith(".")]


def _command(kind: str, place: Path) -> list[str]:
    """Return what begins a thing, or goes on with it."""
    if kind == "sweep":
        if (place / "sweep" / "sweep.toml").exists():
            return ["sweep", "--dir=sweep", "--quiet", "--workers=2"]
        changes = [f"--set={change}" for change in (*TINY, "training.epochs=300")]
        return [
            "sweep",
            "checkerboard-small",
            "--seeds=0-2",
            "--dir=sweep",
            "--workers=2",
            "--quiet",
            *changes,
        ]
    if (place / "run" / "config.toml").exists():
        return ["train", "--resume=run", "--quiet"]
    name, changes = (
        ("lizard", (*GROWING, *SEARCH))
        if kind == "search"
        else ("checkerboard-small", (*TINY, *RUN))
    )
    return [
        "train",
        name,
        "--recipe=reference",
        "--dir=run",
        "--quiet",
        *(f"--set={c}" for c in changes),
    ]


def _start(words: list[str], place: Path) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if (place / "cache").exists():
        environment["NUMBA_CACHE_DIR"] = str(place / "cache")
    return subprocess.Popen(
        [sys.executable, "-m", "cli", *words],
        cwd=place,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _kill(kind: str, place: Path, random: Random, most: int) -> int:
    """Begin, kill and go on, to the end; return how often it was killed."""
    kills = 0
    if kind == "compilation":
        (place / "cache").mkdir()
    for _ in range(min(most, random.randint(1, MOST_KILLS))):
        process = _start(_command(kind, place), place)
        time.sleep(random.uniform(0, 25 if kind == "compilation" else 6))
        over = process.poll() is not None
        # All of it: a sweep's workers too, or the whole process of a run.
        with_workers = kind == "sweep" and random.random() < 0.5
        if not over and with_workers:
            os.killpg(process.pid, signal.SIGKILL)
        elif not over:
            process.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=SECONDS)
        assert "Traceback" not in err, err
        if over:
            assert process.returncode == 0, err
            break
        kills += 1
        if random.random() < 0.2:
            _damage_latest(place)
    _finish(_command(kind, place), place)
    return kills


def _damage_latest(place: Path) -> None:
    """Cut off the last checkpoint, as a disk that loses what was written last would.

    Not that of a run which has ended: nothing goes on from it any more.
    """
    for run in place.rglob("config.toml"):
        if (run.parent / "summary.json").exists():
            continue
        found = sorted(run.parent.glob("checkpoint-*.npz"), key=lambda p: int(p.stem[11:]))
        if len(found) > 1:
            found[-1].write_bytes(found[-1].read_bytes()[:-100])


def _finish(words: list[str], place: Path) -> None:
    place.mkdir(exist_ok=True)
    process = _start(words, place)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert "Traceback" not in err, err


def _table(sweep: Path) -> list[list[str]]:
    """The sweep's table, without seconds."""
    with (sweep / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [[value for key, value in row.items() if key != "seconds"] for row in rows]
