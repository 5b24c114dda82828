"""From exceptions to messages and exit codes.

A usage or input error exits 2, a failure 1, an interruption 130 or 143, a closed pipe 141. Set
DCT_DEBUG=1 to see the traceback of an error that is otherwise one line.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer

from cli import interrupt

COMMAND_LINE_ERROR: Any = typer.BadParameter.__mro__[2]
"""Base class of command line errors: click's, or that of the click inside Typer."""

FAILURE = 1
USAGE = 2
CLOSED_PIPE = 141

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

OUT_OF_MEMORY = (
    "out of memory: use fewer workers, a smaller batch, or a smaller grid, or raise the limit with "
    "ulimit -v"
)
MAPPABLE_BYTES = 2**25
"""Bytes that can always be mapped unless memory is the problem."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return a text with control characters, except line ends and tabs, escaped.

    Names and keys may come from an untrusted file: raw, they could move a terminal's cursor, change
    its title, or reverse the order of characters.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def in_one_line(text: str) -> str:
    """Return a text with all control characters escaped, line ends and tabs too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def note(message: str) -> None:
    """Write a message to stderr, for everything but results. Never fails."""
    try:
        print(printable(message), file=sys.stderr, flush=True)
    except OSError:
        # A closed stderr is no reason to lose a run.
        return


def require_own_difflogic() -> None:
    """Exit with a message if the package `difflogic` is not ours but PyPI's of the same name."""
    try:
        import difflogic
    except ImportError as error:
        # The other package imports torch, which may be missing; ours imports nothing.
        found = f"importing it failed: {error}"
    else:
        if getattr(difflogic, "PROJECT", None) == "dct":
            return
        found = f"found: {getattr(difflogic, '__file__', None) or 'no file'}"
    _fail(
        "the installed Python package `difflogic` does not belong to dct "
        f"({found}).\nAnother package of that name is on PyPI. Install dct into its own "
        "environment, with `pipx install .` or `make demo` in dct's directory.",
        FAILURE,
    )


@contextmanager
def explained() -> Iterator[None]:
    """Turn expected exceptions into a message on stderr and an exit code."""
    try:
        with interrupt.command():
            yield
            # Here, since a closed pipe can no longer be handled when the interpreter exits.
            sys.stdout.flush()
    except KeyboardInterrupt:
        _interrupted(interrupt.exit_code())
    except OSError as error:
        if interrupt.received():
            _interrupted(interrupt.received())
        fail_for(error)
    except MemoryError:
        _fail(OUT_OF_MEMORY, FAILURE)
    except COMMAND_LINE_ERROR as error:
        reword(error)
        raise
    except Exception as error:
        # An import or a compiler callback can turn Ctrl-C into another error.
        if interrupt.received():
            _interrupted(interrupt.received())
        from difflogic.system.errors import DctError, StorageError, TrainingError

        if not isinstance(error, DctError):
            if not memory_is_left():
                _fail(OUT_OF_MEMORY, FAILURE)
            raise
        _fail(str(error), FAILURE if isinstance(error, TrainingError | StorageError) else USAGE)


def reword(error: Any) -> None:
    """Make the message of a command line error printable, and leave out what Typer checks with."""
    error.message = printable(error.message.removeprefix("Value error, "))


def fail_for(error: OSError) -> NoReturn:
    """Exit because the system refused something; quietly if nobody reads stdout any more."""
    discard_unprinted()
    if isinstance(error, BrokenPipeError):
        raise typer.Exit(CLOSED_PIPE) from None
    if error.errno == errno.ENOMEM or not memory_is_left():
        _fail(OUT_OF_MEMORY, FAILURE)
    # Files name themselves in errors; what has no name and is full is what was printed to.
    where = error.filename or ("standard output" if error.errno in FULL else "")
    place = f"{where}: " if where else ""
    remedy = ": raise the limit with ulimit -n" if error.errno == errno.EMFILE else ""
    _fail(f"{place}{error.strerror or error}{remedy}", FAILURE)


def memory_is_left() -> bool:
    """Return whether this process can still map some memory.

    If it cannot, libraries fail without saying why: a module cannot be imported, a thread cannot be
    started, or Python's interpreter itself raises an error.
    """
    try:
        import mmap

        mmap.mmap(-1, MAPPABLE_BYTES).close()
    except (OSError, MemoryError, ImportError):
        return False
    return True


def _interrupted(code: int) -> NoReturn:
    note("interrupted")
    raise typer.Exit(code) from None


def _fail(message: str, code: int) -> NoReturn:
    if os.environ.get("DCT_DEBUG", "") not in ("", "0"):
        note(traceback.format_exc().rstrip())
    note(f"error: {message}")
    raise typer.Exit(code) from None


def discard_unprinted() -> None:
    """Redirect stdout to nowhere if it cannot be written: the interpreter would try again."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):  # ValueError: stdout is no file, as in tests
            os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
