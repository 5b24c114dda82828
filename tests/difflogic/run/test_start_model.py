"""Runs that start from a saved model."""

import hashlib
import json
import shutil
import tomllib

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.config import load_config
from difflogic.experiment.searching import Trainer
from difflogic.experiment.session import execute
from difflogic.library.training import train
from difflogic.model.model import Model
from difflogic.run.opened_run import StartModel, fitted
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import START
from difflogic.training.reference import ReferenceTrainer
from tests.difflogic.evaluation.naive import random_model
from tests.difflogic.training.tiny import stop_after, tiny

EPOCHS = 8
AGAIN = ("training.restart_every=3", "finishing.every=3", "training.weight_decay=0.0")


def config(*overrides):
    return tiny(f"training.epochs={EPOCHS}", *overrides)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A run of another seed."""
    path = tmp_path_factory.mktemp("source") / "run"
    train(config("training.seed=5"), directory=path)
    return path


@pytest.fixture(scope="module")
def started(source, tmp_path_factory):
    path = tmp_path_factory.mktemp("started") / "run"
    train(config(), directory=path, source=source)
    return path


def logits(run):
    return Model.load(run / "model.npz").logits


def test_a_run_starts_from_a_model_and_names_it(source, started):
    first = Model.load(source / "model.npz")
    digest = hashlib.sha256((source / "model.npz").read_bytes()).hexdigest()
    with Trainer(config(), fitted(first, config(), "source")) as trainer:
        assert_array_equal(trainer.model.logits, first.logits)
        while not trainer.done:
            trainer.step()
        assert_array_equal(logits(started), trainer.model.logits)
    settings = tomllib.loads((started / "config.toml").read_text())
    assert settings["run"] == {"start_sha256": digest}
    assert settings["training"]["seed"] == config().training.seed
    kept = (started / "start.npz").read_bytes()
    assert kept == (source / "model.npz").read_bytes()
    summary = json.loads((started / "summary.json").read_text())
    assert summary["start"] == {"sha256": digest, "experiment": first.config.name, "seed": 5}
    assert_array_equal(Model.load(started / "model.npz").netlist.a, first.netlist.a)
    assert json.loads((source / "summary.json").read_text())["files"]["model.npz"] == digest


def test_a_resumed_run_does_not_need_the_source(source, started, tmp_path):
    """It may be resumed by the command that began it, too, which names the source."""
    copy = shutil.copytree(source, tmp_path / "source")
    path = tmp_path / "run"
    train(config(), directory=path, source=copy, should_stop=stop_after(3))
    with pytest.raises(RunDirectoryError, match=r"run\.start_sha256"):
        train(config(), directory=path)
    train(config(), directory=path, source=copy, should_stop=stop_after(1))
    shutil.rmtree(copy)
    assert train(resume=path, should_stop=stop_after(2)).summary.epochs == 6
    assert train(resume=path).finished
    assert_array_equal(logits(path), logits(started))
    summaries = [json.loads((run / "summary.json").read_text()) for run in (path, started)]
    assert summaries[0]["start"] == summaries[1]["start"]


def test_starting_over_goes_back_to_the_model(source):
    first = StartModel.read(source / "model.npz")
    settings = first.named_in(config(*AGAIN))
    model = fitted(first.model, settings, "source")
    with Trainer(settings, model) as trainer:
        for _ in range(4):
            trainer.step()
        assert trainer.descent._attempt.number == 1
        assert_array_equal(trainer.descent.engine.netlist.a, model.netlist.a)
        after = trainer.model.logits
        state = trainer.state()
    assert (after != model.logits).any()
    with Trainer(settings, model) as trainer:
        trainer.restore(state)
        assert_array_equal(trainer.descent.engine.netlist.a, model.netlist.a)
    reference = ReferenceTrainer(settings.problem, model)
    for _ in range(4):
        reference.step()
    assert_allclose(reference.circuit.logits, after, atol=1e-3)


def test_other_sizes_are_refused(source):
    other = tiny("perception.kernels=3", "update.gates=[7,4,2]")
    with pytest.raises(ConfigError) as error:
        train(other, source=source)
    text = str(error.value)
    assert "perception.kernels: 2 in the model, 3 asked for" in text
    assert "update.gates: [8, 4, 2] in the model, [7, 4, 2] asked for" in text
    assert "channels" not in text
    with pytest.raises(ConfigError, match=r"perception.kernels: 2 in the model, 3 asked for"):
        Trainer(other, Model.create(tiny()))


def test_the_model_keeps_its_wiring(source, started, tmp_path, said):
    path = tmp_path / "run"
    overrides = ("perception.directions=all", "update.carry=3")
    train(config(*overrides), directory=path, source=source)
    assert_array_equal(logits(path), logits(started))
    assert Model.load(path / "model.npz").config == Model.load(started / "model.npz").config
    assert all(f"{key.split('=')[0]}: " in said[0] for key in overrides)
    train(load_config(path / "config.toml"), directory=tmp_path / "again", source=path / START)
    assert_array_equal(logits(tmp_path / "again"), logits(path))


def test_a_configuration_that_names_a_model_requires_it(source, started, tmp_path):
    settings = load_config(started / "config.toml")
    for run in (
        lambda: train(settings, directory=tmp_path / "run"),
        lambda: execute(settings, tmp_path / "run"),
        lambda: Trainer(settings),
    ):
        with pytest.raises(ConfigError, match=r"starts from a saved model, of SHA-256 [0-9a-f]+: "):
            run()
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="and the configuration starts from the model of"):
        train(settings, directory=tmp_path / "run", source=random_model(config(), 3))
    train(settings, directory=tmp_path / "run", source=source)
    assert_array_equal(logits(tmp_path / "run"), logits(started))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b"PK\3\4"), "cut off, or no npz"),
        (
            lambda path: path.write_bytes(random_model(config(), 3).to_bytes("another")),
            "is not the model that the run",
        ),
        (lambda path: (path.rename(path.with_name("x")), path.symlink_to("x")), "cannot be read"),
    ],
)
def test_a_run_without_its_start_model_is_refused(source, tmp_path, spoil, message):
    path = tmp_path / "run"
    train(config(), directory=path, source=source, should_stop=stop_after(3))
    spoil(path / "start.npz")
    with pytest.raises(RunDirectoryError, match=message):
        train(resume=path)


@pytest.mark.parametrize("written", [["config.toml"], ["config.toml", "start.npz"]])
def test_a_run_killed_at_its_beginning_begins_again_or_resumes(source, started, tmp_path, written):
    """It begins again with its model, and resumes once that is there."""
    path = tmp_path / "run"
    path.mkdir()
    for name in written:
        shutil.copy(started / name, path)
    (path / ".lock").touch()
    if "start.npz" in written:
        train(resume=path)
    else:
        with pytest.raises(RunDirectoryError, match="begin again with --from"):
            train(resume=path)
        train(config(), directory=path, source=source, new=True)
    assert_array_equal(logits(path), logits(started))
