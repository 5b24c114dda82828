"""Pictures of `dct train-pattern`: their names, and how they are shown."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from cli.options import pattern
from difflogic.config import Config, load_config
from difflogic.tasks import make_task


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal with colours, and return it."""
    stderr = Terminal()
    monkeypatch.setattr("sys.stdout", Terminal())
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stderr


def show(config: Config) -> None:
    preview = make_task(config).preview
    assert preview is not None
    pattern.show_preview(preview)


def test_a_picture_is_shown_in_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    show(load_config("letter-g"))
    first, *rows = terminal.getvalue().splitlines()
    assert first == "to grow from nothing in 15 steps, 91 of 16×16 cells:"
    assert [row.count("▀") for row in rows] == [16] * 8


def test_without_colours_letters_tell_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    config = load_config("letter-g")
    show(config)
    assert terminal.getvalue().splitlines()[1:] == config.task.target.split()


def test_one_channel_needs_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    show(load_config("lizard"))
    assert len(terminal.getvalue().splitlines()) == 1 + 10
    assert "█" in terminal.getvalue()


def test_without_a_terminal_it_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    config = load_config("lizard")
    show(config)
    assert capsys.readouterr().err.splitlines()[1:] == config.task.target.split()


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("mine.png", "pattern-mine"),
        ("a/b/My Cat (2).txt", "pattern-My-Cat--2-"),
        ("ü", "pattern--"),
        ("x" * 99, "pattern-" + "x" * 56),
    ],
)
def test_an_experiment_is_named_after_its_picture(target: str, name: str) -> None:
    assert pattern.picture_name(target) == name
    assert load_config("lizard", [f"name={name}"]).name == name


def test_a_file_of_the_working_directory_is_meant_before_a_shipped_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pattern.picture_override("lizard").text == 'task.target="lizard"'
    Path("lizard").write_text("#")
    for target in ("lizard", "x.png", 'a "b"/c'):
        expected = json.dumps(str(tmp_path / target))
        assert pattern.picture_override(target).text == f"task.target={expected}"
