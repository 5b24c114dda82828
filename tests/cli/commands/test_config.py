"""`dct config show` and `dct config list`."""

import tomllib

import pytest

from difflogic.config import load_config, shipped_configs


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


def test_the_output_of_show_is_a_configuration(dct, tmp_path):
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
    refusal = dct("config", "show", *arguments).refusal

    assert refusal.startswith("error: ")
    assert message in refusal


def test_list_has_every_experiment_and_picture(dct):
    result = dct("config", "list")

    assert result.exit_code == 0
    assert result.stderr == ""
    experiments, pictures = result.stdout.split("\n\n")
    rows = {line.split()[0]: line for line in experiments.splitlines()[1:]}
    assert list(rows) == shipped_configs()
    for name, row in rows.items():
        config = load_config(name)
        assert f" {config.architecture.parameters} " in row
        assert f" {config.architecture.gates} " in row
        assert f" {config.task.height}×{config.task.width} " in row
    assert "epoch 244 of 500, 22 active gates" in rows["checkerboard"]
    assert "fire rate 0.6" in rows["checkerboard-async"]
    assert "epoch 326 of 800 " in rows["checkerboard-async"]
    assert "life B3/S23" in rows["game-of-life-small"]
    assert "–" in rows["game-of-life-small"]
    assert [line.split() for line in pictures.splitlines()[1:]] == [
        ["letter-g", "16×16", "3", "110"],
        ["lizard", "20×20", "1", "121"],
        ["lizard-small", "12×12", "1", "44"],
    ]


def test_list_as_json(dct):
    result = dct("config", "list", "--json")

    assert result.exit_code == 0
    assert result.stderr == ""
    assert [entry["name"] for entry in result.json["experiments"]] == shipped_configs()
    (lizard,) = (entry for entry in result.json["experiments"] if entry["name"] == "lizard")
    config = load_config("lizard")
    assert lizard["gates_with_logits"] == 4540
    assert lizard["gates_per_cell"] == 12160
    assert lizard["epochs"] == config.training.epochs
    published = {"epochs": 3500, "learning_rate": 0.06, "learned_by": 1384, "active_gates": 577}
    assert lizard["published"] == published | {"batch": None}
    names = [entry["name"] for entry in result.json["pictures"]]
    assert names == ["letter-g", "lizard", "lizard-small"]
