import json
import os
import shutil

import pytest

from difflogic.config import load_config
from difflogic.engine.hard import gradients
from difflogic.engine.soft import arrangement
from difflogic.experiment import session
from difflogic.experiment.searching import Trainer
from difflogic.experiment.session import Session, execute
from difflogic.model.model import Model
from difflogic.run import opened_run
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.errors import TrainingError
from difflogic.system.work import Stopped, working
from tests.difflogic.experiment.kill import killed_at, results
from tests.difflogic.training.tiny import stop_after, tiny
from tests.marks import exhaustive

EPOCHS = 12
FILES = {"config.toml", "metrics.csv", "model.npz", "summary.json"}


def config(*overrides, epochs=EPOCHS):
    return tiny(f"training.epochs={epochs}", *overrides)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing interrupted."""
    path = tmp_path_factory.mktemp("whole") / "run"
    execute(config(), path)
    return path


@pytest.fixture
def half(tmp_path):
    """A run that stopped at epochs 4 and 7."""
    path = tmp_path / "half"
    execute(config(), path, should_stop=stop_after(4))
    execute(config(), path, should_stop=stop_after(3))
    return path


def test_files_of_a_run(whole):
    names = {path.name for path in whole.iterdir()}
    assert names == {*FILES, "checkpoint-0.npz", f"checkpoint-{EPOCHS}.npz"}
    with Trainer(config()) as trainer:
        while not trainer.done:
            last = trainer.step()
        assert (Model.load(whole / "model.npz").logits == trainer.model.logits).all()
    summary = read_summary(RunDirectory(whole))
    assert (summary.finished, summary.interrupted, summary.resumed) == (True, False, 0)
    assert summary.epochs == summary.epochs_requested == EPOCHS
    assert summary.scores.soft_loss == last.soft_loss


def test_a_finished_run_does_not_change(whole, said):
    before = {path.name: path.stat().st_mtime_ns for path in whole.iterdir()}
    expected = json.loads((whole / "summary.json").read_text())
    assert execute(config(), whole).as_dict() == expected
    assert {path.name: path.stat().st_mtime_ns for path in whole.iterdir()} == before
    assert not said


@pytest.mark.once
def test_a_resumed_run_ends_like_one_never_interrupted(half, whole):
    config_before = (half / "config.toml").read_bytes()
    summary = execute(config("parallel.workers=3"), half)
    assert results(half) == results(whole)
    assert (half / "config.toml").read_bytes() == config_before
    assert (summary.finished, summary.resumed, summary.workers) == (True, 2, 3)
    assert summary.scores == read_summary(RunDirectory(whole)).scores


@pytest.mark.parametrize("source", ["summary", "checkpoint"])
def test_seconds_add_up_over_all_stretches(tmp_path, source):
    run = RunDirectory.at(tmp_path / "run")
    with Session(config(), run) as first:
        first.began = first.began[0] - 1000, first.began[1] - 2000
        first.trainer.warm_up()
        first.trainer.phases.add({"backward": 500.0, "compilation": 250.0})
        summary = first.train(stop_after(4))
    if source == "checkpoint":
        (run.path / "summary.json").unlink()
    else:  # final tests come after the last checkpoint
        longer = summary.seconds.model_copy(update={"tests": 4000.0})
        write_summary(run, summary.model_copy(update={"seconds": longer}))
    earlier = summary.seconds
    later = execute(config(), run.path).seconds
    assert later.training == sum(later.phases.values())
    assert 0 < earlier.phases["backward"] - 500 < later.phases["backward"] - 500 < 100
    for part, least in {"start": 250, "compilation": 250, "all": 1000, "processor": 2000}.items():
        assert least < getattr(earlier, part) < getattr(later, part) < least + 100, part
    assert later.tests // 1000 == (0 if source == "checkpoint" else 4)


def test_a_run_can_be_extended(tmp_path, whole):
    short = shutil.copytree(whole, tmp_path / "short")
    long = tmp_path / "long"
    summary = execute(config(epochs=20), short)
    execute(config(epochs=20), long)
    assert results(short) == results(long)
    assert load_config(short / "config.toml") == load_config(long / "config.toml")
    assert summary.resumed == 1


def test_a_killed_extension_is_not_finished(tmp_path, whole):
    path = shutil.copytree(whole, tmp_path / "run")
    with pytest.raises(KeyboardInterrupt), Session(config(epochs=20), RunDirectory(path)):
        raise KeyboardInterrupt
    summary = read_summary(RunDirectory(path))
    assert (summary.finished, summary.epochs_requested) == (False, 20)
    assert load_config(path / "config.toml").training.epochs == 20
    assert execute(load_config(path / "config.toml"), path).epochs == 20


def test_a_failure_before_the_first_epoch_leaves_nothing(tmp_path, monkeypatch):
    def fail(self):
        raise TrainingError("the loss is not finite")

    monkeypatch.setattr(Trainer, "step", fail)
    with pytest.raises(TrainingError):
        execute(config(), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrainingError):
        execute(config(), tmp_path / "runs" / "new")
    assert not (tmp_path / "runs").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(TrainingError):
        execute(config(), tmp_path / "mine")
    assert not list((tmp_path / "mine").iterdir())


def test_a_loss_that_is_not_finite_keeps_history_and_checkpoints(tmp_path, monkeypatch):
    step = Trainer.step

    def fail_at_four(self):
        if self.epoch == 4:
            raise TrainingError("the loss is not finite")
        return step(self)

    monkeypatch.setattr(Trainer, "step", fail_at_four)
    with pytest.raises(TrainingError, match=r"metrics\.csv"):
        execute(config("checkpoint.every_epochs=2"), tmp_path)
    assert len((tmp_path / "metrics.csv").read_text().splitlines()) == 1 + 4
    assert [path.name for path in RunDirectory(tmp_path).checkpoints] == [
        "checkpoint-4.npz",
        "checkpoint-2.npz",
    ]


@pytest.mark.parametrize(
    ("keys", "epochs"),
    [
        (["every_epochs=5", "every_seconds=0.0"], [0, 5, 10, 12]),
        (["every_epochs=0", "every_seconds=0.0"], [0, 12]),
        (["every_epochs=0", "every_seconds=1e-9"], [0, *range(1, 13)]),
    ],
)
def test_when_checkpoints_are_written(tmp_path, monkeypatch, keys, epochs):
    monkeypatch.setattr(session, "SAVING_SHARE", 1e9)
    written = []
    write = opened_run.write_checkpoint

    def note(*arguments):
        written.append(arguments[1].epoch)
        return write(*arguments)

    monkeypatch.setattr(opened_run, "write_checkpoint", note)
    execute(config(*(f"checkpoint.{key}" for key in keys)), tmp_path)
    assert written == epochs


def test_a_process_without_its_lock_writes_nothing_more(tmp_path):
    settings = config("checkpoint.every_epochs=2")
    run = tmp_path / "run"

    def intrude(result):
        if result.epoch == 5:
            (run / ".lock").unlink()
            execute(settings, run)
            found.update({path.name: path.read_bytes() for path in run.iterdir()})

    found = {}
    with pytest.raises(TrainingError, match="was removed or replaced"):
        execute(settings, run, on_step=intrude)
    assert set(found) >= FILES
    assert {path.name: path.read_bytes() for path in run.iterdir()} == found
    # It is the same run, so that even a file of the first would have done no harm.
    execute(settings, tmp_path / "whole")
    assert results(run) == results(tmp_path / "whole")


@pytest.mark.thorough
@pytest.mark.parametrize("point", [0, *map(exhaustive, (3, 6, 9, 12))])
def test_a_kill_at_any_write_changes_no_bit(point, tmp_path, monkeypatch, said):
    """A run of 2 epochs with a checkpoint each, killed before and after every such call."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    settings = config("checkpoint.every_epochs=1", epochs=2)
    execute(settings, tmp_path / "whole")
    expected = results(tmp_path / "whole")
    while True:
        path = tmp_path / "killed"
        if not killed_at(point, settings, path):
            break
        # Kill it again every other time while it resumes, and whenever it had not begun.
        if point % 2 or not (path / "config.toml").exists():
            killed_at(10 + point % 7, settings, path)
        said.clear()
        other = config("checkpoint.every_epochs=1", "parallel.workers=2", epochs=2)
        execute(other, path)
        # Metrics are written before the checkpoint that needs them.
        assert "warning" not in "".join(said), point
        assert results(path) == expected, point
        assert {name.name for name in path.iterdir()} == {
            *FILES,
            "checkpoint-1.npz",
            "checkpoint-2.npz",
        }, point
        shutil.rmtree(path)
        point += 15  # before and after calls in turn
    assert point > 40


