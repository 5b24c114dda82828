"""Progress of long library calls on the terminal: counted on stderr, cancelled by Ctrl-C."""

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
    from difflogic.library.progress import Progress, ProgressCallback
    from difflogic.system.errors import ProofError


@contextmanager
def show_progress(stop_at_once: bool = False) -> Iterator[ProgressCallback]:
    """Yield a progress callback that shows each part's count, and raises to cancel.

    With `stop_at_once` Ctrl-C does not wait for the next call, for work that calls rarely. Exits 1,
    with the reason, if a simplified circuit cannot be proved equal.
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
