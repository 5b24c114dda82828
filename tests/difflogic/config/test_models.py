import pydantic
import pytest

from difflogic.config import Config, config_from_dict, load_config
from difflogic.config.models import MAX_GATES
from difflogic.errors import ConfigError
from difflogic.netlist import Architecture


@pytest.fixture
def plain():
    return load_config("checkerboard").to_dict()


def test_architecture():
    expected = Architecture(8, 16, (8, 4, 2), (*[256] * 10, 128, 64, 32, 16, 8, 8))
    assert load_config("checkerboard").architecture == expected


def test_optional_keys_have_the_published_values(plain):
    for key in ("evaluation", "parallel"):
        del plain[key]
    for section, keys in {
        "task": ("square", "loss_channels"),
        "automaton": ("fire_rate",),
        "perception": ("gates", "first_wiring", "wiring"),
        "update": ("wiring",),
        "training": (
            "seed", "beta1", "beta2", "epsilon", "weight_decay", "gradient_clip",
            "initial_logit", "precision",
        ),
    }.items():  # fmt: skip
        for key in keys:
            del plain[section][key]
    assert config_from_dict(plain, "test") == load_config("checkerboard")


def test_a_config_cannot_be_changed():
    config = load_config("checkerboard")
    with pytest.raises(pydantic.ValidationError):
        config.training.epochs = 3
    with pytest.raises(pydantic.ValidationError):
        config.training = None


def test_to_dict_is_plain(plain):
    assert plain["update"]["gates"] == [256] * 10 + [128, 64, 32, 16, 8, 8]
    assert type(plain["update"]["gates"]) is list
    assert type(plain["task"]["loss_channels"]) is list


def test_in_python_too_a_wrong_value_is_an_error(plain):
    plain["training"]["epochs"] = 0
    with pytest.raises(pydantic.ValidationError):
        Config(**plain)


def test_more_gates_than_memory_holds(plain):
    plain["perception"] |= {"kernels": 65536, "gates": [8]}
    with pytest.raises(ConfigError, match=rf"4\d+ gates per cell are more than the {MAX_GATES}"):
        config_from_dict(plain, "test")


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("training", "weight_decay", 0),
        ("training", "initial_logit", -3),
        ("automaton", "fire_rate", 1),
    ],
)
def test_an_integer_serves_as_a_number(plain, section, key, value):
    plain[section][key] = value
    found = getattr(getattr(config_from_dict(plain, "test"), section), key)
    assert type(found) is float
    assert found == value
