"""Live pages of runs in a browser on this machine: `watch` and `serve_training`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from difflogic.experiment.session import Session
from difflogic.run.measures import StepResult
from difflogic.run.records import ListedState
from difflogic.run.run_directory import RunDirectory
from difflogic.system.declaration import Port, checked
from difflogic.system.files import for_shell
from difflogic.view.watching import Feed, WatchServer
from difflogic.view.watching.follower import Follower

LAST_SECONDS = 1.0
"""Time for which the page is served after the run, so that browsers see the end."""

PUBLISH_SECONDS = 1.0
"""Time between two states sent to the page; each copies the logits."""


@contextmanager
@checked
def watch(source: str | Path = "last", port: Port = 0) -> Iterator[WatchServer]:
    """Serve a page that shows a run while the context lasts.

    The page follows the run's directory while it trains, after its end, and when it is resumed. It
    is served on loopback only, at the server's `link`. Raises RunDirectoryError if there is no such
    run.
    """
    path = RunDirectory.named(source).path
    with WatchServer(Feed(Follower(path), path=for_shell(path)), port) as server:
        yield server


@contextmanager
def serve_training(
    session: Session, port: int = 0
) -> Iterator[tuple[WatchServer, Callable[[StepResult], None]]]:
    """Serve a page that shows a session; yield the server and a callback for each step.

    The cost is a time comparison per step, and while a browser shows the page a copy of the logits
    per second, and at most a tenth of a core.
    """
    path = for_shell(session.run.path)
    next_time = 0.0
    feed = Feed(path=path, training=True)

    def publish(state: ListedState) -> None:
        trainer = session.trainer
        model = trainer.model if state == "training" else trainer.result
        feed.publish(
            model=replace(model, config=session.config),
            rows=tuple(session.history.rows),
            state=state,
            exact_epoch=trainer.exact_epoch,
        )

    def step(result: StepResult) -> None:
        nonlocal next_time
        now = time.monotonic()
        if now >= next_time and feed.watched:
            next_time = now + PUBLISH_SECONDS
            publish("training")

    with WatchServer(feed, port) as server:
        publish("training")
        yield server, step
        publish("finished" if session.summary and session.summary.finished else "stopped")
        time.sleep(LAST_SECONDS if feed.watched else 0.0)
