"""The style of figures: legible in print and to the colour-blind, white on dark pages too."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from difflogic.system.environment import environment_of
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = (".svg", ".png", ".pdf")

HUES = ("#0072b2", "#d55e00")
"""From Okabe and Ito 2008. Lines and marks differ as well, for print."""
STYLES = ("-", "--")
MARKS = ("o", "s")
FAINT = "#8a8a8a"

_STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "svg.hashsalt": "dct",
    "savefig.dpi": 160,
}


def require_matplotlib() -> None:
    """Raise ConfigError, which says how to install it, if matplotlib is missing."""
    try:
        with environment_of("matplotlib", "MPL"):
            import matplotlib  # noqa: F401
    except ImportError as error:
        if not isinstance(error, ModuleNotFoundError):  # installed, but broken
            raise ConfigError(f"matplotlib cannot be imported: {error}") from None
        raise ConfigError(
            "plots need matplotlib, which is not installed: in dct's directory, "
            "pip install '.[plot]', or pip install matplotlib"
        ) from None


@contextmanager
def styled() -> Iterator[None]:
    """Apply the style, and nothing of the user's. Draw and encode figures inside this context."""
    from matplotlib import rc_context, rcdefaults, rcParams

    with rc_context():
        rcdefaults()
        rcParams.update(_STYLE)
        yield


def encode(made: Figure, suffix: str) -> bytes:
    """Return a file's content, by suffix. Equal figures give equal bytes."""
    out = io.BytesIO()
    kind = suffix.removeprefix(".")
    stamps = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    made.savefig(out, format=kind, metadata=stamps[kind])
    return out.getvalue()


def unused(axes: Axes, why: str) -> None:
    """Show why a plot is empty."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", color=FAINT, transform=axes.transAxes)
