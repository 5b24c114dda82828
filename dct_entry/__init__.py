"""The command `dct`: finds our package `cli` beside this one, whatever else has that name.

`cli` is a common name: another one on PYTHONPATH would be imported in its place.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


def main() -> None:
    """Run the command that the process was started with, and exit."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = PathFinder.find_spec("cli", [home])
    if spec is None or spec.loader is None:
        sys.exit(f"error: {home}: has no package cli: install dct again")
    package = module_from_spec(spec)
    sys.modules["cli"] = package
    spec.loader.exec_module(package)
    from cli.entry import main

    main()
