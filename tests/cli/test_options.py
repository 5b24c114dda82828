"""Options: what texts mean, what functions declare, and how they reach the library."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from cli import calling
from cli.calling import calls, documented
from cli.commands.train import picture_name, picture_override
from cli.options import RunOptions
from difflogic.config import Override, load_config
from difflogic.library.options import Opt, checked, declared
from difflogic.system.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "kind", "number"), [("007", int, 7), ("4096", int, 4096), ("0.5", float, 0.5)]
)
def test_numbers_in_digits(text, kind, number):
    assert Opt(0, 4096).read(kind, text) == number


@pytest.mark.parametrize(
    "text", ["1_000", "+5", "0", "4097", "1.", " 5", "5\n", "٣", "", "9" * 5000, "nan", "1e999"]
)
@pytest.mark.parametrize("kind", [int, float])
def test_other_texts_are_refused(text, kind):
    with pytest.raises(ConfigError, match=r"is not a (whole )?number from 1 to 4096"):
        Opt(1, 4096).read(kind, text)


def test_a_docstring_names_the_options():
    text, found = documented(
        """Do it.

        Options:
            every --each -e N: Show every one,
                or none, by default all
        Advanced options:
            damage STEPS:Y,X,HxW: Hurt it
        """
    )
    assert text == "Do it."
    assert list(found) == ["every", "damage"]
    every, damage = found.values()
    assert every.help == "Show every one, or none"
    assert (every.names.split(), every.metavar, every.shown) == (["--each", "-e"], "N", "all")
    assert (damage.metavar, damage.panel) == ("STEPS:Y,X,HxW", "Advanced options")


def test_the_signature_that_is_read_is_the_real_one():
    """Commands read the source; the functions that they call must declare the same."""
    for target in ["simulating.simulate", "training.train", "sweeping.sweep", "certifying.certify"]:
        read, words = calling._of_library(target)
        function = calling.load(target)
        real = inspect.signature(function).parameters
        assert list(read) == list(real)
        assert set(words) <= set(real)
        names = vars(inspect.getmodule(function))
        for parameter, (annotation, default) in read.items():
            if default not in (None, inspect.Parameter.empty):
                assert default == real[parameter].default
            if parameter in words and "Config" not in annotation:
                assert declared(annotation, calling.NAMES)[0] == declared(annotation, names)[0]


def test_a_function_holds_its_callers_to_what_it_declares():
    @checked
    def grow(steps: Annotated[int, Opt(1, 9)] = 1, mode: Literal["slow", "fast"] = "slow") -> int:
        return steps

    assert grow(9, mode="fast") == 9
    with pytest.raises(ConfigError, match="steps 10: must be from 1 to 9"):
        grow(10)
    with pytest.raises(ConfigError, match='no mode "fats": did you mean "fast"'):
        grow(mode="fats")


def test_types_are_made_by_operators():
    """Special methods of types are nobody's interface: Python 3.13 has lost one."""
    for file in Path(calling.__file__).parent.rglob("*.py"):
        assert "__class_getitem__" not in file.read_text(), file


def test_a_command_gets_its_own_options_and_the_shared_ones():
    found = []

    @calls("training.train")
    def command(run: Any, many: bool = False, *, options: RunOptions) -> None:
        """Help of it.

        Options:
            many: Own
        """
        found.append((many, options, run.keywords))

    app = typer.Typer()
    app.command()(command)
    words = ["--many", "--epochs", "7", "--set", "training.epochs=9", "--workers", "2", "--quiet"]
    result = CliRunner().invoke(app, [*words, "--from", "last"])
    assert result.exit_code == 0, result.output
    ((many, options, given),) = found
    assert many
    assert (options.epochs, options.workers, options.quiet) == (7, 2, True)
    assert given == {
        "overrides": ["training.epochs=9"],
        "source": Path("last"),
        "allow_code": False,
    }
    assert options.all_overrides == [
        "training.epochs=9",
        Override("training.epochs", 7, "--epochs 7"),
        Override("parallel.workers", 2, "--workers 2"),
    ]
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "Help of it." in shown
    assert "Options:\n  many" not in shown


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
