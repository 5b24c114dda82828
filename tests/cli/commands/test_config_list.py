"""`dct config list`."""

from difflogic.config import load_config, shipped_configs


def test_the_table_has_every_experiment_and_picture(dct):
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


def test_json(dct):
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
