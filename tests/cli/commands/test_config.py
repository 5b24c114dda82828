"""`dct config show` and `dct config list`."""

import tomllib

import pytest

from difflogic.config import load_config, manual, shipped_configs


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("", "checkerboard"),
        ("--small", "checkerboard-small"),
        ("checkerboard-small", "checkerboard-small"),
    ],
)
def test_show_prints_the_resolved_config_and_nothing_else(dct, arguments, name):
    result = dct(f"config show {arguments}").good

    assert result.stderr == ""
    assert tomllib.loads(result.stdout) == load_config(name).to_dict()
    assert "# " in result.stdout


def test_show_applies_a_recipe(dct, tmp_path):
    overrides = "--set training.weight_decay=0.5 --set training.epochs=3"
    (tmp_path / "my.toml").write_text(dct(f"config show {overrides}").stdout)
    shown = dct("config show my.toml --recipe reference").good

    training = tomllib.loads(shown.stdout)["training"]
    assert (training["weight_decay"], training["epochs"]) == (0.01, 500)
    shown = dct(f"config show my.toml --recipe reference {overrides}")
    assert tomllib.loads(shown.stdout)["training"]["weight_decay"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--set training.epoch=7", 'no key "epoch" in [training]: did you mean "epochs"?'),
        ("--set=automaton.periods=[5]", "none or two numbers"),
        ("checkerboard --small", "--small and CONFIG both choose"),
        ("lizard --set 'task.target=a b.png'", "a b.png: no such picture"),
    ],
)
def test_mistakes_are_explained(dct, arguments, message):
    refusal = dct(f"config show {arguments}").refusal

    assert refusal.startswith("error: ")
    assert message in refusal


def test_list_has_every_experiment_and_picture(dct):
    result = dct("config list").good

    assert result.stderr == ""
    experiments, pictures = result.stdout.split("\n\n")
    rows = {line.split()[0]: line for line in experiments.splitlines()[1:]}
    assert list(rows) == shipped_configs()
    for name, said in (
        ("checkerboard", "epoch 244 of 500, 22 active gates"),
        ("checkerboard-async", "fire rate 0.6"),
        ("checkerboard-async", "epoch 326 of 800 "),
        ("game-of-life-small", "life B3/S23"),
        ("game-of-life-small", "–"),
    ):
        assert said in rows[name]
    names = ["letter-g", "lizard", "lizard-small"]
    assert pictures.strip().endswith(f"--target: {', '.join(names)}")
    listed = dct("config list --json")
    assert listed.json == {"experiments": manual.experiments(), "pictures": names}
