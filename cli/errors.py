"""From exceptions to messages and exit codes.

A usage or input error exits 2, a failure 1, an interruption 130 or 143. Set DCT_DEBUG=1 to see the
traceback of an error that is otherwise shown as one line.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from cli import interrupt

COMMAND_LINE_ERROR: Any = typer.BadParameter.__mro__[2]
"""Base class of command line errors: click's, or that of the click inside Typer."""

FAILURE = 1
USAGE = 2
INTERRUPTED = 130


OUT_OF_MEMORY = (
    "out of memory: use fewer workers, a smaller batch, or a smaller grid, or raise the limit with "
    "ulimit -v"
)

ROOM = 2**25
"""Bytes of memory that always are left where memory is not what a failure is about."""


def printable(text: str) -> str:
    """Return a text with control characters, except line ends and tabs, escaped.

    Names and keys may come from an untrusted file: raw, they could move a terminal's cursor, change
    its title, or reverse the order of characters.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def note(message: str) -> None:
    """Write a line to stderr, for everything but results; never fail."""
    try:
        print(printable(message), file=sys.stderr, flush=True)
    except OSError:
        # Nobody reads stderr any more, which is no reason to lose a run.
        return


def require_own_difflogic() -> None:
    """Exit with a message if the package `difflogic` is not ours but PyPI's of the same name."""
    try:
        import difflogic
    except ImportError as error:
        # The other package imports torch, which may be missing; ours imports nothing.
        _refuse_difflogic(f"importing it failed: {error}")
    else:
        if getattr(difflogic, "PROJECT", None) != "dct":
            _refuse_difflogic(f"found: {getattr(difflogic, '__file__', None) or 'no file'}")


def _refuse_difflogic(found: str) -> None:
    _show_traceback()
    note(
        "error: the installed Python package `difflogic` does not belong to dct "
        f"({found}).\nAnother package of that name is on PyPI. Install dct into its own "
        "environment, with `pipx install .` or `make demo` in dct's directory."
    )
    raise typer.Exit(FAILURE)


@contextmanager
def explained() -> Iterator[None]:
    """Turn expected exceptions into a message on stderr and an exit code."""
    try:
        with interrupt.command():
            yield
            # Here, since a closed pipe can no longer be handled when the interpreter exits.
            sys.stdout.flush()
    except KeyboardInterrupt as error:
        _interrupted(getattr(error, "exit_code", INTERRUPTED))
    except BrokenPipeError:
        _discard_stdout()
        raise typer.Exit(FAILURE) from None
    except OSError as error:
        if interrupt.received():
            _interrupted(interrupt.received())
        if error.errno == errno.ENOMEM or not memory_is_left():
            _fail(OUT_OF_MEMORY, FAILURE)
        discard_what_cannot_be_printed()
        place = f"{error.filename}: " if error.filename else ""
        remedy = ": raise the limit with ulimit -n" if error.errno == errno.EMFILE else ""
        _fail(f"{place}{error.strerror or error}{remedy}", FAILURE)
    except MemoryError:
        _fail(OUT_OF_MEMORY, FAILURE)
    except COMMAND_LINE_ERROR as error:
        error.message = printable(error.message)
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


def memory_is_left() -> bool:
    """Whether this process may still map some memory.

    Where it may not, libraries fail in ways that do not say why: a module that cannot be imported,
    a thread that cannot be started, an error of Python's interpreter itself.
    """
    try:
        import mmap

        mmap.mmap(-1, ROOM).close()
    except (OSError, MemoryError, ImportError):
        return False
    return True


def _interrupted(code: int) -> NoReturn:
    note("interrupted")
    raise typer.Exit(code) from None


def _fail(message: str, code: int) -> NoReturn:
    _show_traceback()
    note(f"error: {message}")
    raise typer.Exit(code) from None


def _show_traceback() -> None:
    if os.environ.get("DCT_DEBUG", "") not in ("", "0"):
        note(traceback.format_exc().rstrip())


def discard_what_cannot_be_printed() -> None:
    """Discard results that did not fit on a full disk: the interpreter would try again."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_stdout()


def _discard_stdout() -> None:
    """Redirect stdout to nowhere, so that the interpreter's last flush does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(nowhere)
