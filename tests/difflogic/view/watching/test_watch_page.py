"""A run in training, watched in a real browser: to its end, and through kill and resume."""

import threading

import pytest

import difflogic
from difflogic.experiment.session import Session
from difflogic.run.run_directory import RunDirectory
from difflogic.view.watching.serving import serve_training
from tests.difflogic.view.reports.browser import needs_browser

pytestmark = [needs_browser, pytest.mark.slow]

SETTINGS = (
    "task.height=8",
    "task.width=8",
    "automaton.steps=6",
    "perception.kernels=4",
    "checkpoint.every_epochs=5",
    "parallel.workers=1",
    "training.epochs=12",
    "training.restart_every=8",
    "finishing.every=6",
    "finishing.from_epoch=0",
    "finishing.candidates=20",
)
FACTS = (
    "Object.fromEntries([...document.querySelectorAll('#facts div')].map((fact) =>"
    " [...fact.children].map((part) => part.textContent)))"
)
STATE = f"({FACTS}).state"
EPOCH = "dct.data.charts['loss-chart']?.lines[0][1].at(-1)[0]"
GONE = "!document.querySelector('#gone').hidden"


def test_training_is_shown_to_its_end(window, tmp_path, monkeypatch):
    """Training runs in a thread, and waits until the browser has shown earlier epochs."""
    monkeypatch.setattr("difflogic.view.watching.serving.PUBLISH_SECONDS", 0.0)
    seen = {epoch: threading.Event() for epoch in (4, 9)}
    # As the command does: nothing was published about such a small circuit.
    config = difflogic.load_config("checkerboard-small", SETTINGS, drop_published=True)

    def train(session, offer):
        def step(result):
            offer(result)
            if result.epoch - 1 in seen:
                assert seen[result.epoch - 1].wait(600)

        session.train(on_step=step)

    with Session(config, RunDirectory.at(tmp_path / "run")) as session:
        with serve_training(session) as (server, offer):
            thread = threading.Thread(target=train, args=(session, offer))
            window.driver.get("data:,")  # the page before may still call its server
            window.messages(), window.requests()
            window.driver.get(server.link)
            window.wait(f"return window.dct && {STATE} === 'training'")
            thread.start()
            try:
                window.wait(f"return {EPOCH} === 4")
                assert window.js("return dct.simulation.geometry.channels") == 8
                with window.screen():
                    assert window.js("return document.documentElement.scrollWidth") <= 360
                old = window.js("return dct.simulation.automaton.circuit")
                seen[4].set()
                window.wait(f"return {EPOCH} === 9")
                assert window.js(f"return {FACTS}")["attempt"] == "2"
                for mark in ("event", "start"):
                    marks = f"document.querySelectorAll('#loss-chart .{mark}')"
                    assert window.js(f"return {marks}.length") == 1
                assert window.js("return document.querySelector('#decided-chart').clientWidth")
                window.wait("return dct.simulation.automaton.circuit === dct.data.circuit")
                assert window.js("return dct.data.circuit") != old
            finally:
                for event in seen.values():
                    event.set()
                thread.join()
        window.wait(f"return {STATE}.startsWith('finished')")
        assert window.js(f"return {EPOCH}") == 12
        assert window.js(f"return {FACTS}")["epoch"] == "12 of 12"
    window.wait(f"return {GONE}")
    assert window.text("#gone").startswith("The run is over")
    assert f"dct watch {tmp_path / 'run'}" in window.text("#gone")
    window.messages()  # about the closed server
    for url in window.requests():
        assert url == server.link or url.startswith(f"{server.link}news?")
