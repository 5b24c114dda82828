"""`dct train` and its shortcuts: output, files, interruption, resuming and refusals."""

import csv
import json
import shutil
import signal
from pathlib import Path

import pytest

from cli.terminal import output
from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.errors import RunDirectoryError
from tests.cli.conftest import TINY
from tests.cli.processes import as_options

FILES = {"config.toml", "metrics.csv", "model.npz", "summary.json"}


def files(directory):
    """Return the names of all files except checkpoints."""
    return {path.name for path in directory.iterdir() if not path.match("checkpoint-*.npz")}


def read_metrics(run):
    with (run / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def only_run():
    (path,) = Path("runs").iterdir()
    return path


@pytest.fixture
def train_tiny(dct, tiny):
    """Run `dct train-checkerboard --small` on a tiny problem."""

    def run(*arguments):
        return dct(f"train-checkerboard --small {tiny}", *arguments)

    return run


def interrupt_at(epoch):
    """Return a function that sends Ctrl-C before the step of that epoch."""
    return staticmethod(lambda now: signal.raise_signal(signal.SIGINT) if now == epoch else None)


# A successful run


def test_a_run_writes_all_files(train_tiny, staged):
    summary = train_tiny("--epochs=3 --json --seed=8 --workers=2").json
    run = only_run()
    assert "checkerboard-small" in run.name
    assert files(run) == FILES
    assert summary.pop("run_directory") == str(run)
    assert summary == json.loads((run / "summary.json").read_text())
    assert (summary["seed"], summary["workers"], summary["interrupted"]) == (8, 2, False)
    assert summary["epochs"] == summary["epochs_requested"] == 3
    assert len(read_metrics(run)) == 3
    assert Model.load(run / "model.npz").config.training.seed == 8


def test_results_go_to_stdout_and_progress_to_stderr(train_tiny, staged):
    staged.needs_compiling = True
    shown = train_tiny("--epochs=3 --dir=a/b")
    assert files(Path("a/b")) == FILES
    assert not Path("runs").exists()
    assert "█ training " in shown.stdout
    assert "hard evaluation" in train_tiny("--epochs=3 --timings").stdout
    assert "tested     " in shown.stdout
    assert "\nnext " in shown.stdout
    assert "a/b" in shown.stdout
    assert "epochs/s" not in shown.stdout
    assert "learning epoch 1 of 3" in shown.stderr
    assert "final tests, after epoch 3" in shown.stderr
    assert "epochs/s" in shown.stderr
    assert "compiling the kernels for float32, once" in shown.stderr
    assert "\x1b" not in shown.stdout + shown.stderr
    quiet = train_tiny("--epochs=3 --quiet")
    assert quiet.stderr == ""
    assert "phase" not in quiet.stdout
    assert "next " in quiet.stdout


# Ctrl-C while training


def test_ctrl_c_finishes_the_step_saves_and_exits_130(train_tiny, staged, monkeypatch):
    monkeypatch.setattr(output, "fold", lambda line, _: f"{line} ")
    staged.before_step = interrupt_at(4)
    result = train_tiny("--epochs 100")
    assert result.exit_code == 130
    assert "interrupted after epoch 5 of 100" in result.stderr
    assert f"{only_run()} " in result.stderr
    assert files(only_run()) == FILES
    assert len(read_metrics(only_run())) == 5
    assert f"dct train --resume {only_run()} " in result.stdout
    assert [path.name for path in RunDirectory(only_run()).checkpoints] == [
        "checkpoint-5.npz",
        "checkpoint-0.npz",
    ]


def test_a_second_signal_while_saving_changes_nothing(train_tiny, staged, monkeypatch):
    staged.before_step = interrupt_at(0)
    save = Model.save

    def slow_save(self, path):
        signal.raise_signal(signal.SIGINT)
        save(self, path)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Model, "save", slow_save)
    result = train_tiny("--epochs 100 --json")
    assert result.exit_code == 130
    assert (result.json["interrupted"], result.json["epochs"]) == (True, 1)
    assert files(only_run()) == FILES
    assert Model.load(only_run() / "model.npz")


