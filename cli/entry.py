"""Entry point: handles signals first, since other imports take a while."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from typing import NoReturn

import cli

OBJECTS = 50_000
"""Net number of new objects after which Python's garbage collector runs.

Imports create a hundred thousand objects: collecting after every 700 takes a tenth of the start-up.
"""

LEAST_ADDRESS_BYTES = 2**28
"""Smallest limit on the address space (ulimit -v), in bytes: NumPy did not load with 210 MB."""

LEAST_FILES = 64
"""Open files that a command needs at most, without workers in processes of their own."""


def _require_resources() -> None:
    """Exit with a message if a limit is too low to load libraries; raise a soft one of open files.

    Otherwise some abort the process, and imports fail anywhere.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= addresses < LEAST_ADDRESS_BYTES:  # no limit is -1, or huge
        _refuse(f"a process's address space, {addresses / 1e6:.0f} MB", "-v unlimited")
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= most < LEAST_FILES:
        _refuse(f"open files, {most}", f"-n {LEAST_FILES}")
    if 0 <= files < LEAST_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (LEAST_FILES, most))


def _refuse(limit: str, remedy: str) -> NoReturn:
    message = f"error: the limit on {limit}, is too low: raise it with ulimit {remedy}"
    print(message, file=sys.stderr)
    sys.exit(1)


def _import_nothing_from_here() -> None:
    """Remove the working directory from the import path, where `python -m cli` puts it.

    Otherwise a json.py there would run, also in worker processes, which inherit the path.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = sys.path[0] if sys.path else home
    try:
        working = os.getcwd()
    except OSError as error:  # libraries need it too, with worse messages
        reason = (error.strerror or str(error)).lower()
        print(f"error: the working directory: {reason}: change to one that exists", file=sys.stderr)
        sys.exit(2)
    if not sys.flags.safe_path and os.path.abspath(here) == working != home:
        del sys.path[0]


def main() -> None:
    """Run the command that the process was started with, and exit."""
    # Until now the process did little but run: it began about its processor time ago.
    cli.began = time.perf_counter() - time.process_time(), 0.0
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until `install`, Ctrl-C ends the process without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _require_resources()
    # No command multiplies large matrices: NumPy's threads for that would start in vain.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from cli import interrupt

    interrupt.install()
    gc.set_threshold(OBJECTS)
    _import_nothing_from_here()
    from cli.app import main

    try:
        main()
    finally:
        # Python would go through all objects again before it exits: a quarter of a second of work.
        gc.freeze()
