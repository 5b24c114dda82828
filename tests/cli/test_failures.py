"""From exceptions to messages and exit codes."""

import sys
from unittest.mock import Mock

import pytest
import typer

from cli.failures import explained, note, printable
from difflogic.system.errors import ConfigError, ModelFileError, RunDirectoryError, TrainingError
from tests.cli.processes import run_dct
from tests.paths import GALLERY


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("no key"), 2, "error: no key"),
        (ModelFileError("truncated"), 2, "error: truncated"),
        (RunDirectoryError("not empty"), 2, "error: not empty"),
        (TrainingError("not finite"), 1, "error: not finite"),
        (OSError(28, "No space left on device", "a/b"), 1, "error: a/b: No space left on device"),
        (OSError("strange"), 1, "error: strange"),
        (MemoryError(), 1, "error: out of memory: use fewer workers"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_foreseeable_errors_become_a_message(error, code, message, capsys, monkeypatch):
    monkeypatch.delenv("DCT_DEBUG", raising=False)
    with pytest.raises(typer.Exit) as exit_info, explained():
        raise error
    captured = capsys.readouterr()

    assert exit_info.value.exit_code == code
    assert captured.err.startswith(message)
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_a_bug_stays_a_bug():
    with pytest.raises(ZeroDivisionError), explained():
        _ = 1 // 0


def test_a_closed_stderr_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Mock(**{"write.side_effect": BrokenPipeError}))
    note("hello")


def test_control_characters_are_escaped():
    hostile = "\x1b[2J\x07\x9b31m\u202egnp.exe\r\x00"
    assert printable(f"no key {hostile}\n\tlow ä ∨") == (
        "no key \\x1b[2J\\x07\\x9b31m\\u202egnp.exe\\r\\x00\n\tlow ä ∨"
    )


@pytest.mark.parametrize("error", [ImportError("failed to map segment"), SystemError("?")])
def test_failures_without_memory_are_reported_as_such(error, capsys, monkeypatch):
    monkeypatch.delenv("DCT_DEBUG", raising=False)
    with pytest.raises(type(error)), explained():
        raise error
    monkeypatch.setattr("cli.failures.memory_is_left", lambda: False)
    with pytest.raises(typer.Exit) as exit_info, explained():
        raise error
    assert exit_info.value.exit_code == 1
    assert capsys.readouterr().err.startswith("error: out of memory: use fewer workers")
    monkeypatch.setenv("DCT_DEBUG", "1")
    with pytest.raises(typer.Exit), explained():
        raise error
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("variable", "value"),
    [("NUMBA_NUM_THREADS", "0"), ("JOBLIB_START_METHOD", "x"), ("LOKY_MAX_CPU_COUNT", "x")],
)
def test_variables_that_libraries_refuse(variable, value):
    """Each import and call that a variable breaks says which one."""
    inspects = variable == "NUMBA_NUM_THREADS"
    words = f"inspect {GALLERY}/checkerboard.json" if inspects else "plan checkerboard-small"
    done = run_dct(words, variables={variable: value})
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert variable in done.stderr
    assert "Traceback" not in done.stderr
