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
    from difflogic.experiment.searching import Trainer
    from difflogic.library.exchange import Progress, ProgressCallback
    from difflogic.system.callbacks import Pause

SECONDS = 0.7
"""A longer computation is announced if at least LEFT seconds remain."""
LEFT = 10.0


@contextmanager
def show_progress(stop_at_once: bool = False, raises: bool = True) -> Iterator[ProgressCallback]:
    """Yield a progress callback that counts each part, and raises KeyboardInterrupt to cancel.

    With `stop_at_once` Ctrl-C does not wait for the next call: use it for work that calls rarely.
    Without `raises` the caller handles Ctrl-C. Exits 1, with the reason, if a simplified circuit
    cannot be proved equal.
    """
    from difflogic.library.equality import SIMPLIFYING
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
            if raises:  # a signal in the last part
                interrupt.check()
        except ProofError as error:
            from cli.terminal import proofs

            counters.close()
            note(proofs.equality(error.proof).rstrip("\n"))  # type: ignore[arg-type]
            note(f"stopped: {error}; use --unsimplified to run the circuit as it is")
            raise typer.Exit(FAILURE) from None


def report_long_work() -> AbstractContextManager[None]:
    """Return a context in which long computations are announced, and can be stopped."""
    from difflogic.system.callbacks import listening

    return listening(LongWork())


class LongWork:
    """Called at pauses of a computation: stops on request, and announces a long one once."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, int], float] = {}
        self._reported: set[tuple[str, int]] = set()

    def __call__(self, pause: Pause) -> None:
        """Raise KeyboardInterrupt if that was requested, except at the first pause."""
        key, now = (pause.what, pause.total), time.monotonic()
        if not pause.done:
            self._began[key] = now
            return
        interrupt.check()
        spent = now - self._began.setdefault(key, now)
        left = spent * (pause.total - pause.done) / pause.done
        if spent >= SECONDS and left >= LEFT and key not in self._reported:
            self._reported.add(key)
            note(
                f"{pause.what} {pause.done}/{pause.total} {pause.unit}, about {left:.0f} s left "
                "(Ctrl-C stops it)"
            )


def warm_up(trainer: Trainer, quiet: bool = False) -> None:
    """Compile or load the kernels; say so if they must be compiled."""
    announced = trainer.needs_compiling and not quiet
    if announced:
        precision = trainer.config.training.precision
        note(f"compiling the kernels for {precision}, once; may take half a minute …")
    seconds = trainer.warm_up()
    if announced:
        note(f"compiled in {seconds:.1f} s")


def announce_search() -> None:
    """Say so if the kernels that simplify circuits must be compiled."""
    from difflogic.simplification import is_compiled

    if not is_compiled():
        note("compiling the search for small circuits, once; may take half a minute …")


def announce_hard() -> None:
    """Say so if the simulator of hard circuits must be compiled."""
    from difflogic.engine.kernels.hard import hard_rollout
    from difflogic.system.jit import is_compiled

    if not is_compiled(hard_rollout):
        note("compiling the simulator, once; may take ten seconds …")
