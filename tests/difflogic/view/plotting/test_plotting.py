"""Figures of runs: their lines have the numbers of the files."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.library.reporting import plot
from difflogic.run.metrics import MetricsRow
from difflogic.system.errors import ConfigError
from difflogic.view.plotting import runs
from difflogic.view.plotting.style import encode, require_matplotlib, styled
from difflogic.view.reports.curves import charts
from tests.difflogic.view.histories import model, rows

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="no matplotlib")


MODEL = model("training.seed=4")


def by_label(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


@pytest.mark.once
def test_curves_have_every_epoch_of_a_short_run():
    """They are those of the report."""
    some = rows(40, (15, 22, 35))
    with styled():
        made = runs.draw(MODEL, some, 30)
        plain = runs.draw(MODEL, [MetricsRow(1, 5.0, 4.0, 0.5)], None)
    assert by_label(made.axes[0])["verified exact"][:, 0].tolist() == [30, 30]
    assert [bar.get_width() for bar in made.axes[4].patches] == [20, 60, 8]
    for axes, chart in zip(made.axes[:4], charts(some, 30, None).values(), strict=True):
        factor = 100 if chart["scale"] == "percent" else 1
        for name, points in chart["lines"]:
            np.testing.assert_allclose(by_label(axes)[name], np.array(points) * (1, factor))
        assert [line.get_xdata()[0] for line in axes.get_lines()[-3:]] == [15, 22, 35]
        words = [text.get_text() for text in axes.get_legend().get_texts()]
        assert words[-1] == "starts over"
        assert len(set(words)) == len(words)
    words = [[text.get_text() for text in axes.texts] for axes in plain.axes[2:4]]
    assert words == [["not recorded"], ["not recorded"]]


def test_histograms_count_the_ops():
    with styled():
        made = runs.draw(MODEL, (), None)
    perception, update = made.axes[5:7]
    split = MODEL.config.architecture.kernels * MODEL.config.architecture.kernel_gates
    for axes, ops in ((perception, MODEL.ops[:split]), (update, MODEL.ops[split:])):
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == np.bincount(ops, minlength=len(Op)).tolist()


@pytest.mark.thorough
def test_settings_of_the_user_change_no_figure():
    import matplotlib

    def drawn():
        with styled():
            return encode(runs.draw(MODEL, rows(40), 30), ".svg")

    own = {"text.usetex": True, "axes.prop_cycle": matplotlib.cycler(color=[]), "text.color": "w"}
    expected = drawn()
    with matplotlib.rc_context(own):
        assert drawn() == expected
        assert matplotlib.rcParams["text.usetex"]


def test_without_matplotlib_the_message_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[plot\]'"):
        require_matplotlib()
    with pytest.raises(ConfigError, match="matplotlib"):
        plot(tmp_path, tmp_path / "a.svg")
