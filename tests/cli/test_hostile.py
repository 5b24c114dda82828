"""Hostile files and values: every command refuses them with a message, and changes nothing."""

import os
import re

import pytest
import typer

from cli.app import app
from tests.cli.test_app import every_command

PRECIOUS = "years of work"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
COMMANDS = {" ".join(words) for words in every_command()} - {"runs", "runs list", "watch"}
"""All but those for which an empty directory is right, and that serve until Ctrl-C."""

CONFIGURED = {"config show", "plan", "sweep", "train"}
ALONE = {"bench", "config list", "verify equivalence"}
ALONE |= {"train-checkerboard", "train-gol", "train-pattern"}
"""Commands that take a configuration, and that do without a file."""

NEEDED = {"import": ["--output=new.json"], "export": ["--output=new.v"], "sweep": ["--seeds=0"]}
NUMBERS = ("", "-1", "1_0", "+5", "5\n", "nan", "1e999", "٣", "9" * 5000, "\x1b[2J")
VALUES = {
    "N": NUMBERS,
    "SHARE": NUMBERS,
    "SECONDS": ("0", "-1", "1_0", "nan"),
    "HxW": ("0x5", "5", "1x99999999999", "axb", "3x3\x1b[2J"),
    "SECTION.KEY=VALUE": ("x", "training=1", "a." * 200 + "b=1", "[" * 500 + "=1"),
}
"""Values that no option of this kind takes."""


def option_values(words):
    """Yield options of a command, each with a value that it must refuse."""
    command = typer.main.get_command(app)
    for word in words.split():
        command = command.get_command(None, word)
    for option in command.params:
        for value in VALUES.get(getattr(option, "metavar", None), ()):
            if option.param_type_name == "option":
                yield option.opts[0], value


@pytest.fixture
def files(run, tmp_path):
    """Links, devices, pipes and damaged files in the working directory."""
    precious = tmp_path.parent / "precious"
    precious.write_text(PRECIOUS)
    for place in (tmp_path, run):
        (place / "link.json").symlink_to(precious)
    (tmp_path / "endless.npz").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "\x1b[2J.json").write_text("{}")
    (tmp_path / "evil.py").write_text("raise SystemExit(99)")
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut.npz").write_bytes((run / "model.npz").read_bytes()[:-100])
    names = [path.name for path in tmp_path.iterdir() if path != run]
    (run / "config.toml").unlink()
    os.mkfifo(run / "config.toml")
    (run / "model.npz").rename(tmp_path.parent / "elsewhere.npz")
    (run / "model.npz").symlink_to(tmp_path.parent / "elsewhere.npz")
    long = "x" * 300
    yield [*names, "run", "absent\x1b[2J", long, f"{long}.toml", "/dev/full", "/"]
    assert precious.read_text() == PRECIOUS
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_every_command_refuses_them(words, dct, files):
    begin = [*words.split(), *NEEDED.get(words, [])]
    given = [] if words in ALONE else files
    for name in given:
        assert not CONTROL.search(dct(*begin, name).refusal), name
    first = ["checkerboard-small"] if words in CONFIGURED else given[:1]
    for option, value in option_values(words):
        refusal = dct(*begin, *first, f"{option}={value}").refusal
        assert option.strip("-") in refusal, value
        assert not CONTROL.search(refusal), value
