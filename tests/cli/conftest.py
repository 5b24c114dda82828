"""Fixtures of the command line's tests: a runner, a tiny experiment and a run of it."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest
from typer.testing import CliRunner

from cli.app import app
from difflogic.library.loaded import Loaded
from difflogic.library.training import train
from difflogic.simplification import passes
from tests.cli.processes import Process, as_options, words_of

TINY = (
    "task.height=4",
    "task.width=4",
    "automaton.channels=2",
    "automaton.steps=2",
    "perception.kernels=2",
    "update.gates=[8,4,2]",
    "finishing.every=100",
    "finishing.from_epoch=200",
    "training.restart_every=700",
)


@pytest.fixture(scope="session")
def tiny() -> str:
    """Options that make the checkerboard tiny."""
    return as_options(TINY)


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three epochs of the tiny checkerboard. Tests must not change it."""
    path = tmp_path_factory.mktemp("trained") / "run"
    train("checkerboard", [*TINY, "training.seed=5", "training.epochs=3"], directory=path)
    return path


@pytest.fixture
def run(trained_run: Path, tmp_path: Path) -> Path:
    """A copy of that run, in the directory where commands run."""
    return shutil.copytree(trained_run, tmp_path / "run")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows its only element."""
    now = [100.0]
    for name in ("monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: now[0])
    return now


class Result(SimpleNamespace):
    """The exit_code, stdout and stderr of a command."""

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def good(self) -> Self:
        """Itself, if the command did what was asked."""
        assert self.exit_code == 0, self.stderr
        return self

    @property
    def failed(self) -> Self:
        """Itself, if the command could not do what was asked: exit code 1."""
        assert self.exit_code == 1, self.stderr
        return self

    @property
    def refusal(self) -> str:
        """The message of a command that refused its input: exit code 2, and no result."""
        assert (self.exit_code, self.stdout) == (2, "")
        assert "Traceback" not in self.stderr
        return self.stderr


@pytest.fixture
def dct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `dct` with the words of a command line inside this process, in a new directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Result:
        result = CliRunner().invoke(
            app, words_of(arguments), prog_name="dct", catch_exceptions=False
        )
        return Result(exit_code=result.exit_code, stdout=result.stdout, stderr=result.stderr)

    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start `dct`, or Python with some `code`, in a process that ends with the test."""
    started: list[Process] = []

    def begin(*words: str, code: str | None = None, **options: Any) -> Process:
        arguments = ["-P", "-m", "cli", *words_of(words)] if code is None else ["-P", "-c", code]
        started.append(Process(*arguments, cwd=tmp_path, **options))
        return started[-1]

    yield begin
    for process in started:
        process.close()


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the trainer by a class with faults on demand, and return the class.

    `before_step(epoch)` runs before each step, and `fails_at` is the epoch whose loss is not
    finite; `needs_compiling` says whether the kernels still have to be compiled.
    """
    from difflogic.experiment import searching, session
    from difflogic.system.errors import TrainingError

    class StagedTrainer(searching.Trainer):
        needs_compiling = False  # type: ignore[assignment]
        fails_at: int | None = None

        @staticmethod
        def before_step(epoch: int) -> None:
            return None

        def step(self) -> searching.StepResult:
            self.before_step(self.epoch)
            if self.epoch == self.fails_at:
                raise TrainingError("the loss is not finite")
            return super().step()

    for module in (session, searching):
        monkeypatch.setattr(module, "Trainer", StagedTrainer)
    monkeypatch.setattr(session, "FINAL_TESTS_SECONDS", 60.0)  # on a busy machine, too
    return StagedTrainer


@pytest.fixture(autouse=True)
def silent_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not announce compilation: it depends on the order of tests."""
    monkeypatch.setattr(passes, "is_compiled", lambda: True)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simplify circuit files like models: they are smaller and quicker."""
    monkeypatch.setattr(Loaded, "trained", True)
