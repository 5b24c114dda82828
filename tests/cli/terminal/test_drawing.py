"""Grids of cells as characters."""

from __future__ import annotations

import numpy as np
import pytest

from cli.terminal import drawing


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ([[0, 1, 0, 1], [0, 0, 1, 1]], [" ▀▄█"]),
        ([[1]], ["▀"]),
        ([[0, 0], [1, 1], [1, 0]], ["▄▄", "▀ "]),
    ],
)
def test_picture_shows_two_cells_per_character(grid: list[list[int]], lines: list[str]) -> None:
    assert drawing.picture(np.array(grid, np.uint8), 10) == lines


def test_picture_is_cut_to_the_lines_there_are() -> None:
    assert drawing.picture(np.ones((100, 3), np.uint8), 2) == ["███", "███"]


COLORED = np.array([[[1, 0], [0, 1]], [[0, 0], [1, 1]], [[0, 1], [0, 1]]], np.uint8)
"""Red and blue over green and white."""


def test_three_channels_are_a_picture_in_colours() -> None:
    (line,) = drawing.cells(COLORED, 10, colored=True)
    assert line.plain == "▀▀"
    assert [str(span.style) for span in line.spans] == ["red on green", "blue on white"]


def test_without_colours_the_first_channel_is_drawn() -> None:
    for bits, colored in ((COLORED, False), (COLORED[:1], True), (COLORED[[0, 0, 0, 0]], True)):
        (line,) = drawing.cells(bits, 10, colored)
        assert line.plain == drawing.picture(COLORED[0], 10)[0] == "▀▄"


def test_a_picture_in_colours_is_cut_to_the_lines_there_are() -> None:
    assert len(drawing.cells(np.ones((3, 99, 3), np.uint8), 2, colored=True)) == 2
    assert len(drawing.cells(np.ones((3, 5, 3), np.uint8), 9, colored=True)) == 3
