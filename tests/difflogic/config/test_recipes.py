import pytest
import tomli_w

from difflogic.config import Config, load_config, schema, shipped_configs
from difflogic.config.recipes import (
    KEPT,
    LEVER_KEYS,
    LEVER_SECTIONS,
    PUBLISHED,
    RECIPES,
    apply_recipe,
)
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


def test_levers_are_keys_that_exist():
    assert set(KEPT) <= set(schema.keys("training"))
    assert set(LEVER_SECTIONS) <= set(schema.sections())
    for section, key in LEVER_KEYS:
        assert key in defaults(section)
    # Without a default there would be nothing to go back to.
    assert set(schema.keys("training")) - set(KEPT) <= set(defaults("training"))
    for section in LEVER_SECTIONS:
        assert set(schema.keys(section)) == set(defaults(section))


@pytest.mark.parametrize("name", shipped_configs())
def test_reference_goes_back_to_the_defaults(name):
    config = load_config(name, recipe="reference")
    for key, default in defaults("training").items():
        assert key in KEPT or getattr(config.training, key) == default
    for section, key in LEVER_KEYS:
        assert getattr(getattr(config, section), key) == defaults(section)[key]
    for section in LEVER_SECTIONS:
        assert getattr(config, section) == schema.sections()[section]()
    for key in PUBLISHED:
        if getattr(config.published, key) is not None:
            assert getattr(config.training, key) == getattr(config.published, key)


def test_what_reference_changes_and_what_it_keeps(write):
    path = write(
        training={
            "seed": 7,
            "epochs": 9,
            "batch": 5,
            "learning_rate": 0.1,
            "precision": "float64",
            "weight_decay": 0.0,
            "beta2": 0.5,
            "initial_logit": 3.0,
        },
        evaluation={"starts": 3},
    )
    given, found = load_config(path).to_dict(), load_config(path, recipe="reference").to_dict()
    changed = {"weight_decay": 0.01, "beta2": 0.99, "initial_logit": 10.0}
    changed |= {"epochs": 500, "batch": 2, "learning_rate": 0.05}  # as published
    assert found["training"] == given["training"] | changed
    del given["training"], found["training"]
    assert found == given


@pytest.mark.parametrize("name", shipped_configs())
def test_benchmark_changes_the_samples_of_a_step_alone(name):
    given, found = load_config(name).to_dict(), load_config(name, recipe="benchmark").to_dict()
    batch = given["published"].get("batch") or given["training"]["batch"]
    assert found["training"].pop("batch") == batch
    del given["training"]["batch"]
    assert found == given


def test_steps_of_two_checkerboards_are_measured_and_of_one_trained():
    batches = {
        recipe: load_config("checkerboard", recipe=recipe).training.batch
        for recipe in (None, "benchmark", "reference")
    }
    assert batches == {None: 1, "benchmark": 2, "reference": 2}
    measured = load_config("checkerboard", ["training.batch=3"], recipe="benchmark")
    assert measured.training.batch == 3


def test_without_published_epochs_the_epochs_stay(write):
    path = write(training={"epochs": 9})
    path.write_text(path.read_text().split("[published]")[0])
    assert load_config(path, recipe="reference").training.epochs == 9


def test_without_published_epochs_one_attempt_is_all(write):
    path = write(training={"epochs": 90, "restart_every": 7}, finishing={"every": 5})
    path.write_text(path.read_text().split("[published]")[0])
    training = load_config(path, recipe="reference").training
    assert (training.epochs, training.restart_every) == (7, 0)


def test_an_attempt_has_the_epochs_of_a_pool_that_waits(write):
    pool = {"batch": 1, "after_growth": True, "restart_every": 4}
    path = write(training={"epochs": 90, "restart_every": 7}, finishing={"every": 5}, pool=pool)
    path.write_text(path.read_text().split("[published]")[0])
    assert load_config(path, recipe="reference").training.epochs == 11


@pytest.mark.parametrize("name", shipped_configs())
def test_what_is_shipped_goes_on_until_it_succeeds(name):
    config = load_config(name)
    assert config.finishing.stop
    assert config.training.epochs >= 10 * config.training.restart_every > 0


def test_overrides_come_after_the_recipe():
    overrides = ["training.weight_decay=0", "training.epochs=3"]
    training = load_config("checkerboard", overrides, recipe="reference").training
    assert (training.weight_decay, training.epochs) == (0, 3)


def test_a_recipe_does_not_hide_mistakes(write):
    path = write()
    path.write_text(path.read_text().replace("beta1", "bta1"))
    with pytest.raises(ConfigError, match=r'no key "bta1" in .training.: did you mean "beta1"'):
        load_config(path, recipe="reference")
    path.write_text('training = 3\npublished = "x"\n')
    with pytest.raises(ConfigError, match=r"\[training\] must be a section"):
        load_config(path, recipe="reference")


def test_the_tables_given_stay_as_they_are():
    plain = load_config("checkerboard").to_dict()
    plain["training"]["weight_decay"] = 0.5
    changed = apply_recipe("reference", plain)
    assert plain["training"]["weight_decay"] == 0.5
    assert "weight_decay" not in changed["training"]
    assert isinstance(Config.model_validate(changed), Config)


def test_unknown_recipes():
    for name, hint in (
        ("referense", 'did you mean "reference"'),
        ("x", "known: reference, benchmark"),
    ):
        with pytest.raises(ConfigError, match=f'no recipe "{name}": {hint}'):
            load_config("checkerboard", recipe=name)
    assert list(RECIPES) == ["reference", "benchmark"]
