"""The counter on stderr, live and plain, and the table on stdout."""

from __future__ import annotations

import io
import re
import sys

import pytest

from cli.terminal import counter, display, output
from cli.terminal.counter import Counter


class Terminal(io.StringIO):
    """Takes what is written and says that it is a terminal."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """All that was written, without its styles."""
        return re.sub(r"\x1b\[[0-9;]*m", "", self.getvalue())


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace stdout and stderr by one terminal of 60 columns.

    No fixture, since pytest replaces them itself between fixtures and test.
    """
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a clock that stands until its one element is changed."""
    now = [100.0]
    monkeypatch.setattr(counter.time, "perf_counter", lambda: now[0])
    return now


def test_live(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal = open_terminal(monkeypatch)
    with Counter("steps:", 10) as count:
        assert "steps: 0/10 ─" in terminal.text
        clock[0] += 50.0  # before the first part: no part of the rate
        count.update(1)
        assert "left" not in terminal.text
        clock[0] += 4.0
        count.update(3, "the third")
        assert "steps: 3/10 ━" in terminal.text
        assert "0:14 left" in terminal.text
    assert terminal.text.endswith("\x1b[2K")  # nothing stays behind


def test_live_frames_are_rare(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal = open_terminal(monkeypatch)
    with Counter("steps:", 10) as count:
        count.update(1)
        clock[0] += display.FRAME_SECONDS / 2
        count.update(2)
    assert "steps: 2" not in terminal.text


def test_live_without_a_total(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal = open_terminal(monkeypatch)
    with Counter("comparisons:") as count:
        clock[0] += 1
        count.update(7, "float32 states, on a case whose name does not fit into the line at all")
    assert "comparisons: 7 " in terminal.text
    assert "…" in terminal.text


def test_lines_are_rarer(capsys: pytest.CaptureFixture[str], clock: list[float]) -> None:
    with Counter("steps:", 10) as count:
        for done in range(1, 6):
            clock[0] += 0.6 * counter.QUIET_SECONDS
            count.update(done)
    assert capsys.readouterr().err == "steps: 2/10\nsteps: 4/10\n"


def test_a_table_cuts_no_number_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    table = output.new_table("what it is", *(f"column {index}" for index in range(9)))
    table.add_row("some words [here]", *("123456.789" for _ in range(9)))
    output.show_table(table)
    text = terminal.text
    assert text.count("123456.789") == 9
    assert "[here]" in text
    assert "…" not in text


def test_json_has_no_bare_infinity(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_json({"a": [float("inf"), -1.5], "b": (float("nan"), None), "c": True})
    text = "".join(capsys.readouterr().out.split())
    assert text == '{"a":["inf",-1.5],"b":["nan",null],"c":true}'
