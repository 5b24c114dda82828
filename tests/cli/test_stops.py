"""A stop or a fault at any time in any command loses nothing, and blocks nothing.

What it leaves begins again, resumes to the same results, or is refused with what to do; and it can
be removed. docs/reliability.md has the table.
"""

import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from unittest import mock

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from tests.cli.conftest import TINY
from tests.cli.faults import FAULTS, READING, Faults, Killed
from tests.cli.processes import as_options, words_of
from tests.difflogic.experiment.kill import results
from tests.difflogic.identification.automata import film, life, soup
from tests.difflogic.tasks import custom_task
from tests.paths import GALLERY

FLOOD = f"{GALLERY}/flood.json"
BOARD = f"{GALLERY}/checkerboard.json"
PLACE = "--dir=place"
SETTINGS = as_options((*TINY, "training.epochs=2"))
TRAIN = f"train checkerboard {SETTINGS} --quiet"
SWEEP = f"sweep checkerboard {SETTINGS} --seeds=0-1 --workers=1"
SEARCHING = "--set=finishing.every=1 --set=finishing.from_epoch=1"
PAIRS = "1,0,0\n\n0,1,0\n\n0,1,0,0\n\n0,0,1,0\n"

CASES = {
    "train": f"{TRAIN} {SEARCHING} {PLACE}",
    "train --resume": "train --resume=place --epochs=4",
    "train --from": f"{TRAIN} --from=run {PLACE}",
    "train own task": f"train shift.toml --quiet {PLACE}",
    "train-examples": f"train-examples pairs.csv --steps=1 --quiet {PLACE}",
    "sweep": f"{SWEEP} {SEARCHING} {PLACE}",
    "sweep own task": f"sweep shift.toml --seeds=0 --workers=1 {PLACE}",
    "runs rm RUN": "runs rm place --yes",
    "runs rm SWEEP": "runs rm place --yes",
    "export": f"export {FLOOD} --force -o file.v",
    "identify": "identify film.npz --force --effort=low -o file.json",
    "verify": f"verify convergence {BOARD} --force -o file.json",
    "simulate": f"simulate {FLOOD} --steps=4 --size=8x8 --force --save=file.npz",
    "bench": f"bench {SETTINGS} --repeat=2",
}
BEFORE = {
    "train --resume": f"{TRAIN} {PLACE}",
    "train --from": f"{TRAIN} --dir=run",
    "runs rm RUN": f"{TRAIN} {PLACE}",
    "runs rm SWEEP": f"{SWEEP} {PLACE}",
}


def dct(*words: str) -> Any:
    return CliRunner().invoke(app, words_of(words), prog_name="dct", catch_exceptions=False)


class Repeated:
    """A command, each time in a copy of the same directory."""

    operations: list[str]
    fail: Callable[[int, str], str]
    """Lets an operation fail; returns what is wrong then, or nothing."""

    def __init__(self, words: str, root: Path) -> None:
        self._words = words
        self._root = root
        self._template = root / "template"
        self._template.mkdir()

    @contextlib.contextmanager
    def _fresh(self) -> Iterator[Path]:
        with contextlib.chdir(shutil.copytree(self._template, self._root / "trial")):
            yield self._root / "trial"
        shutil.rmtree(self._root / "trial")

    def fail_everywhere(self, fault: str) -> None:
        """Let each operation fail in turn."""
        many = len(self.operations)
        wrong = {at: problem for at in range(many) if (problem := self.fail(at, fault))}
        assert not wrong, f"{len(wrong)} of {many} wrong: {wrong}"


