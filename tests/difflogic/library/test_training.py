"""Interrupts during `difflogic.train`."""

import signal
import threading

import numpy as np
import pytest

import difflogic
from difflogic.run.opened_run import OpenedRun
from difflogic.training import trainer
from tests.difflogic.training.tiny import tiny


@pytest.fixture(autouse=True)
def _python_handles_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.once
def test_training_a_sweep_and_rules_by_chance_tell(tmp_path):
    brief = ["training.epochs=3", "finishing.from_epoch=9"]
    told = []
    options = difflogic.SweepOptions("0-1", (), brief, directory=tmp_path, jobs=1)
    with difflogic.working(tell=lambda news: told.append((news.what, news.done, news.total))):
        difflogic.sweep("checkerboard-small", options)
        difflogic.train(tiny("training.epochs=2"), directory=tmp_path / "run")
        difflogic.identify_chance(np.zeros((3, 4, 4), int))
    for what in ("runs ended:", 2, 2), ("epochs:", 1, 2), ("neighbourhoods counted:", 3, 4):
        assert what in told


@pytest.mark.parametrize("within", ["between epochs", "in a step", "saving"])
def test_an_interrupted_run_is_saved_and_resumes_to_the_same_bits(tmp_path, within, monkeypatch):
    config = tiny("training.epochs=6")
    whole = difflogic.train(config, directory=tmp_path / "whole")

    reached = []

    def stop(place, epoch=3):
        if place == within and epoch == 3:
            signal.raise_signal(signal.SIGINT)

    def progress(result):
        reached.append(result.epoch)
        stop("between epochs", result.epoch)

    draw = trainer.draw_samples
    write = OpenedRun.save_checkpoint
    monkeypatch.setattr(
        trainer,
        "draw_samples",
        lambda problem, epoch: stop("in a step", epoch) or draw(problem, epoch),
    )
    monkeypatch.setattr(
        OpenedRun, "save_checkpoint", lambda *given: stop("saving") or write(*given)
    )
    with pytest.raises(KeyboardInterrupt):
        difflogic.train(config, directory=tmp_path / "half", progress=progress)
    monkeypatch.undo()
    assert reached == list(range(1, {"saving": 1, "in a step": 5}.get(within, 4)))
    run = difflogic.train(config, directory=tmp_path / "half", progress=progress)
    assert reached == [1, 2, 3, 4, 5, 6]
    assert run.finished
    one, two = ((each.path / "model.npz").read_bytes() for each in (whole, run))
    assert one == two


def test_other_handlers_and_threads_are_not_touched(tmp_path):
    signals = []
    before = signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
    config = tiny("training.epochs=2")
    try:
        difflogic.train(
            config,
            directory=tmp_path / "run",
            progress=lambda _: signal.raise_signal(signal.SIGINT),
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(signals) == 2
    runs = []
    thread = threading.Thread(
        target=lambda: runs.append(difflogic.train(config, directory=tmp_path / "thread"))
    )
    thread.start()
    thread.join()
    assert runs[0].finished
