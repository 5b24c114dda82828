"""From exceptions to messages and exit codes."""

from __future__ import annotations

import sys

import pytest
import typer

from cli.errors import explained, note
from difflogic.errors import ConfigError, ModelFileError, RunDirectoryError, TrainingError


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
def test_foreseeable_errors_become_a_message(
    error: BaseException,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DCT_DEBUG", raising=False)
    with pytest.raises(typer.Exit) as exit_info, explained():
        raise error
    captured = capsys.readouterr()

    assert exit_info.value.exit_code == code
    assert captured.err.startswith(message)
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_debug_shows_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCT_DEBUG", "1")
    with pytest.raises(typer.Exit), explained():
        raise ConfigError("no key")
    captured = capsys.readouterr()

    assert "Traceback" in captured.err
    assert captured.err.endswith("error: no key\n")


def test_a_bug_stays_a_bug() -> None:
    with pytest.raises(ZeroDivisionError), explained():
        _ = 1 // 0


def test_a_note_that_nobody_can_read_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    note("hello")
