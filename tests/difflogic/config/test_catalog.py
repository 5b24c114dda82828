import pytest

from difflogic.config import load_config, shipped_configs
from difflogic.config.catalog import Experiment, experiments, pictures


def test_the_expected_time_grows_with_the_work():
    def seconds(*overrides):
        return Experiment(load_config("checkerboard", overrides)).seconds

    base = seconds()
    attempt = load_config("checkerboard").training.restart_every
    assert seconds("training.epochs=5000", "training.restart_every=0") == pytest.approx(
        base * 5000 / attempt
    )
    assert seconds("training.epochs=30") == pytest.approx(base * 30 / attempt)
    for more in ("training.batch=2", "automaton.steps=40", "task.height=32"):
        assert 1.5 * base < seconds(more) < 2.1 * base


def test_all_that_is_shipped_is_listed():
    assert [experiment.config.name for experiment in experiments()] == shipped_configs()
    for experiment in experiments():
        found = experiment.as_dict()
        config = load_config(experiment.config.name)
        assert found["gates_with_logits"] == config.architecture.parameters
        assert found["gates_per_cell"] == config.architecture.gates
        assert found["published"] == config.published.model_dump()
        settings = found["task_settings"]
        assert settings.items() <= config.to_dict()["task"].items()
        assert ("rule" in settings) == (found["task"] == "life")


def test_pictures():
    found = {picture.name: picture for picture in pictures()}
    assert list(found) == ["letter-g", "lizard", "lizard-small"]
    lizard, letter = found["lizard"].as_dict(), found["letter-g"].as_dict()
    assert lizard == {"name": "lizard", "height": 20, "width": 20, "loss_channels": 1, "ones": 121}
    assert (letter["height"], letter["width"], letter["loss_channels"]) == (16, 16, 3)
    task = load_config("letter-g").task
    assert letter["ones"] == sum({"y": 2}.get(sign, sign in "rgb") for sign in task.target)
