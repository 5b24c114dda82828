"""Where the process begins: signals first, since what else is imported takes its time."""

from __future__ import annotations

from cli import interrupt


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupt.install()
    from cli.app import main

    main()
