"""Long work at the terminal: announced, counted on stderr, and stopped by Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

import typer

from cli import interrupt
from cli.failures import FAILURE, note
from cli.interrupt import Interruption
from cli.terminal.screen import Counter

if TYPE_CHECKING:
    from difflogic.system.work import Heartbeat, Progress

SECONDS = 0.7
"""A longer computation is announced if at least LEFT seconds remain."""
LEFT = 10.0


UNSIMPLIFIED = "; use --unsimplified to run the circuit as it is"


@contextmanager
def show_progress(stop_at_once: bool = False, remedy: str = UNSIMPLIFIED) -> Iterator[None]:
    """Within this context, show the progress of each part of the work. Ctrl-C waits for a part.

    With `stop_at_once` it does not: use that for work that tells rarely. Exits 1, with the reason,
    if a simplified circuit cannot be proved equal.
    """
    from difflogic.system.errors import ProofError
    from difflogic.system.work import working

    part = ""
    counter: Counter | None = None
    waiting = None if stop_at_once else Interruption("this part")
    with waiting or nullcontext(), ExitStack() as counters:

        def show(progress: Progress) -> None:
            nonlocal part, counter
            if counter is None or progress.what != part:
                counters.close()
                part = progress.what
                counter = counters.enter_context(Counter(part, progress.total))
            counter.update(progress.done, progress.remark)

        try:
            with working(tell=show):
                yield
            if waiting is not None:  # a signal in the last part
                waiting.check()
        except ProofError as error:
            from cli.terminal import proofs

            counters.close()
            note(proofs.equality(error.proof).rstrip("\n"))  # type: ignore[arg-type]
            note(f"stopped: {error}{remedy}")
            raise typer.Exit(FAILURE) from None


def report_long_work() -> AbstractContextManager[None]:
    """Return a context in which long computations are announced, and can be stopped."""
    from difflogic.system.work import working

    return working(asked=interrupt.requested, hear=LongWork(), say=note)


class LongWork:
    """Called at heartbeats of a computation: announces a long one once."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, int], float] = {}
        self._announced: set[tuple[str, int]] = set()

    def __call__(self, beat: Heartbeat) -> None:
        key = (beat.what, beat.total)
        now = time.monotonic()
        if not beat.done:
            self._began[key] = now
            return
        spent = now - self._began.setdefault(key, now)
        left = spent * (beat.total - beat.done) / beat.done
        if spent >= SECONDS and left >= LEFT and key not in self._announced:
            self._announced.add(key)
            note(
                f"{beat.what} {beat.done}/{beat.total} {beat.unit}, about {left:.0f} s left "
                "(Ctrl-C stops it)"
            )
