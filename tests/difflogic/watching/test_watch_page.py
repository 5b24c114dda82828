"""A run that trains, seen in a real browser: to its end, and through a kill and a resumption."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from difflogic.library.serving import watch
from tests.difflogic.reports.browser import chromium, needs_browser

pytestmark = [needs_browser, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
SETTINGS = (
    "checkpoint.every_epochs=50",
    "finishing.every=0",
    "training.restart_every=0",
    "parallel.workers=1",
)
STATUS = "document.querySelector('#status').textContent"


@pytest.fixture(scope="module")
def window():
    with chromium() as browser:
        yield browser


@contextmanager
def training(*arguments):
    """A process that trains; it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "train", *map(str, arguments), "--quiet"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        cwd=ROOT, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def changes():
    return [part for setting in SETTINGS for part in ("--set", setting)]


def look(window, link):
    window.driver.get("data:,")  # an earlier page may still call for its server, which is gone
    window.messages(), window.requests()
    window.driver.get(link)
    window.wait("return Boolean(window.dct)")


def nothing_else_was_asked(window, link):
    assert window.messages() == []
    allowed = {link, f"{link}events", "data:,"}
    assert {url for url in window.requests() if not url.startswith("chrome")} <= allowed


def test_training_is_seen_to_its_end(window, tmp_path):
    run = tmp_path / "run"
    with training(
        "checkerboard-small", "--epochs", 300, "--dir", run, "--watch", *changes()
    ) as process:
        link = next(
            found[0] for line in process.stderr if (found := re.search(r"http://\S+", line))
        )
        look(window, link)
        window.wait("return dct.rows.length > 20", 60)
        window.wait("return dct.soft && dct.soft.isDone", 60)
        before = window.js("return dct.rows.at(-1)[0]")
        window.wait(f"return dct.rows.at(-1)[0] > {before}", 60)
        assert window.js("return dct.simulation.geometry.channels") == 8
        window.wait(f"return {STATUS} === 'finished'", 120)
        assert window.js("return dct.rows.at(-1)[0]") == 300
        assert window.text("#epoch").startswith("300 of 300")
        assert process.wait(60) == 0
    window.messages()  # that the server is gone
    assert {url for url in window.requests() if url.startswith("http")} <= {link, f"{link}events"}


def test_a_killed_run_is_found_again_when_it_goes_on(window, tmp_path):
    run = tmp_path / "run"
    with training("checkerboard-small", "--epochs", 4000, "--dir", run, *changes()) as process:
        while not (run / "model.npz").exists():
            assert process.poll() is None, process.stderr.read()
        with watch(run) as server:
            look(window, server.link)
            window.wait("return dct.rows.length >= 50", 60)
            process.send_signal(signal.SIGKILL)
            process.wait()
            seen = window.js("return dct.rows.at(-1)[0]")
            with training("--resume", run) as resumed:
                window.wait(f"return dct.rows.at(-1)[0] > {seen}", 60)
                resumed.send_signal(signal.SIGINT)
                assert resumed.wait(60) == 130
            window.wait(f"return {STATUS}.startsWith('stopped')", 60)
            nothing_else_was_asked(window, server.link)


def test_the_brush_works_on_the_current_circuit(window, tmp_path):
    run = tmp_path / "run"
    with training("checkerboard-small", "--epochs", 30, "--dir", run, *changes()) as process:
        assert process.wait(120) == 0
    with watch(run) as server:
        look(window, server.link)
        window.wait("return dct.player")
        window.js("dct.player.pause(); dct.player.reset()")
        before = window.bits()
        window.drag((3, 3))
        after = window.bits()
        assert not after[:, 2:5, 2:5].any()
        assert before[:, 2:5, 2:5].any()
        window.find("#reset").click()
        assert (window.bits() == before).all()
        window.driver.set_window_size(360, 740)
        assert window.js("return document.documentElement.scrollWidth") <= max(
            360, window.js("return innerWidth")
        )
        nothing_else_was_asked(window, server.link)
