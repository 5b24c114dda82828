import pytest
import tomli_w

from difflogic.config import load_config, schema, shipped_configs
from difflogic.config.recipes import KEYS_KEPT, LEVER_KEYS, LEVER_SECTIONS, PUBLISHED, RECIPES
from difflogic.system.errors import ConfigError


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        plain = load_config("checkerboard", recipe="reference").to_dict()
        for section, values in changes.items():
            plain.setdefault(section, {}).update(values)
        path = tmp_path / "my.toml"
        path.write_text(tomli_w.dumps(plain))
        return path

    return write


def defaults(section):
    return {
        key: field.default
        for key, field in schema.sections()[section].model_fields.items()
        if not field.is_required()
    }


@pytest.mark.parametrize("name", shipped_configs())
def test_reference_restores_the_defaults(name):
    config = load_config(name, recipe="reference")
    assert config.training.beta1 == 0.9
    for key, default in defaults("training").items():
        assert key in {*KEYS_KEPT, "beta1"} or getattr(config.training, key) == default
    for section, key in LEVER_KEYS:
        assert getattr(getattr(config, section), key) == defaults(section)[key]
    for section in LEVER_SECTIONS:
        assert getattr(config, section) == schema.sections()[section]()
    for key in PUBLISHED:
        if getattr(config.published, key) is not None:
            assert getattr(config.training, key) == getattr(config.published, key)


def test_reference_keeps_the_experiment(write):
    kept = {"seed": 7, "precision": "float64"}
    published = {"epochs": 500, "batch": 2, "learning_rate": 0.05}
    changes = dict.fromkeys(published, 9) | {"beta2": 0.5} | kept
    path = write(training=changes, checkpoint={"every_epochs": 3})
    given = load_config(path).to_dict()
    found = load_config(path, recipe="reference").to_dict()
    assert found["training"] == given["training"] | published | {"beta2": 0.99}
    del given["training"], found["training"]
    assert found == given


@pytest.mark.parametrize("name", shipped_configs())
def test_benchmark_changes_only_the_batch(name):
    given = load_config(name).to_dict()
    found = load_config(name, recipe="benchmark").to_dict()
    batch = given["published"].get("batch") or given["training"]["batch"]
    assert found["training"].pop("batch") == batch
    del given["training"]["batch"]
    assert found == given


def test_reference_without_published_epochs_is_one_attempt(write):
    path = write(training={"epochs": 90, "restart_every": 7}, finishing={"every": 5})
    path.write_text(path.read_text().split("[published]")[0])
    training = load_config(path, recipe="reference").training
    assert (training.epochs, training.restart_every) == (7, 0)


@pytest.mark.parametrize("name", shipped_configs())
def test_shipped_configurations_restart_until_they_succeed(name):
    config = load_config(name)
    assert config.finishing.every
    assert config.training.epochs >= 10 * config.training.restart_every > 0


def test_a_recipe_does_not_hide_mistakes(write):
    path = write()
    path.write_text(path.read_text().replace("beta1", "bta1"))
    with pytest.raises(ConfigError, match=r'no key "bta1" in .training.: did you mean "beta1"'):
        load_config(path, recipe="reference")
    path.write_text('training = 3\npublished = "x"\n')
    with pytest.raises(ConfigError, match=r"\[training\] must be a section"):
        load_config(path, recipe="reference")


def test_unknown_recipes():
    with pytest.raises(ConfigError, match='no recipe "x": choose from reference, benchmark'):
        load_config("checkerboard", recipe="x")
    assert list(RECIPES) == ["reference", "benchmark"]
