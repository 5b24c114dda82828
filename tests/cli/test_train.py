"""`dct train-checkerboard` inside this process: what it shows, writes, survives and refuses."""

from __future__ import annotations

import csv
import os
import signal
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli import train
from difflogic.config import load_config
from difflogic.errors import RunDirectoryError
from difflogic.model import Model
from difflogic.training.metrics import COLUMNS
from difflogic.training.run_directory import RunDirectory

Dct = Callable[..., Any]

FILES = {"config.toml", "metrics.csv", "model.npz", "summary.json"}


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def only_run() -> Path:
    (path,) = Path("runs").iterdir()
    return path


@pytest.fixture
def train_tiny(dct: Dct, tiny: list[str]) -> Dct:
    """Run `dct train-checkerboard --small` with next to nothing to train."""

    def run(*arguments: str) -> Any:
        return dct("train-checkerboard", "--small", *(f"--set={x}" for x in tiny), *arguments)

    return run


@pytest.mark.usefixtures("staged")
class TestRun:
    """A run that goes well."""

    def test_leaves_a_run_directory_of_its_own(self, train_tiny: Dct) -> None:
        for _ in range(2):
            assert train_tiny("--epochs", "3").exit_code == 0
        runs = list(Path("runs").iterdir())
        assert len(runs) == 2
        for run in runs:
            assert "checkerboard-small" in run.name
            assert files(run) == FILES

    def test_writes_exactly_where_it_is_told(self, train_tiny: Dct) -> None:
        result = train_tiny("--epochs", "3", "--run-dir", "a/b")
        assert result.exit_code == 0
        assert files(Path("a/b")) == FILES
        assert not Path("runs").exists()
        assert "a/b" in result.stdout

    def test_flags_go_before_set_and_set_before_the_file(
        self, train_tiny: Dct, tiny: list[str]
    ) -> None:
        options = ["--set", "training.epochs=9", "--set", "training.batch=3", "--epochs", "2"]
        result = train_tiny(*options, "--seed", "5", "--workers", "3")
        assert result.exit_code == 0
        written = tomllib.loads((only_run() / "config.toml").read_text())
        expected = load_config(
            "checkerboard-small",
            [
                *tiny,
                "training.epochs=2",
                "training.batch=3",
                "training.seed=5",
                "parallel.workers=3",
            ],
        )
        assert written == expected.to_dict()

    def test_its_config_runs_it_again(self, dct: Dct, train_tiny: Dct) -> None:
        train_tiny("--epochs", "2", "--run-dir", "first")
        result = dct("train-checkerboard", "--config", "first/config.toml", "--run-dir", "second")
        assert result.exit_code == 0
        first, second = (Path(run, "config.toml").read_text() for run in ("first", "second"))
        assert first == second

    def test_metrics_have_a_row_per_epoch(self, train_tiny: Dct) -> None:
        train_tiny("--epochs", "4")
        with (only_run() / "metrics.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        assert tuple(header) == COLUMNS
        assert [row[0] for row in rows] == ["1", "2", "3", "4"]
        seconds = dict(zip(header, rows[2], strict=True))
        for phase in ("sample", "forward", "backward", "optimizer", "hard", "other"):
            assert 0 < float(seconds[f"{phase}_seconds"]) < 1

    def test_the_model_can_be_loaded(self, train_tiny: Dct) -> None:
        train_tiny("--epochs", "1", "--seed", "4")
        assert Model.load(only_run() / "model.npz").config.training.seed == 4

    def test_results_go_to_stdout_and_progress_to_stderr(self, train_tiny: Dct) -> None:
        result = train_tiny("--epochs", "3")
        assert "phase" in result.stdout
        assert "next " in result.stdout
        assert "epoch" in result.stderr
        assert "epochs/s" in result.stderr
        assert "epochs/s" not in result.stdout

    def test_quiet_shows_no_progress(self, train_tiny: Dct) -> None:
        result = train_tiny("--epochs", "3", "--quiet")
        assert result.stderr == ""
        assert "phase" in result.stdout

    def test_json_prints_the_summary_alone(self, train_tiny: Dct) -> None:
        result = train_tiny("--epochs", "3", "--json", "--seed", "8", "--workers", "2")
        summary = result.json
        assert summary["run_directory"] == str(only_run())
        assert summary["seed"] == 8
        assert summary["epochs"] == summary["epochs_requested"] == 3
        assert summary["interrupted"] is False
        assert summary["workers"] == 2
        assert set(summary["versions"]) == {"python", "numpy", "numba", "joblib", "dct"}
        assert summary["cpu"]["name"]
        assert summary["scores"]["held_out"]["starts"] == 4
        assert summary["scores"]["best_epoch"] in (1, 2, 3)
        assert summary["seconds"]["compilation"] > 0
        assert summary["seconds"]["phases"]["forward"] > 0

    def test_a_warm_start_does_not_speak_of_compiling(self, train_tiny: Dct) -> None:
        assert "compil" not in train_tiny("--epochs", "1").stderr


def test_a_cold_start_announces_that_it_compiles(train_tiny: Dct, staged: Any) -> None:
    staged.cold = True
    result = train_tiny("--epochs", "1")
    assert "compiling the kernels, once" in result.stderr
    assert "compil" not in train_tiny("--epochs", "1", "--quiet").stderr


class TestInterruption:
    """Ctrl-C."""

    def test_finishes_the_step_saves_and_exits_130(self, train_tiny: Dct, staged: Any) -> None:
        staged.before_step = staticmethod(
            lambda epoch: os.kill(os.getpid(), signal.SIGINT) if epoch == 4 else None
        )
        result = train_tiny("--epochs", "100")

        assert result.exit_code == 130
        assert "interrupted after epoch 5 of 100" in result.stderr
        assert str(only_run()) in result.stderr
        assert files(only_run()) == FILES
        assert len((only_run() / "metrics.csv").read_text().splitlines()) == 6
        assert "--config" in result.stdout

    def test_json_tells_of_it(self, train_tiny: Dct, staged: Any) -> None:
        staged.before_step = staticmethod(lambda epoch: os.kill(os.getpid(), signal.SIGINT))
        result = train_tiny("--epochs", "100", "--json")
        assert result.exit_code == 130
        assert result.json["interrupted"] is True
        assert result.json["epochs"] == 1

    def test_a_second_one_while_saving_changes_nothing(
        self, train_tiny: Dct, staged: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        staged.before_step = staticmethod(lambda epoch: os.kill(os.getpid(), signal.SIGINT))
        save = Model.save

        def slow_save(self: Model, path: Path) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            save(self, path)
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(Model, "save", slow_save)
        assert train_tiny("--epochs", "100").exit_code == 130
        assert files(only_run()) == FILES
        assert Model.load(only_run() / "model.npz")

    def test_while_compiling_it_stops_at_once(
        self, train_tiny: Dct, staged: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def warm_up(self: Any) -> float:
            raise KeyboardInterrupt

        monkeypatch.setattr(staged, "warm_up", warm_up)
        result = train_tiny()
        assert result.exit_code == 130
        assert "interrupted" in result.stderr
        assert not list(Path("runs").iterdir())


class TestFailure:
    """A run that cannot go on."""

    def test_a_loss_that_is_not_finite_keeps_the_history(
        self, train_tiny: Dct, staged: Any
    ) -> None:
        staged.fails_at = 3
        result = train_tiny("--epochs", "100")
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "error: the loss is not finite" in result.stderr
        assert "metrics.csv" in result.stderr
        assert "Traceback" not in result.stderr
        assert files(only_run()) == {"config.toml", "metrics.csv"}
        assert len((only_run() / "metrics.csv").read_text().splitlines()) == 4

    def test_in_the_first_step_it_leaves_nothing(self, train_tiny: Dct, staged: Any) -> None:
        staged.fails_at = 0
        assert train_tiny().exit_code == 1
        assert not list(Path("runs").iterdir())

    def test_a_disk_that_fills_up_is_told(
        self, train_tiny: Dct, staged: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(self: RunDirectory, model: Model) -> None:
            raise RunDirectoryError("model.npz: cannot be written: no space left")

        monkeypatch.setattr(RunDirectory, "write_model", full)
        result = train_tiny("--epochs", "2")
        assert result.exit_code == 1
        assert "error: model.npz: cannot be written: no space left" in result.stderr
        assert "Traceback" not in result.stderr
        assert "held out" in result.stdout
        assert files(only_run()) == {"config.toml", "metrics.csv", "summary.json"}

    def test_a_save_that_fails_on_the_way_does_not_end_the_run(
        self, train_tiny: Dct, staged: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write, failures = RunDirectory.write_model, [True]

        def full_at_first(self: RunDirectory, model: Model) -> Path:
            if failures:
                failures.clear()
                raise RunDirectoryError("model.npz: cannot be written: no space left")
            return write(self, model)

        monkeypatch.setattr(RunDirectory, "write_model", full_at_first)
        monkeypatch.setattr("cli.train.SAVE_SECONDS", 0.0)
        result = train_tiny("--epochs", "3")
        assert result.exit_code == 0
        assert "warning: model.npz: cannot be written: no space left" in result.stderr
        assert len(files(only_run())) == 4


@pytest.mark.usefixtures("staged")
class TestRefusal:
    """What is found out before anything is compiled."""

    @pytest.fixture(autouse=True)
    def _never_train(self, staged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(self: Any, config: Any) -> None:
            raise AssertionError("the trainer was made")

        monkeypatch.setattr(staged, "__init__", refuse)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--set", "training.epoch=3"], 'did you mean "epochs"?'),
            (["--set", "update.gates=[4,8]"], "2"),
            (["--config", "checkerboard"], "--small and --config both choose"),
            (["--seed", str(2**63)], "[training] seed"),
        ],
    )
    def test_of_a_bad_config(self, train_tiny: Dct, arguments: list[str], message: str) -> None:
        result = train_tiny(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")
        assert message in result.stderr
        assert not Path("runs").exists()

    def test_of_a_directory_that_holds_something(self, train_tiny: Dct) -> None:
        Path("mine").mkdir()
        Path("mine/thesis.txt").write_text("all my work")
        result = train_tiny("--run-dir", "mine")
        assert result.exit_code == 2
        assert "mine" in result.stderr
        assert files(Path("mine")) == {"thesis.txt"}

    def test_of_a_file_as_directory(self, train_tiny: Dct) -> None:
        Path("mine").write_text("all my work")
        assert train_tiny("--run-dir", "mine").exit_code == 2
        assert train_tiny("--run-dir", "mine/run").exit_code == 2
        assert Path("mine").read_text() == "all my work"

    def test_of_a_directory_that_cannot_be_written(
        self, train_tiny: Dct, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(self: RunDirectory, config: Any) -> None:
            raise RunDirectoryError("mine: cannot be written")

        monkeypatch.setattr(RunDirectory, "write_config", refuse)
        Path("mine").mkdir()
        assert train_tiny("--run-dir", "mine").exit_code == 2
        assert Path("mine").is_dir()
        assert train_tiny("--run-dir", "new").exit_code == 2
        assert not Path("new").exists()


def test_a_long_run_is_saved_on_the_way(
    train_tiny: Dct, staged: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "SAVE_SECONDS", 0.0)
    lengths = []

    def look(epoch: int) -> None:
        if epoch:
            assert files(only_run()) == {"config.toml", "metrics.csv", "model.npz"}
            lengths.append(len((only_run() / "metrics.csv").read_text().splitlines()) - 1)

    staged.before_step = staticmethod(look)
    assert train_tiny("--epochs", "4").exit_code == 0
    assert lengths == [1, 2, 3]
