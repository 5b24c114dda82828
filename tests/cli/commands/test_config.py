"""`dct config show`."""

import tomllib

import pytest

from difflogic.config import load_config


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ([], "checkerboard"),
        (["--small"], "checkerboard-small"),
        (["checkerboard-small"], "checkerboard-small"),
    ],
)
def test_show_prints_the_resolved_config_and_nothing_else(dct, arguments, name):
    result = dct("config", "show", *arguments)

    assert result.exit_code == 0
    assert result.stderr == ""
    assert tomllib.loads(result.stdout) == load_config(name).to_dict()
    assert "# " in result.stdout


def test_show_applies_overrides(dct):
    overrides = ["--set", "training.epochs=7", "--set", "parallel.workers=3"]
    shown = tomllib.loads(dct("config", "show", "--small", *overrides).stdout)

    assert shown["training"]["epochs"] == 7
    assert shown["parallel"]["workers"] == 3


def test_show_applies_a_recipe(dct, tmp_path):
    overrides = ["--set", "training.weight_decay=0.5", "--set", "training.epochs=3"]
    (tmp_path / "my.toml").write_text(dct("config", "show", *overrides).stdout)
    shown = dct("config", "show", "my.toml", "--recipe", "reference")

    assert shown.exit_code == 0
    training = tomllib.loads(shown.stdout)["training"]
    assert (training["weight_decay"], training["epochs"]) == (0.01, 500)
    shown = dct("config", "show", "my.toml", "--recipe", "reference", *overrides)
    assert tomllib.loads(shown.stdout)["training"]["weight_decay"] == 0.5


def test_show_prints_the_rows_of_a_picture(dct, tmp_path):
    (tmp_path / "plus.txt").write_text(".#.\n###\n.#.\n")
    shown = dct("config", "show", "lizard", "--set", "task.target=plus.txt")

    assert shown.exit_code == 0
    task = tomllib.loads(shown.stdout)["task"]
    assert (task["target"], task["height"]) == (".#.\n###\n.#.\n", 3)


def test_what_show_prints_can_be_used(dct, tmp_path):
    shown = dct("config", "show", "--set", "training.batch=3").stdout
    (tmp_path / "my.toml").write_text(shown)

    assert dct("config", "show", "my.toml").stdout == shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "training.epoch=7"], 'no key "epoch" in [training]: did you mean "epochs"?'),
        (["--set", "training.epochs=none"], "[training] epochs must be"),
        (["--set", "epochs"], "section.key=value"),
        (["missing.toml"], "missing.toml"),
        (["chekerboard"], 'did you mean "checkerboard"?'),
        (["checkerboard", "--small"], "--small and CONFIG both choose"),
        (["--recipe", "referense"], 'no recipe "referense": did you mean "reference"?'),
        (["lizard", "--set", "task.target=a b.png"], 'no picture "a b.png"'),
    ],
)
def test_mistakes_are_explained(dct, arguments, message):
    told = dct("config", "show", *arguments).refusal

    assert told.startswith("error: ")
    assert message in told
