"""The options that all commands which train share."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer
from typer.testing import CliRunner

from cli.commands import train
from cli.options.common import with_options
from cli.options.run_options import RunOptions
from difflogic.config import Override

COMMANDS = (train.train, train.train_checkerboard, train.train_gol, train.train_pattern)


def test_every_command_has_all_of_them() -> None:
    shared = list(inspect.signature(RunOptions).parameters)
    for command in COMMANDS:
        assert list(inspect.signature(command).parameters)[-len(shared) :] == shared


def test_a_command_gets_its_own_and_the_shared_ones() -> None:
    found = []

    @with_options
    def command(
        many: Annotated[int, typer.Option("--many", help="Own.")] = 3, *, options: RunOptions
    ) -> None:
        """Help of it."""
        found.append((many, options))

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["--many", "5", "--epochs", "7", "--set", "a.b=1", "--quiet"])
    assert result.exit_code == 0, result.output
    assert found == [(5, RunOptions(epochs=7, overrides=["a.b=1"], quiet=True))]
    assert "Help of it." in CliRunner().invoke(app, ["--help"]).output


def test_flags_come_after_set() -> None:
    options = RunOptions(epochs=7, seed=0, workers="2", overrides=["training.epochs=9"])
    assert options.all_overrides == [
        Override("training.epochs=9", "--set training.epochs=9"),
        Override("training.epochs=7", "--epochs 7"),
        Override("training.seed=0", "--seed 0"),
        Override("parallel.workers=2", "--workers 2"),
    ]
    assert RunOptions().all_overrides == []