class TestRefusal:
    """Input errors are found before anything is compiled."""

    @pytest.fixture(autouse=True)
    def _never_train(self, staged, monkeypatch):
        monkeypatch.setattr(staged, "__init__", lambda *_: pytest.fail("the trainer was made"))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("checkerboard", "--small and checkerboard both choose"),
            ("--dir mine", "mine: is not empty"),
            ("--dir mine/thesis.txt", "mine/thesis.txt"),
            ("--from mine/thesis.txt", "mine/thesis.txt"),
            ("--resume last", "runs: has no run"),
        ],
    )
    def test_a_bad_config_or_directory(self, train_tiny, arguments, message):
        Path("mine").mkdir()
        Path("mine/thesis.txt").write_text("all my work")
        refusal = train_tiny(arguments).refusal
        assert refusal.startswith("error: ")
        assert message in refusal
        assert not Path("runs").exists()
        assert files(Path("mine")) == {"thesis.txt"}
        assert Path("mine/thesis.txt").read_text() == "all my work"

    def test_a_directory_that_cannot_be_written(self, train_tiny, monkeypatch):
        def refuse(self, path, text):
            raise RunDirectoryError("mine: cannot be written")

        monkeypatch.setattr(RunDirectory, "write", refuse)
        Path("mine").mkdir()
        assert train_tiny("--dir mine").refusal
        assert Path("mine").is_dir()
        assert train_tiny("--dir new").refusal
        assert not Path("new").exists()


# `--resume`, on every command


@pytest.fixture
def stopped(train_tiny, staged):
    """A run of 9 epochs that was stopped after 5."""
    staged.before_step = interrupt_at(4)
    assert train_tiny("--epochs 9 --seed 3").exit_code == 130
    staged.before_step = staticmethod(lambda epoch: None)
    return only_run()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["train"], "last"),
        (["train-checkerboard"], None),
        (["train", "--seed=3", "--epochs=9"], "last"),
        (["train-checkerboard", "--small", as_options(TINY)], None),
    ],
)
def test_a_stopped_run_continues(dct, stopped, command, name):
    result = dct(*command, "--resume", name or str(stopped), "--json").good
    assert "resumed at epoch 5 of 9" in result.stderr
    assert result.json["run_directory"] == str(stopped)
    assert (result.json["epochs"], result.json["resumed"]) == (9, 1)
    assert len(read_metrics(stopped)) == 9


def test_a_finished_run_is_shown_again_or_extended(dct, stopped):
    dct("train --resume last")
    again = dct("train --resume last --json").good
    assert "finished already, after 9 epochs: --epochs above 9 extends it" in again.stderr
    assert again.json["epochs"] == 9
    longer = dct("train --resume last --json --epochs 12").good
    assert (longer.json["epochs"], longer.json["resumed"]) == (12, 2)
    assert load_config(stopped / "config.toml").training.epochs == 12
    refusal = dct("train --resume last --epochs 10").refusal
    assert "is a run of 12 epochs, which is more than 10" in refusal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train --resume last --seed 4", "training.seed: 3 → 4"),
        ("train --resume last --dir x", "leave --dir out"),
        ("train --resume nowhere", "nowhere: no such run directory: the newest of runs is"),
        ("eval lst", "lst: no such run or file: did you mean last?"),
        ("train --resume runs", "runs: holds no run, as it has no config.toml"),
        ("train --resume mine.json", "mine.json: is not a run directory, but a file"),
        ("train checkerboard --resume last", "update.gates: [8, 4, 2] → [256, "),
        ("train-gol --resume last", 'checkerboard-small is of kind "checkerboard"'),
    ],
)
def test_what_cannot_be_resumed(dct, stopped, words, message):
    Path("mine.json").touch()
    assert message in dct(words).refusal


# The configuration of each command


@pytest.fixture
def config_of(dct, monkeypatch):
    """Return the configuration that a command would train."""
    from difflogic.library import training

    def run(*arguments):
        found = []

        def train(config, **_):
            found.append(config)
            raise KeyboardInterrupt

        monkeypatch.setattr(training, "train", train)
        result = dct(*arguments)
        assert result.exit_code == 130, result.stderr
        return found[0]

    return run


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("train lizard", "lizard"),
        ("train-checkerboard", "checkerboard-tough"),
        ("train-checkerboard --small", "checkerboard-small"),
        ("train-checkerboard --async", "checkerboard-tough-async"),
        ("train-gol", "game-of-life"),
        ("train-gol --small", "game-of-life-small"),
        ("train-pattern", "lizard"),
        ("train-pattern letter-g", "letter-g"),
        ("train-pattern --colors=3", "letter-g"),
    ],
)
def test_shipped_experiments(config_of, arguments, name):
    assert config_of(arguments) == load_config(name)


def test_a_small_asynchronous_checkerboard(config_of):
    config = config_of("train-checkerboard --small --async").to_dict()
    expected = load_config("checkerboard-async").to_dict()
    expected["update"]["gates"] = list(load_config("checkerboard-small").update.gates)
    # Nothing was published about it.
    assert config == expected | {"name": "checkerboard-async-small", "published": {}}


