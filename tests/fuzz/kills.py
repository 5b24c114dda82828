"""Kills runs, searches, sweeps, ranks and compilations at random moments.

Each is resumed, and must end like one that was never killed: the same model, metrics, checkpoint
and table. Where possible it starts as a fork of a process that has imported everything; some forks
have a clock that goes back.
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
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from difflogic.training.session import execute
from tests.cli.processes import end_session, of_session
from tests.difflogic.training.kill import killing, results
from tests.difflogic.training.tiny import GROWING, TINY, growing, tiny
from tests.fuzz.commands import be_the_command, import_everything

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600
KINDS = {"run": 9, "search": 6, "sweep": 6, "ranks": 4, "compilation": 1}
"""Weights of the random choice."""
FORKED = ("run", "search", "sweep")
MOST_KILLS = 8
"""Kills of one run, before it may end."""

MOST = 800
"""Calls of a run that write, flush, rename or remove files."""

RUN = ("training.epochs=150", "checkpoint.every_epochs=1")
SEARCH = ("training.seed=8", "checkpoint.every_epochs=2", "training.epochs=60")


def run_kills(count: int, kept: Path, seed: int) -> dict:
    """Kill `count` times; return counts by what was killed."""
    found: dict = {"kills": 0, "failed": 0, "ends": 0}
    import_everything()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        # Forks inherit the kernels that are loaded here. One worker is this thread.
        execute(tiny("training.epochs=2"), folder / "tiny")
        execute(growing(*SEARCH), folder / "growing")
        whole = _Whole(folder)
        number = 0
        while found["kills"] < count:
            random = Random(f"{seed}-{number}")
            # Compilation takes half a minute each time.
            kind = random.choices(list(KINDS), list(KINDS.values()))[0]
            place = folder / f"killed-{number}"
            place.mkdir()
            try:
                _kill(kind, place, random, found, count - found["kills"])
                whole.compare(kind, place)
                found["ends"] += 1
            except Exception:
                found["failed"] += 1
                (kept / f"kill-{seed}-{number}.txt").write_text(f"{kind}\n{traceback.format_exc()}")
                shutil.copytree(place, kept / f"kill-{seed}-{number}", symlinks=True)
            shutil.rmtree(place)
            number += 1
            print(found, flush=True)
    return found


class _Whole:
    """Uninterrupted results, each made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "whole"

    def _of(self, kind: str) -> Path:
        place = self._folder / kind
        if not place.exists():
            place.mkdir(parents=True)
            _finish(kind, place)
        return place

    def compare(self, kind: str, place: Path) -> None:
        """Raise AssertionError if a killed one ended differently."""
        if kind == "sweep":
            assert _table(place / "sweep") == _table(self._of(kind) / "sweep")
            return
        whole = self._of("search" if kind == "search" else "run")
        assert results(place / "run") == results(whole / "run")
        assert not [path for path in (place / "run").iterdir() if path.name.startswith(".")]


def _command(kind: str, place: Path, random: Random | None = None) -> list[str]:
    """Return the words that start or resume it, with 1 or 2 workers or ranks by `random`."""
    several = random.choice([1, 2]) if random else 1
    if kind == "sweep":
        if (place / "sweep" / "sweep.toml").exists():
            return ["sweep", "--dir=sweep", "--quiet", f"--workers={several}"]
        changes = [f"--set={change}" for change in (*TINY, "training.epochs=100")]
        question = ["checkerboard-small", "--seeds=0-2", *changes]
        return ["sweep", *question, "--dir=sweep", f"--workers={several}", "--quiet"]
    ranks = [f"--ranks={several}", "--oversubscribe"] if kind == "ranks" else []
    if (place / "run" / "config.toml").exists():
        return ["train", "--resume=run", "--quiet", *ranks]
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
        *ranks,
        *(f"--set={c}" for c in changes),
    ]


