"""Lines of results on a terminal."""

import sys

import pytest

from cli.terminal import output

WORDS = "proof      proved at step 36 and at every later one, after each of 914 cases of damage"


@pytest.mark.parametrize("width", [40, 80])
def test_a_sentence_folds_between_words(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert output.fold(WORDS, 11) == WORDS
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    first, *rest = output.fold(WORDS, 11).split("\n")
    assert rest
    assert max(map(len, [first, *rest])) <= width
    assert all(line[:11].isspace() and line[11] != " " for line in rest)
    assert " ".join([first, *map(str.strip, rest)]) == WORDS


def test_a_command_stays_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    command = "dct verify convergence runs/letter-g-seed616 --time-limit 600 goes on"
    folded = output.fold(f"proof      proved at step 15; later steps are unknown: {command}", 11)
    assert folded.endswith(f"unknown:\n{' ' * 11}{command}")
