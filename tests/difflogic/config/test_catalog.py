from difflogic.config import load_config, shipped_configs
from difflogic.config.document import experiments, pictures


def test_all_that_is_shipped_is_listed():
    assert [found["name"] for found in experiments()] == shipped_configs()
    for found in experiments():
        config = load_config(found["name"])
        assert found["gates_with_logits"] == config.architecture.parameters
        assert found["gates_per_cell"] == config.architecture.gates
        assert found["published"] == config.published.model_dump()
        settings = found["task_settings"]
        assert settings.items() <= config.to_dict()["task"].items()
        assert ("rule" in settings) == (found["task"] == "life")


def test_pictures():
    found = {picture["name"]: picture for picture in pictures()}
    assert list(found) == ["letter-g", "lizard", "lizard-small"]
    lizard, letter = found["lizard"], found["letter-g"]
    assert lizard == {"name": "lizard", "height": 20, "width": 20, "loss_channels": 1, "ones": 121}
    assert (letter["height"], letter["width"], letter["loss_channels"]) == (16, 16, 3)
    task = load_config("letter-g").task
    assert letter["ones"] == sum({"y": 2}.get(sign, sign in "rgb") for sign in task.target)
