"""Where the process begins: signals first, since what else is imported takes its time."""

from __future__ import annotations

import gc
import os
import sys

from cli import interrupt

OBJECTS = 50_000
"""New objects, less those that are gone, after which Python looks for cycles that nobody needs.

Imports make a hundred thousand that stay: to look at them after every 700 takes a tenth of a
command's start.
"""


def _import_nothing_from_here() -> None:
    """Take the working directory off the path, where `python -m cli` has put it for nothing.

    Else a json.py that lies there would run, also in worker processes, which take the path over.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = sys.path[0] if sys.path else home
    try:
        working = os.getcwd()
    except OSError as error:  # libraries ask for it, too, and say less when there is none
        reason = (error.strerror or str(error)).lower()
        print(f"error: the working directory: {reason}: go to one that is there", file=sys.stderr)
        sys.exit(2)
    if not sys.flags.safe_path and os.path.abspath(here) == working != home:
        del sys.path[0]


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupt.install()
    gc.set_threshold(OBJECTS)
    _import_nothing_from_here()
    from cli.app import main

    main()
