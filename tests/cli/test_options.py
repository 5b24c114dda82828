"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from cli.commands.train import picture_name, picture_override
from cli.options import RunOptions, flag, whole_number, with_options
from difflogic.config import Override, load_config


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), ("4096", 4096)])
def test_numbers_in_digits(text: str, number: int) -> None:
    assert whole_number(1, 4096)(text) == number


@pytest.mark.parametrize(
    "text", ["1_000", "+5", "0", "4097", "1.0", " 5", "5\n", "٣", "", "9" * 5000]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a whole number from 1 to 4096"):
        whole_number(1, 4096)(text)


def test_numbers_without_an_upper_end() -> None:
    assert whole_number(-3)("-3") == -3
    with pytest.raises(typer.BadParameter, match="of at least 1"):
        whole_number(1)("0")


def test_a_command_gets_its_own_options_and_the_shared_ones() -> None:
    found = []

    @with_options
    def command(
        many: Annotated[bool, flag("--many", "Own")] = False, *, options: RunOptions
    ) -> None:
        """Help of it."""
        found.append((many, options))

    app = typer.Typer()
    app.command()(command)
    words = ["--many", "--epochs", "7", "--set", "training.epochs=9", "--workers", "2", "--quiet"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    options = RunOptions(epochs=7, workers=2, overrides=["training.epochs=9"], quiet=True)
    assert found == [(True, options)]
    assert options.all_overrides == [
        "training.epochs=9",
        Override("training.epochs=7", "--epochs 7"),
        Override("parallel.workers=2", "--workers 2"),
    ]
    assert "Help of it." in CliRunner().invoke(app, ["--help"]).output


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
    assert picture_name(target) == name
    assert load_config("lizard", [f"name={name}"]).name == name


def test_a_local_file_has_priority_over_a_shipped_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert picture_override("lizard").text == 'task.target="lizard"'
    Path("lizard").write_text("#")
    for target in ("lizard", "x.png", 'a "b"/c'):
        expected = json.dumps(str(tmp_path / target))
        assert picture_override(target).text == f"task.target={expected}"