class Trials(Repeated):
    """One of the CASES, stopped in a different way each time."""

    def __init__(self, name: str, root: Path) -> None:
        super().__init__(CASES[name], root)
        self._is_directory = "place" in self._words
        custom_task.write(self._template)
        (self._template / "pairs.csv").write_text(PAIRS)
        frames = film(life, soup(np.random.default_rng(0), (16, 16)), 6)
        np.savez(self._template / "film.npz", frames)
        with contextlib.chdir(self._template):
            assert name not in BEFORE or dct(BEFORE[name]).exit_code == 0
        with self._fresh() as folder, Faults(folder) as faults:
            assert dct(self._words).exit_code == 0
            self.operations, self.whole = faults.done, self._found(folder)

    def fail(self, at: int, fault: str) -> str:
        may_leave = fault == "kill" or self.operations[at] == "unlink"
        return self.stop(lambda folder: Faults(folder, at, fault), may_leave)

    def stop(self, stopping: Any, may_leave: bool = False) -> str:
        """Run the command in the context `stopping`; return what is wrong then, or nothing."""
        with self._fresh() as folder:
            said = ""
            try:
                with stopping(folder):
                    done = dct(self._words)
                said = done.stderr
                if done.exit_code == 0 and self._found(folder) != self.whole:
                    return f"is not done, but exits 0: {said}"
            except Killed:
                pass
            except Exception as error:
                return f"raises {error!r}"
            for named in re.findall(r"--resume (\S+)", said):
                if not (folder / named / "config.toml").is_file():
                    return f"names {named}, which is no run: {said}"
            if not self._is_directory and not may_leave and list(folder.glob(".dct-*")):
                return f"leaves {os.listdir(folder)}"
            return self._unremovable(folder / "place") or self._lost(folder)

    def _unremovable(self, place: Path) -> str:
        if not place.exists() or not any(place.iterdir()):
            return ""
        copy = shutil.copytree(place, "copy")
        said = dct("runs rm copy --yes").stderr
        return f"cannot be removed: {said}" if Path(copy).exists() else ""

    def _lost(self, folder: Path) -> str:
        left = self._found(folder)
        if not self._is_directory and left not in (None, self.whole):
            return "leaves half a file"
        if self._words.startswith("runs") and left is None:
            return ""
        done = dct(self._words)
        if "--resume" in done.stderr:
            done = dct("train --resume=place")
        return "" if self._found(folder) == self.whole else f"is lost: {done.stderr}"

    def _found(self, folder: Path) -> Any:
        """Return what is there in the end: a file, or the results of all runs."""
        files = [path.read_bytes() for path in folder.glob("file.*")]
        runs = sorted(path.parent for path in (folder / "place").rglob("summary.json"))
        if self._words.startswith("train-examples"):
            # What other ways learned may stay beside the best.
            runs = [each for each in runs if each.name == "place"]
            scores = [json.loads((run / "summary.json").read_text())["scores"] for run in runs]
            return [each["right_pairs"] for each in scores]
        return files or {run.name: results(run) for run in runs} or None


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function that makes each Repeated once, of its class and name."""
    return cache(lambda kind, name: kind(name, tmp_path_factory.mktemp("trials")))


@pytest.mark.once
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("sweep", "bench")])
def test_a_fault_or_a_kill_at_a_few_file_operations(name, tried):
    trials = tried(Trials, name)
    many = len(trials.operations)
    points = {"kill": 0.3, "ENOSPC": 0.75} if many else {}
    found = {fault: trials.fail(int(points[fault] * many), fault) for fault in points}
    assert not any(found.values()), found


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CASES)
def test_a_fault_or_a_kill_at_every_file_operation(name, fault, tried):
    tried(Trials, name).fail_everywhere(fault)


RESUME = "train --resume=place --epochs=4 --quiet"
READ = {
    "train --resume": (RESUME, f"{TRAIN} {PLACE}"),
    "train --resume from a model": (RESUME, f"{TRAIN} {SEARCHING} --from=run {PLACE}"),
    "sweep --dir": ("sweep --dir=place --workers=1", f"{SWEEP} {PLACE}"),
    "sweep --seeds": ("sweep --dir=place --seeds=2 --workers=1", f"{SWEEP} {PLACE}"),
    "eval": ("eval place", f"{TRAIN} {PLACE}"),
    "runs": ("runs . --all", f"{SWEEP} {PLACE}"),
    "runs show": ("runs show place", f"{TRAIN} {PLACE}"),
    "runs show last": ("runs show last", TRAIN),
    "runs rm": ("runs rm place --yes", f"{TRAIN} {PLACE}"),
    "runs rm SWEEP": ("runs rm place --yes", f"{SWEEP} {PLACE}"),
    "simplify": ("simplify place -o small.json", f"{TRAIN} {PLACE}"),
    "report": ("report place -o page.html", f"{TRAIN} {PLACE}"),
}
"""What reads runs, after what made them."""
LOST = "went back|starts again|starts at epoch 0|made again|restored|set-aside|damaged|as shipped"
"""What must not be said of a file only because it cannot be read now."""


class ReadTrials(Repeated):
    """One of the commands of READ, with a read that fails."""

    def __init__(self, name: str, root: Path) -> None:
        words, before = READ[name]
        super().__init__(words, root)
        with contextlib.chdir(self._template):
            if "--from=run" in before:
                assert dct(f"{TRAIN} --dir=run").exit_code == 0
            assert dct(before).exit_code == 0
        with self._fresh() as folder, Faults(folder, reading=True) as faults:
            self.shown = self._plain(dct(self._words))
            self.operations = faults.done
            self.whole = self._tree(folder)

    def _plain(self, done: Any) -> str:
        assert done.exit_code == 0, done.stderr
        return " ".join(re.sub(r"[0-9.]+ (s|min)\b|[0-9:]+ %|seconds.*", "", done.stdout).split())

    def _tree(self, folder: Path) -> dict[str, Any]:
        """Return what must be equal in the end: results of runs, and other files' names."""
        runs = sorted(path.parent for path in folder.rglob("summary.json"))
        found: dict[str, Any] = {str(run.relative_to(folder)): results(run) for run in runs}
        names = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        return {**found, "names": sorted(name for name in names if "/.lock" not in name)}

    def fail(self, at: int, fault: str) -> str:
        with self._fresh() as folder:
            kept = {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json")}
            try:
                with Faults(folder, at, fault, reading=True):
                    done = dct(self._words)
            except Exception as error:
                return f"raises {error!r}"
            said = done.stdout + done.stderr
            if done.exit_code == 0:
                if found := re.search(LOST, done.stderr):
                    return f"exits 0 and says {found[0]}: {said}"
                shown = self._plain(done)
                whole = shown == self.shown or not self._words.startswith(("runs", "eval"))
                return "" if whole and self._tree(folder) == self.whole else f"exits 0: {said}"
            if "cannot be" not in said and "EMFILE" not in said:
                return f"does not say what cannot be read: {said}"
            if found := re.search(LOST, said):
                return f"says {found[0]}: {said}"
            if self._words.startswith("runs rm"):
                return "" if not (folder / "place").exists() or self._again(folder) else said
            if lost := [path for path in kept if not path.exists()]:
                return f"lost {lost}: {said}"
            return "" if self._again(folder) else f"is not the same afterwards: {said}"

    def _again(self, folder: Path) -> bool:
        done = dct(self._words)
        if "exists already" in done.stderr:
            return True
        return done.exit_code == 0 and self._tree(folder) == self.whole


@pytest.mark.thorough
@pytest.mark.parametrize("name", READ)
def test_a_read_that_fails_at_a_few_points_loses_nothing(name, tried):
    trials = tried(ReadTrials, name)
    many = len(trials.operations)
    number = [*READ].index(name)  # other places and faults for each command
    found = {
        fault: trials.fail((number + many * part) // 3 % many, fault)
        for part, fault in enumerate(READING)
        if part != number % 3
    }
    assert not any(found.values()), found


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", READING)
@pytest.mark.parametrize("name", READ)
def test_a_read_that_fails_at_any_point_loses_nothing(name, fault, tried):
    tried(ReadTrials, name).fail_everywhere(fault)


@contextlib.contextmanager
def pressed(place: str) -> Iterator[None]:
    """Let Ctrl-C come as a function is called for the first time."""
    times = iter([signal.SIGINT])
    real = resolve_name(place)

    def call(*arguments: Any, **more: Any) -> Any:
        for number in times:
            signal.raise_signal(number)
        return real(*arguments, **more)

    with mock.patch(place, call):
        yield


_RUN = "difflogic.run.opened_run.OpenedRun"
_TRAINER = "difflogic.experiment.searching.Trainer"
OF_RUN = {
    "before the first epoch": f"{_RUN}.begin",
    "in an epoch": f"{_TRAINER}.step",
    "in a search": f"{_TRAINER}.search",
    "in final tests": "difflogic.experiment.session.summarize",
    "while saving": f"{_RUN}.save_checkpoint",
}
WRITING = "difflogic.system.files.write_whole"
STOPS = {
    "train": OF_RUN,
    "train-examples": OF_RUN,
    "sweep": OF_RUN,
    "identify": {
        "in a search": "difflogic.identification.explanation.identify",
        "while saving": WRITING,
    },
    "verify": {"in a search": "difflogic.library.proving.decide", "while saving": WRITING},
    "simulate": {"in an epoch": "difflogic.library.simulating.load"},
    "bench": {"in an epoch": f"{_TRAINER}.step"},
    "export": {"while saving": WRITING},
}


@pytest.mark.once
@pytest.mark.parametrize(("name", "when"), [(a, b) for a, found in STOPS.items() for b in found])
def test_the_table_of_stops(name, when, tried):
    place = STOPS[name][when]
    assert tried(Trials, name).stop(lambda folder: pressed(place)) == ""
