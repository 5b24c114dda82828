"""Long work at the terminal: counted or reported on stderr, stopped by Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

import typer

from cli import interrupt
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.terminal.counter import Counter
from cli.terminal.warming import announce_search

if TYPE_CHECKING:
    from difflogic.library.common import Progress, ProgressCallback
    from difflogic.system.callbacks import Pause
    from difflogic.system.errors import ProofError

SECONDS = 0.7
"""Computations that take longer are reported, if at least LEFT seconds remain."""
LEFT = 10.0


@contextmanager
def show_progress(stop_at_once: bool = False, raises: bool = True) -> Iterator[ProgressCallback]:
    """Yield a progress callback that shows each part's count, and raises to cancel.

    With `stop_at_once` Ctrl-C does not wait for the next call, for work that calls rarely. Exits 1,
    with the reason, if a simplified circuit cannot be proved equal. Unless it `raises`, Ctrl-C is
    left to what the caller has entered.
    """
    from difflogic.library.simplifying import SIMPLIFYING
    from difflogic.system.errors import ProofError

    part = ""
    counter: Counter | None = None
    with nullcontext() if stop_at_once else Interruption("this part"), ExitStack() as counters:

        def show(progress: Progress) -> None:
            nonlocal part, counter
            if counter is None or progress.what != part:
                counters.close()
                part = progress.what
                if part == SIMPLIFYING:
                    announce_search()
                counter = counters.enter_context(Counter(part, progress.total))
            counter.update(progress.done, progress.remark)
            if raises:
                interrupt.check()

        try:
            yield show
        except ProofError as error:
            counters.close()
            _explain(error)
            raise typer.Exit(FAILURE) from None


def _explain(error: ProofError) -> None:
    from cli import proving

    for line in proving.lines(error.proof):  # type: ignore[arg-type]
        note(line)
    note(f"stopped: {error}; use --unsimplified to run the circuit as it is")


def report_long_work() -> AbstractContextManager[None]:
    """Return a context in which long computations are reported, and can be stopped."""
    from difflogic.system.callbacks import listening

    return listening(LongWork())


class LongWork:
    """Is called at pauses: stops if a signal asked to, and reports each long computation once."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, int], float] = {}
        self._reported: set[tuple[str, int]] = set()

    def __call__(self, pause: Pause) -> None:
        """Raise KeyboardInterrupt if that was requested, except at the beginning."""
        key, now = (pause.what, pause.total), time.monotonic()
        if not pause.done:
            self._began[key] = now
            return
        interrupt.check()
        start = self._began.setdefault(key, now)
        left = (now - start) * (pause.total - pause.done) / pause.done
        if now - start < SECONDS or left < LEFT or key in self._reported:
            return
        self._reported.add(key)
        note(
            f"{pause.what} {pause.done}/{pause.total} {pause.unit}, about {left:.0f} s left "
            "(Ctrl-C stops it)"
        )
