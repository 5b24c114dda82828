"""A run in training, watched in a real browser: to its end, and through kill and resume."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import difflogic
from difflogic.library.serving import serve_training, watch
from difflogic.training.resuming import without_foreign_results
from difflogic.training.run_directory import RunDirectory
from difflogic.training.session import Session, execute
from difflogic.view.watching import Feed, WatchServer
from tests.difflogic.view.histories import rows
from tests.difflogic.view.reports.browser import needs_browser
from tests.difflogic.view.watching.test_messages import model

pytestmark = [needs_browser, pytest.mark.slow]

ROOT = Path(__file__).parents[4]
SETTINGS = (
    "task.height=8",
    "task.width=8",
    "automaton.steps=6",
    "perception.kernels=4",
    "checkpoint.every_epochs=5",
    "finishing.every=0",
    "training.restart_every=0",
    "parallel.workers=1",
)
TEXT = "document.querySelector('{}').textContent"
STATUS = TEXT.format("#status")
GONE = "!document.querySelector('#gone').hidden"


def settings(*changes):
    # As the command does: nothing was published about such a small circuit.
    config = difflogic.load_config("checkerboard-small", [*SETTINGS, *changes])
    return without_foreign_results(config, difflogic.load_config("checkerboard-small"))


@contextmanager
def killed_in_the_end(*arguments):
    """A training process, killed afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "train", *map(str, arguments), "--quiet"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def look(window, link):
    window.driver.get("data:,")  # the page before may still call its server
    window.messages(), window.requests()
    window.driver.get(link)
    window.wait("return Boolean(window.dct)")


def assert_no_other_requests(window, link):
    assert window.messages() == []
    assert requested(window) <= {link, f"{link}events"}


def requested(window):
    return {url for url in window.requests() if url.startswith("http")}


def test_training_is_shown_to_its_end(window, tmp_path, monkeypatch):
    """Training runs in a thread, and waits until the browser has shown earlier epochs."""
    monkeypatch.setattr("difflogic.library.serving.PUBLISH_SECONDS", 0.0)
    seen = {epoch: threading.Event() for epoch in (4, 9)}
    config = settings(
        "training.epochs=12",
        "finishing.every=6",
        "finishing.from_epoch=0",
        "finishing.candidates=20",
        "training.restart_every=8",
    )

    def train(session, offer):
        def step(result):
            offer(result)
            if result.epoch - 1 in seen:
                assert seen[result.epoch - 1].wait(600)

        session.train(on_step=step)

    with Session(config, RunDirectory.at(tmp_path / "run")) as session:
        with serve_training(session) as (server, offer):
            thread = threading.Thread(target=train, args=(session, offer))
            look(window, server.link)
            window.wait(f"return {STATUS} === 'training'", 60)
            thread.start()
            try:
                window.wait("return dct.rows.at(-1)?.[0] === 4", 60)
                window.wait("return dct.soft && dct.soft.isDone", 60)
                assert window.js("return dct.simulation.geometry.channels") == 8
                assert window.text("#last-search") == "none yet"
                assert window.text("#attempt") == "1"
                seen[4].set()
                window.wait("return dct.rows.at(-1)[0] === 9", 60)
                assert window.text("#last-search").endswith("tried")
                assert window.js("return document.querySelectorAll('#curves .event').length") == 1
                assert window.js("return document.querySelectorAll('#curves .start').length") == 1
                assert window.js("return dct.starts") == [[8, 2]]
                assert window.text("#attempt") == "2"
                share = session.history.rows[8].decided
                assert window.text("#decided-share") == f"{100 * share:.1f} %"
                assert window.js("return document.querySelector('#decided-figure').hidden") is False
            finally:
                for event in seen.values():
                    event.set()
                thread.join()
        window.wait(f"return {STATUS} === 'finished'", 60)
        assert window.js("return dct.rows.at(-1)[0]") == 12
        assert window.text("#epoch").startswith("12 of 12")
    window.wait(f"return {GONE}", 60)
    assert window.text("#gone").startswith("The run is over")
    assert f"dct watch {tmp_path / 'run'}" in window.text("#gone")
    window.messages()  # about the closed server
    assert requested(window) <= {server.link, f"{server.link}events"}


def test_a_killed_run_is_shown_again_after_resuming(window, tmp_path):
    """The killed process's page says what to do; that of `dct watch` shows the resumed run."""
    run = tmp_path / "run"
    changes = [part for setting in SETTINGS for part in ("--set", setting)]
    first = window.driver.current_window_handle
    with killed_in_the_end(
        "checkerboard-small", "--epochs", 1_000_000, "--dir", run, "--watch", *changes
    ) as process:
        link = next(
            found[0] for line in process.stderr if (found := re.search(r"http://\S+", line))
        )
        look(window, link)
        window.wait("return dct.rows.length > 5", 60)
        window.driver.switch_to.new_window("tab")
        with watch(run) as server:
            look(window, server.link)
            window.wait("return dct.rows.length >= 5", 60)
            process.send_signal(signal.SIGKILL)
            process.wait()
            epochs = RunDirectory(run).read_config().training.epochs
            count = iter(range(100))
            execute(
                settings(f"training.epochs={epochs}"), run, should_stop=lambda: next(count) == 20
            )
            window.wait(f"return {STATUS}.startsWith('stopped')", 60)
            last = len((run / "metrics.csv").read_text().splitlines()) - 1
            window.wait(f"return dct.rows.at(-1)[0] === {last}", 60)
            assert window.js(f"return {GONE}") is False
            assert_no_other_requests(window, server.link)
        window.wait(f"return {GONE}", 60)
        assert window.text("#gone").startswith(f"dct watch {run} has ended")
    window.driver.close()
    window.driver.switch_to.window(first)
    window.wait(f"return {GONE}", 60)
    assert f"dct train --resume {run} --watch" in window.text("#gone")
    window.messages()  # about the closed server


def test_the_brush_works_on_the_current_circuit(window):
    feed = Feed()
    feed.publish(model=model(), epoch=30, rows=rows(30), status="running")
    window.prefer(prefers_reduced_motion="reduce")  # nothing plays by itself
    with WatchServer(feed) as server:
        look(window, server.link)
        window.wait("return dct.player")
        assert not window.js("return dct.player.playing")
        before = window.bits()
        window.drag((3, 3))
        after = window.bits()
        assert not after[:, 2:5, 2:5].any()
        assert before[:, 2:5, 2:5].any()
        window.find("#reset").click()
        assert (window.bits() == before).all()
        with window.phone():
            assert window.js("return document.documentElement.scrollWidth") <= 360
        assert_no_other_requests(window, server.link)
