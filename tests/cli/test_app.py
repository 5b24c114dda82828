"""The command as a whole: start-up, help, exit codes, completion."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.app import COMMANDS, app, config, runs, verify
from difflogic.version import __version__
from tests.cli.processes import run_dct, run_python
from tests.paths import ROOT

HEAVY = ("numpy", "numba", "joblib", "rich.live", "rich.console", "scipy")


@pytest.mark.once
@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], (*HEAVY, "pydantic")),
        # Typer itself imports pydantic when it parses what follows a sub-command.
        (["train-checkerboard", "--help"], HEAVY),
        (["config", "show", "--help"], HEAVY),
    ],
)
def test_help_imports_nothing_heavy(arguments, heavy):
    code = (
        "import sys\n"
        "from cli.app import main\n"
        f"sys.argv = ['dct', *{arguments!r}]\n"
        "try:\n    main()\n"
        "finally:\n"
        f"    print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)\n"
    )
    assert run_python("-c", code, good=True).stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("", "train-checkerboard"),
        ("train-checkerbord", 'did you mean "train-checkerboard"?'),
        ("verify equivalent", 'did you mean "equivalence"?'),
        ("nonsense", "choose from train, train-checkerboard, "),
        ("train-checkerboard --epoch 3", "--epochs"),
        (
            "train-checkerboard --workers 0",
            'value for --workers: "0" is not a whole number from 1 to 1024, or "auto"',
        ),
        ("train-checkerboard extra", "extra"),
        ("identify x --neighbourhood y", "value for '--neighbourhood': 'y' is not one of 'moore'"),
        ("\x1b[2J", "\\x1b"),
        ("config show --\x1b[2J", "\\x1b"),
        ("train checkerboard --set 'name=\"\x1b[31m\"'", "\\x1b"),
    ],
)
def test_usage_errors_exit_2_with_a_hint(dct, arguments, hint):
    refusal = dct(arguments).refusal
    assert hint in refusal
    assert "\x1b" not in refusal


def test_version(dct):
    assert dct("--version").stdout == f"dct {__version__}\n"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import a_module_that_nobody_has_installed\n", "--version"),
        ("PROJECT = 'another'\n", "config show"),
    ],
)
def test_the_other_difflogic_is_refused(tmp_path, source, words):
    package = tmp_path / "difflogic"
    package.mkdir()
    (package / "__init__.py").write_text(source)

    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run_dct(words, cwd=tmp_path, variables={"PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (1, "")
    assert "Another package of that name is on PyPI" in done.stderr
    assert "pipx" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.once
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_is_discarded(closed):
    command = f"{shlex.quote(sys.executable)} -m cli config list {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def every_command():
    """Return the words of every command, sub-commands included."""
    groups = {"verify": verify, "config": config, "runs": runs}
    inner = [[group, name] for group, cls in groups.items() for name in cls.entries]
    return [*([name] for name in COMMANDS), *inner]


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_help_of_every_command(dct, words):
    """An option's help is a phrase on a line or two; rare options come last."""
    for flag in ("-h", "--help"):
        shown = dct(*words, flag).stdout
        assert shown.startswith(f"Usage: dct {' '.join(words)} ")
        assert max(map(len, shown.splitlines())) <= 80
    common, _, rare = shown.partition("\nAdvanced options:\n")
    assert "-h, --help" in common
    command: Any = typer.main.get_command(app)
    for name in words:
        command = command.get_command(None, name)
    for option in command.params:
        if option.param_type_name == "option" and option.help:
            assert not option.help.endswith("."), option.name
            phrase = re.sub("(: [^:]*(, [^ ]*){7})?(  .default: .*)?$", "", option.help)
            assert len(phrase) <= 120, option.name
            advanced = getattr(option, "rich_help_panel", None) is not None
            assert ((option.opts + option.secondary_opts)[0] in rare) or not advanced


@pytest.mark.once
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("dct tr", "train-checkerboard"),
        ("dct sweep --wo", "--workers"),
        ("dct train letter-g-he", "letter-g-heal"),
    ],
)
def test_the_shell_completes(typed, found):
    last = str(len(typed.split()) - 1)
    asked = {"_DCT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": last}
    done = run_dct(variables=asked)
    assert found in done.stdout.split()


@pytest.mark.once
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize("arguments", ["--help", "train --help", "config show"])
def test_results_that_cannot_be_printed_are_a_failure_but_for_a_closed_pipe(arguments):
    with open("/dev/full", "w") as full:
        done = run_dct(arguments, stdout=full)
    said = "error: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)
    reader, writer = os.pipe()
    os.close(reader)
    done = run_dct(arguments, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.thorough
def test_output_is_utf_8_and_a_configuration_that_is_printed_is_read():
    done = run_dct("config show lizard", variables={"PYTHONIOENCODING": "cp1252"})
    assert tomllib.loads(done.stdout)["name"] == "lizard"
    assert "×" in done.stdout
    refused = run_dct("plan", "ü\udc80", variables={"PYTHONIOENCODING": "ascii"}).stderr
    assert '"ü\\udc80"' in refused


def test_a_removed_working_directory_is_reported(tmp_path):
    gone = "import os, sys; os.rmdir(os.getcwd()); from cli.entry import main; main()"
    # Without -P, Python 3.13.0 itself fails to import there.
    result = run_python("-P", "-c", gone, cwd=tmp_path)
    refusal = "error: the working directory: no such file or directory: change to one that exists\n"
    assert (result.returncode, result.stderr) == (2, refusal)


@pytest.mark.thorough
def test_all_public_names_are_imported_by_a_star():
    done = run_python("-c", "from difflogic import *; print(DctError.__name__, train.__name__)")
    assert done.stdout == "DctError train\n", done.stderr