class _Fork:
    """A command in a fork of this process, which leads a session. It is used like a `Popen`."""

    def __init__(self, words: list[str], place: Path, days: int = 0, point: int = 10**9) -> None:
        """Set its clock `days` back, and by another second at each call of the clock.

        It kills itself before its `point`-th call that writes.
        """
        self._err, self._code = place / "err", None
        self.pid = os.fork()
        if self.pid == 0:
            if days:
                _set_clock_back(days)
            with killing(point):
                be_the_command(words, place, place / "out", self._err)

    def poll(self) -> int | None:
        if self._code is None and (found := os.waitpid(self.pid, os.WNOHANG))[0]:
            self._code = os.waitstatus_to_exitcode(found[1])
        return self._code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def communicate(self, *, timeout: float) -> tuple[None, str]:
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                end_session(self.pid)
                raise TimeoutError(f"it did not end within {timeout} s")
            time.sleep(0.01)
        return None, self._err.read_text() if self._err.exists() else ""


def _set_clock_back(days: int) -> None:
    from difflogic.training import finding, run_directory

    real, calls = time.time, [0]

    def ago() -> float:
        calls[0] += 1
        return days * 86400 + calls[0]

    class Back(datetime):
        @classmethod
        def now(cls, zone: Any = None) -> datetime:
            return datetime.now(zone) - timedelta(seconds=ago())

    time.time = lambda: real() - ago()
    finding.datetime = run_directory.datetime = Back  # type: ignore[misc]


def _start(kind: str, words: list[str], place: Path, **how: int) -> subprocess.Popen | _Fork:
    """Start a command: in a fork, unless it must compile, or MPI must find it."""
    if kind in FORKED:
        return _Fork(words, place, **how)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if kind == "compilation":
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


def _kill(kind: str, place: Path, random: Random, found: dict, most: int) -> None:
    """Start, kill and resume until the end; count the kills."""
    if kind == "compilation":
        (place / "cache").mkdir()
    stretches = random.randint(1, 2 if kind == "compilation" else MOST_KILLS)
    for number in range(min(most, stretches)):
        how: dict = {}
        if kind in FORKED and random.random() < 0.25:
            how["days"] = number + 1  # each stretch begins before the last one
        if kind in FORKED and random.random() < 0.7:
            how["point"] = random.randrange(random.choice([20, MOST]))
        process = _start(kind, _command(kind, place, random), place, **how)
        if "point" in how:
            process.communicate(timeout=SECONDS)
        else:
            time.sleep(random.uniform(0, {"compilation": 25, "ranks": 12}.get(kind, 4)))
        over = process.poll() is not None
        if not over:
            _kill_some(kind, process, random)
        _, err = process.communicate(timeout=SECONDS)
        assert "Traceback" not in err, err
        if process.poll() == 0:
            break
        assert not over or process.poll() == -signal.SIGKILL, err
        for what in ("kills", kind, *(["clock set back"] if "days" in how else [])):
            found[what] = found.get(what, 0) + 1
        if random.random() < 0.2:
            _damage_latest(place)
    _finish(kind, place, random)


def _kill_some(kind: str, process: subprocess.Popen | _Fork, random: Random) -> None:
    """Kill the process, or its whole session, or one of the ranks and their launcher."""
    if kind == "ranks" and random.random() < 0.7:
        with suppress(ProcessLookupError, IndexError):
            os.kill(random.choice(of_session(process.pid)), signal.SIGKILL)
    elif kind in ("sweep", "ranks") and random.random() < 0.5:
        end_session(process.pid)
    else:
        process.send_signal(signal.SIGKILL)


def _damage_latest(place: Path) -> None:
    """Truncate the last checkpoint, like a disk that loses the last writes.

    Runs that have ended are left alone, since they do not resume.
    """
    for run in place.rglob("config.toml"):
        if (run.parent / "summary.json").exists():
            continue
        found = sorted(run.parent.glob("checkpoint-*.npz"), key=lambda p: int(p.stem[11:]))
        if len(found) > 1:
            found[-1].write_bytes(found[-1].read_bytes()[:-100])


def _finish(kind: str, place: Path, random: Random | None = None) -> None:
    place.mkdir(exist_ok=True)
    process = _start(kind, _command(kind, place, random), place)
    _, err = process.communicate(timeout=SECONDS)
    assert process.poll() == 0, err
    assert "Traceback" not in err, err


def _table(sweep: Path) -> list[list[str]]:
    """Return the sweep's table without its times."""
    with (sweep / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [[row[key] for key in row if "seconds" not in key] for row in rows]
