"""The page of a run that is watched, put together once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from difflogic.view.reports.assets import asset, bundle, policy

_FILES = Path(__file__).with_name("page")

SCRIPTS = (
    "random_bits.js",
    "grid.js",
    "interpreter.js",
    "simulation.js",
    "judge.js",
    "screen.js",
    "curve.js",
    "player.js",
    "pointer.js",
)
"""Modules that reports have, too."""

OWN = ("soft.js", "charts.js", "watch.js")


@cache
def page() -> tuple[bytes, str]:
    """Return the page, and the content policy that it is to be sent with."""
    style = asset("report.css") + asset("watch.css", _FILES)
    script = bundle(SCRIPTS, [asset(name, _FILES) for name in OWN])
    text = asset("watch.html", _FILES).replace("{{ style }}", style).replace("{{ script }}", script)
    rules = policy(style, script, "'self'") + "; frame-ancestors 'none'"
    return text.encode(), rules
