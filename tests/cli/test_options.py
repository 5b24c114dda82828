"""Options: what texts mean, what functions declare, and how they reach the library."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from cli import calling
from cli.options import RunOptions, Shared
from difflogic.config import Override, load_config
from difflogic.library.groups import CheckedOptions
from difflogic.library.picture_experiment import picture_name, picture_override
from difflogic.system.declaration import Count, Opt, TimeLimit, declared
from difflogic.system.errors import ConfigError
from tests.cli.processes import run_dct


@dataclass(frozen=True)
class Group(CheckedOptions):
    every: Annotated[Count, Opt("Show every one", shown="all")] = 1
    seeds: Annotated[Sequence[int], Opt("Seeds")] = ()
    internal: Any = None


@dataclass(frozen=True)
class Hidden:
    every: int = 7


def test_what_is_added_to_a_declaration_replaces_its_words():
    opt = declared(Annotated[TimeLimit, Opt("Time for this", shown="10")]).opt
    assert (opt.help, opt.shown, opt.metavar) == ("Time for this", "10", "SECONDS")


def test_a_group_stands_for_its_options():
    found = []

    def run(before: Hidden, group: Group, many: Annotated[bool, Opt("Own")] = False) -> None:
        """Help of it."""
        assert before == Hidden()
        found.append((group, many))

    app = typer.Typer()
    app.command()(calling.command(run))
    for words in ([], ["--every", "3", "--seeds", "1,4-5", "--many"]):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    assert found == [(Group(), False), (Group(3, (1, 4, 5)), True)]
    with pytest.raises(ConfigError, match="must be at least 1"):
        Group(0)
    refused = CliRunner().invoke(app, ["--every", "0"])
    assert refused.exit_code == 2
    assert "internal" not in CliRunner().invoke(app, ["--help"]).output


@pytest.mark.once
def test_without_docstrings_commands_keep_their_options():
    done = run_dct("sweep --help", good=True, variables={"PYTHONOPTIMIZE": "2"})
    assert "--scheduler-timeout SECONDS" in done.stdout
    assert "Train with many seeds" in done.stdout


def test_options_of_a_run_become_overrides():
    options = RunOptions(overrides=["training.epochs=9"], epochs=7)
    assert options.all_overrides(Shared(workers=2)) == [
        "training.epochs=9",
        Override("training.epochs", 7, "--epochs 7"),
        Override("parallel.workers", 2, "--workers 2"),
    ]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("mine.png", "pattern-mine"),
        ("a/b/My Cat (2).txt", "pattern-My-Cat--2-"),
        ("ü", "pattern--"),
        ("x" * 99, "pattern-" + "x" * 56),
    ],
)
def test_an_experiment_is_named_after_its_picture(target, name):
    assert picture_name(target) == name
    assert load_config("lizard", [f"name={name}"]).name == name


def test_a_local_file_has_priority_over_a_shipped_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert picture_override("lizard").value == "lizard"
    Path("lizard").write_text("#")
    for target in ("lizard", "x.png", 'a "b"/c'):
        assert picture_override(target).value == str(tmp_path / target)
