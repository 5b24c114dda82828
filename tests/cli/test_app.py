"""The command as a whole: start-up, help, exit codes, and what surrounds it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
HEAVY = ("numpy", "numba", "joblib", "rich.live", "rich.console", "scipy")


def run_python(*arguments: str, cwd: Path = REPOSITORY, **environment: str) -> Any:
    """Run Python in a process of its own that imports from `cwd`, then from the checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def run_dct(*arguments: str, **options: Any) -> Any:
    return run_python("-m", "cli", *arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], (*HEAVY, "pydantic")),
        # Typer itself imports pydantic when it parses what follows a sub-command.
        (["config", "--help"], HEAVY),
        (["verify", "--help"], HEAVY),
        (["train-checkerboard", "--help"], HEAVY),
        (["config", "show", "--help"], HEAVY),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], heavy: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from cli.app import main\n"
        f"sys.argv = ['dct', *{arguments!r}]\n"
        "try:\n    main()\n"
        "finally:\n"
        f"    print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = run_python("-c", code)
    assert done.returncode == 0
    assert done.stderr.strip() == "[]"


def test_help_lists_the_commands(dct: Callable[..., Any]) -> None:
    result = dct("--help")
    assert result.exit_code == 0
    for name in ("train-checkerboard", "bench", "verify", "config"):
        assert f"\n  {name} " in result.stdout
    assert "equivalence" in dct("verify", "--help").stdout
    assert "show" in dct("config", "--help").stdout


def test_no_command_shows_the_help_and_fails(dct: Callable[..., Any]) -> None:
    result = dct()
    assert result.exit_code == 2
    assert "train-checkerboard" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["train-checkerbord"], 'did you mean "train-checkerboard"?'),
        (["verify", "equivalent"], 'did you mean "equivalence"?'),
        (["nonsense"], "known: train, train-checkerboard, "),
        (["train-checkerboard", "--epoch", "3"], "--epochs"),
        (["train-checkerboard", "--epochs", "0"], "--epochs"),
        (["train-checkerboard", "--epochs", "many"], "--epochs"),
        (["train-checkerboard", "--workers", "0"], '"0" is neither "auto" nor a whole number'),
        (["train-checkerboard", "extra"], "extra"),
    ],
)
def test_usage_errors_exit_2_with_a_hint(
    dct: Callable[..., Any], arguments: list[str], hint: str
) -> None:
    result = dct(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert hint in result.stderr


def test_version(dct: Callable[..., Any]) -> None:
    from difflogic import __version__

    assert dct("--version").stdout == f"dct {__version__}\n"


@pytest.mark.parametrize(
    "source", ["", "import a_module_that_nobody_has_installed\n", "PROJECT = 'another'\n"]
)
def test_the_other_difflogic_is_refused(tmp_path: Path, source: str) -> None:
    package = tmp_path / "difflogic"
    package.mkdir()
    (package / "__init__.py").write_text(source)

    for arguments in (["config", "show"], ["--version"], ["train-checkerboard"]):
        path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
        done = run_dct(*arguments, cwd=tmp_path, PYTHONPATH=path)
        assert done.returncode == 1
        assert done.stdout == ""
        assert "Another package of that name is on PyPI" in done.stderr
        assert "pipx" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cli", "config", "show"]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_no_traceback() -> None:
    command = [sys.executable, "-m", "cli", "config", "show"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, cwd=REPOSITORY, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


def test_signs_that_stdout_cannot_show_are_replaced() -> None:
    done = run_dct("config", "show", PYTHONIOENCODING="cp437")
    assert done.returncode == 0
    assert done.stdout.isascii()


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_everything(dct: Callable[..., Any], flag: str) -> None:
    assert "train-checkerboard" in dct(flag).stdout
    for name in ("train", "sweep", "runs", "eval"):
        assert f"Usage: dct {name}" in dct(name, flag).stdout
    assert "Usage: dct verify circuit" in dct("verify", "circuit", flag).stdout


def test_options_are_taken_by_their_earlier_names(
    dct: Callable[..., Any], tiny: list[str], tmp_path: Path
) -> None:
    changes = [f"--set={change}" for change in tiny]
    short = ["--epochs=1", "--quiet"]
    for number, words in enumerate((["--run-dir=x0"], ["--run-dir", "x1"], ["--dir", "x2"])):
        done = dct("train-checkerboard", "--config", "checkerboard-small", *changes, *short, *words)
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / f"x{number}" / "model.npz").exists()
    assert dct("train", "--config=checkerboard-small", *changes, *short).exit_code == 0
    done = dct("sweep", "checkerboard-small", *changes, *short, "--seeds=0", "--jobs=1")
    assert done.exit_code == 0, done.stderr
    for command in ("train", "train-checkerboard", "sweep"):
        shown = dct(command, "--help").stdout
        assert "--dir" in shown
        assert not any(old in shown for old in ("--run-dir", "--jobs", "--config"))


def test_what_is_no_option_keeps_its_error(dct: Callable[..., Any]) -> None:
    done = dct("list", "--jobs=1")
    assert done.exit_code == 2
    assert "--jobs" in done.stderr
    assert dct("train", "--", "--config").exit_code == 2


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("dct tr", "train-checkerboard"),
        ("dct verify c", "convergence"),
        ("dct sweep --wo", "--workers"),
    ],
)
def test_the_shell_completes(typed: str, found: str) -> None:
    done = run_dct(
        _DCT_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(typed.split()) - 1)
    )
    assert found in done.stdout.split()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["train", "--help"], ["config", "show"], ["list"]]
)
def test_results_that_cannot_be_printed_are_a_failure(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *arguments],
            cwd=REPOSITORY,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="where a directory in use can be removed")
def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = "import os, sys; os.rmdir(os.getcwd()); from cli.entry import main; main()"
    result = run_python("-c", gone, cwd=tmp_path)
    assert result.returncode == 2
    told = "error: the working directory: no such file or directory: go to one that is there\n"
    assert result.stderr == told
