"""A pattern's target: where it is found, and how it sets the grid."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from difflogic.config import config_from_dict, load_config
from difflogic.config.manual import describe
from difflogic.library.training import train
from difflogic.pictures.picture import picture_directory
from difflogic.pictures.text import parse_picture
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.tasks.pattern import Pattern

PLUS = ".#.\n###\n.#.\n"
LIZARD = (picture_directory() / "lizard.txt").read_text()


def lizard(*overrides):
    return load_config("lizard", overrides)


def error(*overrides, source="lizard"):
    with pytest.raises(ConfigError) as caught:
        load_config(source, overrides)
    return str(caught.value)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with a text picture, beside a configuration of another directory."""
    (tmp_path / "cwd").mkdir()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    (tmp_path / "cwd" / "plus.txt").write_text(PLUS)
    return tmp_path


def save_disc(path, side=40):
    y, x = np.indices((side, side)) - (side - 1) / 2
    inside = y**2 + x**2 < (0.4 * side) ** 2
    Image.fromarray(np.where(inside, 0, 255).astype(np.uint8)).save(path)


@pytest.mark.parametrize(
    "target", ["plus.txt", '"plus.txt"', "./plus.txt", "../cwd/plus.txt", PLUS, f'"""\n{PLUS}"""']
)
def test_a_text_picture_sets_the_grid(here, target):
    config = lizard(f"task.target={target}")
    assert config.task.target == PLUS
    assert (config.task.height, config.task.width) == (3, 3)
    assert make_task(config).target.tolist() == [[[0, 1, 0], [1, 1, 1], [0, 1, 0]]]


def test_a_given_grid_has_the_picture_in_its_middle(here):
    config = lizard("task.target=plus.txt", "task.height=6")
    assert (config.task.height, config.task.width) == (6, 3)
    assert config.task.target == "...\n...\n.#.\n###\n.#.\n...\n"
    config = lizard("task.height=40", "task.width=44")
    rows = config.task.target.splitlines()
    assert [row[12:32] for row in rows[10:30]] == LIZARD.splitlines()
    assert config.task.target.count("#") == LIZARD.count("#")
    # The start cell keeps its place in the picture.
    start = make_task(config).start_state
    assert start[0, 20, 22] == 1
    assert (start[0].sum(), make_task(lizard()).start_state[0, 10, 10]) == (1, 1)


def test_a_picture_larger_than_the_grid(here):
    message = error("task.height=19")
    assert message == (
        "--set task.height=19: [task] target: lizard: the picture has 20×20 cells and does not "
        "fit the grid of 19×20: use --size 20x20 or more, or set task.height and task.width"
    )
    assert "larger than the 262144 cells" in error("task.height=60000", "task.width=60000")
    plain = lizard().to_dict()
    plain["task"]["height"] = 21
    with pytest.raises(ConfigError, match="and the grid 21×20: set height = 20"):
        config_from_dict(plain, "test")


def test_another_shipped_picture_needs_its_channels():
    message = error("task.target=letter-g")
    assert "[task] target: letter-g: no colour" in message
    assert message.endswith(
        "with 1 loss channel: the signs are . # 0 1; --colors 3 has rgbymc and 0 to 7, too"
    )
    config = lizard("task.target=letter-g", "task.loss_channels=[0,1,2]")
    assert config.task.target == load_config("letter-g").task.target
    assert (config.task.height, config.task.width) == (16, 16)


def test_an_image_is_scaled_to_the_grid(here):
    save_disc("disc.png")
    config = lizard("task.target=disc.png")
    assert (config.task.height, config.task.width) == (20, 20)
    bits = make_task(config).target[0]
    assert abs(bits.sum() - np.pi * 8**2) < 12
    np.testing.assert_array_equal(bits, bits.T)
    smaller = lizard("task.target=disc.png", "task.height=10", "task.width=15")
    assert make_task(smaller).target.shape == (1, 10, 15)
    assert not make_task(smaller).target[0, :, :2].any()


def test_relative_paths_start_at_the_file_or_the_working_directory(here):
    (here / "other" / "plus.txt").write_text("#.\n.#\n")
    written = lizard().to_toml()
    rows = written[written.index('target = """') : written.index('"""', written.index('"""') + 3)]
    path = here / "other" / "my.toml"
    path.write_text(written.replace(rows + '"""', 'target = "plus.txt"'))
    assert "plus.txt" in path.read_text()
    # 2×2 cells in the file's grid of 20×20.
    assert load_config(path).task.target.count("#") == 2
    assert load_config(path, ["task.target=plus.txt"]).task.target == PLUS


def test_a_picture_sets_a_missing_grid(here):
    lines = lizard().to_toml().splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(("height", "width")))
    (here / "cwd" / "my.toml").write_text(text)
    assert load_config("my.toml") == lizard()


@pytest.mark.parametrize("name", ["lizard", "letter-g"])
@pytest.mark.parametrize("write", [lambda config: config.to_toml(), describe])
def test_a_resolved_configuration_holds_the_rows_and_loads_back(here, name, write):
    save_disc("disc.png")
    for overrides in ([], ["task.height=30"], ["task.target=disc.png"]):
        config = load_config(name, overrides)
        (here / "other" / "resolved.toml").write_text(write(config))
        assert "disc.png" not in (here / "other" / "resolved.toml").read_text()
        assert load_config(here / "other" / "resolved.toml") == config
        assert config_from_dict(config.to_dict(), "test") == config


@pytest.mark.parametrize(
    ("content", "says"),
    {
        b"": "is empty",
        b".#\n.\n": "row 2 has 1 cells and row 1 has 2",
        b"\x89PNG\r\n\x1a\n": "neither a text grid nor an image",
        b"#" * (2**20 + 1): "larger than 1048576 bytes",
        b"#" * (2**18 + 1): "more than the 262144 of a picture",
    }.items(),
)
def test_invalid_files(here, content, says):
    (here / "cwd" / "bad.dat").write_bytes(content)
    message = error("task.target=bad.dat")
    assert message.startswith("--set task.target=bad.dat: [task] target: bad.dat: ")
    assert says in message
    assert "\n" not in message


def test_directories_devices_and_pipes_are_refused(here):
    os.mkfifo("pipe")
    for target in ("..", "/dev/zero", "x" * 300, "pipe"):
        assert "cannot be read" in error(f"task.target={target}")


def test_a_missing_file(here):
    assert 'no picture "lizrd": did you mean "lizard"?' in error("task.target=lizrd")
    Path("mushroom.png").touch()
    message = error("task.target=mushroon.png")
    assert message.endswith("mushroon.png: no such picture: did you mean mushroom.png?")
    assert error("task.target=none.png").endswith("none.png: no such picture")
    assert "a/none: no such picture" in error("task.target=a/none")


def test_a_run_makes_its_task_once_and_parses_its_picture_once(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(Pattern, "__init__", counting(made, Pattern.__init__))
    parse_picture.cache_clear()
    few = ["training.epochs=1", "training.seed=77", "parallel.workers=1"]
    found = train("lizard-small-heal", few, directory=tmp_path / "run")
    assert found.finished
    wholes = [task for task in made if task.section.heal]
    assert len({id(task) for task in wholes}) == 1
    # The file's text, and the rows that the configuration holds.
    assert parse_picture.cache_info().misses <= 2


def counting(made, init):
    def counted(self, *arguments):
        init(self, *arguments)
        made.append(self)

    return counted
