"""The figure of a simulated speed-up holds the simulated and the measured points."""

from __future__ import annotations

import pytest

from difflogic.config import load_config
from difflogic.scale.speed.curves import Curves
from difflogic.scale.speed.replay import STRATEGIES
from difflogic.view.plotting.scaling import draw

CONFIG = load_config("checkerboard-small")


def test_a_figure_holds_what_was_simulated_and_measured():
    pytest.importorskip("matplotlib")
    seconds = {name: {1: 8.0, 2: 4.0, 4: 2.0 + n} for n, name in enumerate(STRATEGIES)}
    made = draw(Curves(CONFIG, seconds, 8.0, {1: 8.0, 2: 4.0}, {1: 8.0, 2: 4.4}))
    lines = {line.get_label(): line.get_xydata().tolist() for line in made.axes[0].get_lines()}
    for n, name in enumerate(STRATEGIES):
        assert lines[name] == [[1, 1], [2, 2], [4, 8 / (2 + n)]]
    assert lines["measured"] == [[1, 1], [2, pytest.approx(8 / 4.4)]]
    (band,) = made.axes[0].patches
    assert (band.get_x(), band.get_x() + band.get_width()) == (2, 4)
