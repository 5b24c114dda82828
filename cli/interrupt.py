"""Ctrl-C, SIGTERM and their kin: how they end a command, or ask it to end.

Python runs a signal handler only between two of its own instructions. While a compiler or a kernel
runs, that may be a minute after the signal, and the handler's exception can get lost in callbacks.
So `install` also starts a thread that receives signals at once and says so. The thread ends the
process if there is nothing to save and the main thread takes too long.

A signal ends a command at once. Inside an `Interruption` it is only a request. A signal that was
ignored when the process started, as in a script's background job, stays ignored.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import socket

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGUSR1")
SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Ctrl-C, the signal of service managers, a lost connection, a limit on processor time, and what
clusters send before they kill."""

PATIENCE = 2.0
"""Seconds until a command without results to save is ended."""

_SHOW_CURSOR = b"\x1b[?25h"


class Interruption:
    """While entered, a signal sets `requested` and raises nothing.

    `after` names the work that is finished first, such as "this step". It is shown on stderr at
    once; None shows nothing. After `patience` seconds the process ends anyway; None waits until
    results are saved, whatever further signals come.

    Does nothing outside the main thread, and for ignored signals.
    """

    def __init__(self, after: str | None = "this step", patience: float | None = PATIENCE) -> None:
        self.requested = False
        self.exit_code = 0
        """128 plus the signal's number, once one came."""
        self.patience = patience
        self._message = None if after is None else f"stopping after {after}"
        self._first_time = threading.Lock()
        self._previous: dict[signal.Signals, Any] = {}
        self._outer: Interruption | None = None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            if requested():
                raise KeyboardInterrupt
            self._previous = {
                number: signal.signal(number, self._request)
                for number in SIGNALS
                if signal.getsignal(number) is not signal.SIG_IGN
            }
            self._outer, _state.deferring = _state.deferring, self
        return self

    def __exit__(self, *raised: object) -> None:
        if self._previous:
            _state.deferring = self._outer
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise KeyboardInterrupt if it was requested. Call it where nothing is half done."""
        if self.requested:
            raise KeyboardInterrupt

    def request(self, signum: int) -> None:
        """Record the request, from either thread."""
        self.exit_code = self.exit_code or 128 + signum
        self.requested = True
        _state.exit_code = self.exit_code

    def say(self) -> None:
        """Say once what is finished first: by the live display if there is one."""
        if self._message is None or not self._first_time.acquire(blocking=False):
            return
        if _state.tell is not None:
            _state.tell(self._message)
        else:
            # Not through a stream, which may be in the middle of a line: ASCII in any encoding.
            _write(f"\n{self._message}\n".encode())

    def _request(self, signum: int, frame: object) -> None:
        self.request(signum)
        if not _state.installed or _state.tell is None:  # or else the thread, not within a frame
            self.say()


class _State:
    """The signal handling of this process."""

    received = 0
    """The first signal that ends the command at once; 0 if there was none."""
    raising = False
    """Whether a command is running, so that a signal raises an exception."""
    deferring: Interruption | None = None
    exit_code = 128 + signal.SIGINT
    """Of the last signal."""
    installed = False
    tell: Callable[[str], None] | None = None
    """Shows a message on the live display, if there is one."""


_state = _State()


@contextmanager
def command() -> Iterator[None]:
    """While entered, a signal raises KeyboardInterrupt; otherwise it ends the process."""
    _state.raising = True
    _state.exit_code = 128 + signal.SIGINT
    try:
        yield
    finally:
        _state.raising = False


def tell_by(show: Callable[[str], None] | None) -> None:
    """Let the live display say that a command stops; None for no display."""
    _state.tell = show


def install() -> None:
    """Handle signals from now on. Called first, in the main thread."""
    if _state.installed:
        return
    _state.installed = True
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_at_once)
    atexit.register(_ignore_signals)
    sys.excepthook = _uncaught
    sys.unraisablehook = _unraisable
    import socket  # slow to import

    here, there = socket.socketpair()
    there.setblocking(False)
    signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(here, there), name="dct-signals", daemon=True).start()


def _ignore_signals() -> None:
    """Let Python's own exit keep the exit code. It comes next, and resets all other handlers."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _uncaught(kind: Any, error: BaseException, traceback: Any) -> None:
    """Print an error, unless a signal caused it. NumPy's modules print what ends their import."""
    if not caused(error):
        sys.__excepthook__(kind, error, traceback)


def _unraisable(found: Any) -> None:
    """Ignore what a callback made of a signal: the thread handles it."""
    if not caused(found.exc_value):
        sys.__unraisablehook__(found)


def received() -> int:
    """Return the exit code of the signal that ends this command; 0 if there was none."""
    return 128 + _state.received if _state.received else 0


def leave(code: Any) -> None:
    """End the process with this exit code, if a signal came.

    Python's own exit can crash after an import that was interrupted in C.
    """
    if _state.received:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code or 0)


def caused(error: BaseException) -> bool:
    """Return whether a signal caused this error.

    An import or a compiler callback can turn KeyboardInterrupt into another error.
    """
    return isinstance(error, KeyboardInterrupt) or bool(_state.received)


def requested() -> bool:
    """Return whether a signal asks the command to end."""
    return bool(_state.received or (_state.deferring and _state.deferring.requested))


def exit_code() -> int:
    """Return the exit code of the last signal, or that of Ctrl-C."""
    return received() or _state.exit_code


def _end_at_once(signum: int, frame: object) -> None:
    first = not _state.received
    _state.received = _state.received or signum
    if not _state.raising:
        _end(signum)
    if first:  # a second signal does not cut the exit short; the thread does, in time
        raise KeyboardInterrupt


def _watch(signals: socket.socket, kept_open: socket.socket) -> None:
    """React to each signal at once, whatever the main thread is doing."""
    deadline: float | None = None
    ending = 0
    while True:
        signals.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
        try:
            numbers = [number for number in signals.recv(64) if number in SIGNALS]
        except TimeoutError:
            numbers = []
        for number in numbers:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue
            ending = ending or number
            request = _state.deferring
            if request is not None:
                request.request(number)
                request.say()
            patience = PATIENCE if request is None else request.patience
            if patience is not None and deadline is None:
                deadline = time.monotonic() + patience
        if deadline is not None and time.monotonic() >= deadline:
            request = _state.deferring
            if request is None or request.patience is not None:
                _end(ending)
            deadline = None


def _end(signum: int) -> NoReturn:
    work = sys.modules.get("difflogic.system.work")  # else nothing is half done
    for undo in reversed(work.HALF_DONE if work else ()):
        with suppress(Exception):
            undo()
    if os.isatty(2):
        _write(_SHOW_CURSOR)
    _write(b"interrupted\n")
    os._exit(128 + signum)


def _write(text: bytes) -> None:
    try:
        os.write(2, text)
    except OSError:  # closed, or no longer read
        return