def test_a_step_stopped_half_way_leaves_no_trace(tmp_path, monkeypatch, whole):
    """A signal ends a long rollout between two kernel calls."""
    stops = []

    def stop(pause):
        if pause.what == "gradient" and pause.done:
            stops.append(pause)

    monkeypatch.setattr(arrangement, "GATE_LANES_PER_CALL", 1)
    with working(asked=lambda: bool(stops), hear=stop):
        summary = execute(config(), tmp_path / "run")
    assert len(stops) == 1
    assert summary.epochs == 0
    assert summary.interrupted
    assert not summary.finished
    execute(config(), tmp_path / "run")
    assert results(tmp_path / "run") == results(whole)


@pytest.mark.parametrize("number", [1, 9, 30])
def test_a_search_stopped_half_way_leaves_no_trace(tmp_path, monkeypatch, number):
    searching = config("finishing.every=2", "finishing.from_epoch=2", "finishing.candidates=50")
    stops = []

    def stop(pause):
        if pause.done:
            stops.append(pause)

    monkeypatch.setattr(gradients, "steps_per_call", lambda *_: 1)
    with working(asked=lambda: len(stops) >= number, hear=stop):
        summary = execute(searching, tmp_path / "run")
    assert summary.interrupted
    assert summary.epochs % 2 == 1  # the step that searched is dropped
    execute(searching, tmp_path / "run")
    execute(searching, tmp_path / "whole")
    assert results(tmp_path / "run") == results(tmp_path / "whole")


