"""A terminal that a test can read."""

import io
import re
import sys

import pytest


class Terminal(io.StringIO):
    """Collects output, and claims to be a terminal."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """All that was written, without its styles."""
        return re.sub(r"\x1b\[[0-9;]*m", "", self.getvalue())


def open_terminal(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> Terminal:
    """Replace stdout and stderr by one terminal with colours.

    Not a fixture: pytest itself replaces both between fixtures and test.
    """
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", "24")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    return screen
