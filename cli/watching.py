"""Long work of the library's at the terminal: counted on stderr, stopped by Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

import typer

from cli import interrupt
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.terminal.counter import Counter
from cli.terminal.warming import announce_search

if TYPE_CHECKING:
    from difflogic.library.watching import Progress, Watch


@contextmanager
def watched(at_once: bool = False) -> Iterator[Watch]:
    """Return what is to be called with progress: it counts each part, and may raise to stop.

    With `at_once` Ctrl-C does not wait for the next call, where there is none for long. Exits 1,
    with the reason, where a simplified circuit is not proved.
    """
    from difflogic.library.simplifying import SIMPLIFYING
    from difflogic.system.errors import ProofError

    part = ""
    counter: Counter | None = None
    with nullcontext() if at_once else Interruption("this part"), ExitStack() as counters:

        def show(progress: Progress) -> None:
            nonlocal part, counter
            if counter is None or progress.what != part:
                counters.close()
                part = progress.what
                if part == SIMPLIFYING:
                    announce_search()
                counter = counters.enter_context(Counter(part, progress.total))
            counter.update(progress.done, progress.remark)
            interrupt.check()

        try:
            yield show
        except ProofError as error:
            counters.close()
            _explain(error)
            raise typer.Exit(FAILURE) from None


def _explain(error: Exception) -> None:
    from cli import proving

    for line in proving.lines(error.proof):  # type: ignore[attr-defined]
        note(line)
    note(f"stopped: {error}; --unsimplified goes without it")
