"""A run as it trains, in a browser on this machine: `watch`, and what training offers to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import for_shell
from difflogic.training.run_directory import CONFIG, find_run
from difflogic.training.session import Session
from difflogic.training.step_result import StepResult
from difflogic.view.watching import Feed, WatchServer
from difflogic.view.watching.following import Follower

LAST_SECONDS = 1.0
"""That the page of a run which ends is still served, so that browsers hear of the end."""

OFFER_SECONDS = 1.0
"""Between two states of a training run that are offered; each a copy of the logits."""


@contextmanager
def watch(source: str | Path, port: int = 0) -> Iterator[WatchServer]:
    """Serve a page that shows a run, or a sweep's newest run, as long as the context lasts.

    The run may go on, be over, or be stopped and resumed: the page follows its directory. It is
    served on loopback alone, at the server's `link`. Raises RunDirectoryError if there is neither
    a run nor a sweep.
    """
    path = Path(source)
    if not SweepDirectory(path).exists:
        path = find_run(str(source))
        if not (path / CONFIG).is_file():
            raise RunDirectoryError(f"{path}: holds no run, as it has no {CONFIG}")
    feed = Feed()
    feed.offer(path=for_shell(path))
    with Follower(path, feed), WatchServer(feed, port) as server:
        yield server


@contextmanager
def offering(
    session: Session, port: int = 0
) -> Iterator[tuple[WatchServer, Callable[[StepResult], None]]]:
    """Serve a page that shows a session; return the server, and what to call after each step."""
    feed = Feed()
    feed.offer(path=for_shell(session.run.path), training=True)
    with WatchServer(feed, port) as server:
        offered = _Offering(session, feed)
        yield server, offered.step
        offered.end()
        feed.pause(LAST_SECONDS if feed.watched else 0.0)


class _Offering:
    """Offers a training session to a feed: `step` is to be called after each of its steps.

    It costs a comparison of times per step, and once a second a copy of the logits while somebody
    looks.
    """

    def __init__(self, session: Session, feed: Feed) -> None:
        self._session, self._feed = session, feed
        self._next = 0.0
        self._offer("running")

    def step(self, result: StepResult) -> None:
        """Offer the state after a step, if it is time to and anybody looks."""
        now = time.monotonic()
        if now < self._next or not self._feed.watched:
            return
        self._next = now + OFFER_SECONDS
        self._offer("running")

    def end(self) -> None:
        """Offer what the run ends with."""
        finished = bool(self._session.summary and self._session.summary["finished"])
        self._offer("finished" if finished else "stopped")

    def _offer(self, status: str) -> None:
        trainer, history = self._session.trainer, self._session.history
        model = trainer.model if status == "running" else trainer.result
        self._feed.offer(
            model=replace(model, config=self._session.config),
            epoch=trainer.epoch,
            rows=tuple(history.rows),
            status=status,
            exact_epoch=trainer.exact_epoch,
        )