def test_final_tests_that_a_stop_cuts_off_are_done_again(tmp_path, monkeypatch, whole):
    done = []
    monkeypatch.setattr(Trainer, "result", property(lambda self: done.append(1) or self.model))
    monkeypatch.setattr(session, "FINAL_TESTS_SECONDS", 0.0)
    with working(asked=lambda: bool(done)), pytest.raises(Stopped):
        execute(config(), tmp_path / "run")
    assert not (tmp_path / "run" / "summary.json").exists()
    execute(config(), tmp_path / "run")
    assert results(tmp_path / "run") == results(whole)


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("summary.json", lambda path: path.write_text("{}")),
        ("summary.json", lambda path: path.write_text(path.read_text().replace("5", "6"))),
        ("summary.json", lambda path: (path.unlink(), os.mkfifo(path))),
        ("model.npz", lambda path: path.unlink()),
        ("model.npz", lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x")),
    ],
)
def test_a_damaged_finished_run_is_repaired(whole, tmp_path, name, damage, said):
    path = shutil.copytree(whole, tmp_path / "run")
    damage(path / name)
    summary = execute(config(), path)
    assert any(f"{path / name}: " in each and "made again" in each for each in said)
    assert summary.finished
    assert results(path) == results(whole)
    assert execute(config(), path) == summary


def test_a_removed_directory_has_no_good_checkpoint(tmp_path):
    path = tmp_path / "run"

    def remove(result):
        if result.epoch == 3:
            shutil.rmtree(path)

    with pytest.raises(
        TrainingError, match=r"was removed while the run was training\n.*checkpoints are gone"
    ):
        execute(config("checkpoint.every_epochs=2"), path, on_step=remove)
