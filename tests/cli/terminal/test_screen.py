"""The counter on stderr, and tables on stdout."""

import re

import pytest

from cli.terminal import output, screen
from cli.terminal.screen import FRAME_SECONDS, Counter
from tests.cli.terminal.screens import open_terminal


def test_live(monkeypatch, clock):
    terminal = open_terminal(monkeypatch)
    with Counter("steps:", 10) as count:
        assert re.search("steps: ━+ 0/10", terminal.text)
        clock[0] += 50.0  # before the first part: no part of the rate
        count.update(1)
        assert "left" not in terminal.text
        clock[0] += FRAME_SECONDS / 2
        count.update(2)
        assert " 2/10" not in terminal.text
        for done in (3, 4):
            clock[0] += 4.0
            count.update(done, "the last one")
        assert re.search("steps: [━╸╺]+ 4/10 0:.. left the last one", terminal.text)
    assert terminal.text.endswith("\x1b[2K")  # nothing stays behind


def test_lines_without_a_terminal(capsys, clock):
    with Counter("steps:", 10) as count:
        for done in range(1, 6):
            clock[0] += 0.6 * screen.QUIET_SECONDS
            count.update(done)
    assert capsys.readouterr().err == "steps: 2/10\nsteps: 4/10\n"


@pytest.mark.parametrize("spare", ["", "column 0 | column 8"])
def test_a_table_cuts_no_number_on_a_narrow_terminal(monkeypatch, spare):
    terminal = open_terminal(monkeypatch, 60)
    heads = " | ".join(["what it is", *(f"column {index}" for index in range(9))])
    output.show_table(heads, [["some words [here]", *([123456.789] * 9)]], spare=spare)
    text = terminal.text
    assert text.count("123456.789") == (7 if spare else 9)
    assert "[here]" in text
    assert "…" not in text


def test_a_table_in_a_pipe_is_plain(capsys):
    output.show_table("what | how many | why", [("a", 12, None), (), ("bc", 3, "x")], texts=1)
    assert capsys.readouterr().out == (
        "what  how many  why\na           12    -\nbc           3    x\n"
    )


def test_json_has_no_bare_infinity(capsys):
    output.show_json({"a": [float("inf"), -1.5], "b": (float("nan"), None), "c": True})
    text = "".join(capsys.readouterr().out.split())
    assert text == '{"a":[null,-1.5],"b":[null,null],"c":true}'