def test_any_rule_of_life(config_of):
    config = config_of("train-gol --rule B36/S23")
    assert (config.task.rule, config.name) == ("B36/S23", "life-B36-S23")
    for rule in ("B3/S23", "b3s23", "23/3", "S32/B3"):
        assert config_of(f"train-gol --rule {rule}") == load_config("game-of-life")
    assert config_of("train-gol --rule 34/2h").task.rule == "B2/S34H"


def test_published_results_are_dropped_for_other_experiments(config_of):
    assert config_of("train-gol --seed=3").published.learned_by == 1441
    assert config_of("train lizard --set=training.batch=2").published.epochs == 3500
    for command in (
        "train-gol --rule=B36/S23",
        "train game-of-life --set=task.rule=B36/S23",
        "train-pattern --set=task.start=zeros",
    ):
        assert not config_of(command).to_dict()["published"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train", "name a configuration, one of addition, bricks, checkerboard"),
        ("train .", ".: is a directory: name a configuration or a TOML file"),
        ("train-gol lizard", 'lizard is of kind "pattern"'),
        ("train-gol --rule=B3333/S", '"B3333/S" names a number twice'),
        ("train-gol --small game-of-life", "--small and game-of-life both"),
        ("train-checkerboard --async x", "--async and x both"),
        ("train-pattern --colors 5", "is not 1, 2, 3, 4, 8 or 16"),
        ("train-pattern --colors 3 lizard", "--colors and lizard both"),
        ("train-pattern --palette ega", "is not 2 to 16 different colours"),
        ("train-pattern --palette '#000000,#000000'", "is not 2 to 16 different"),
        ("train-pattern --palette '#ff0000,#00ff00' --colors=4", "both choose colours"),
        ("train-pattern --palette '#ff0000,#00ff00'", "is text: only images"),
    ],
)
def test_what_is_no_experiment(dct, arguments, message):
    assert message in dct(arguments).refusal
    assert not Path("runs").exists()


# A run that starts from a saved model


@pytest.fixture
def source(train_tiny, staged, tmp_path):
    path = tmp_path / "source"
    assert train_tiny(f"--epochs=2 --seed=4 --quiet --dir={path}").good
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--set perception.kernels=3", "perception.kernels: 2 in the model, 3 asked for"),
        ("--resume source", "leave --from out"),
        ("--from ''", "no directory and no run"),
        ("--dir last", "choose another name"),
    ],
)
def test_what_no_run_starts_from(train_tiny, source, arguments, message):
    assert message in " ".join(train_tiny(f"--from {source} {arguments}").refusal.split())


def test_gates_of_another_form(dct, train_tiny, source, tmp_path):
    def refusal(*arguments):
        result = train_tiny(f"--epochs 1 --quiet --from {source}", *arguments).good
        return " ".join(result.stderr.split())

    lost = "they begin as sure of their most probable op"
    assert lost not in refusal()
    run = str(tmp_path / "run")
    assert lost in refusal(f"--set training.form=truth-table --dir {run}")
    resumed = dct(f"train --resume {run} --epochs 2 --quiet").good
    assert lost not in " ".join(resumed.stderr.split())


def test_a_model_of_another_run_is_refused(dct, train_tiny, source, tmp_path):
    other = tmp_path / "other"
    run = tmp_path / "run"
    train_tiny(f"--epochs 2 --seed 5 --quiet --dir {other}")
    shutil.copy(other / "model.npz", source)
    for command in ("eval", "report", "export --format json", "runs show"):
        result = dct(command, str(source))
        assert "model.npz: is damaged" in " ".join((result.stdout + result.stderr).split())

    def begun(name, *arguments):
        result = train_tiny(f"--from {name} --epochs 1 --quiet", *arguments)
        assert (result.exit_code, run.exists()) == ((2, False) if result.stderr else (0, True))
        return " ".join(result.stderr.split())

    refusal = begun(f"{source} --dir {run}")
    assert "model.npz: is damaged, or of another run" in refusal
    assert f"dct train --resume {source}" in refusal
    summary = read_summary(RunDirectory(source))
    write_summary(RunDirectory(source), summary)
    assert "summary.json: is that of another run" in begun(f"{source} --dir {run}")
    # Of the model's own run.
    write_summary(RunDirectory(source), summary.model_copy(update={"seed": 5}))
    assert begun(f"{source} --dir {run}") == ""
    shutil.rmtree(run)
    (source / "summary.json").write_text("{")
    assert "summary.json: is damaged" in begun(f"{source} --dir {run}")
    # By its own name the file is taken as it is.
    assert begun(f"{source / 'model.npz'} --dir {run}") == ""
