"""What is compiled before the first step is all that steps and searches call."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.experiment import compiling
from difflogic.experiment.searching import Trainer
from difflogic.pictures.picture import Picture
from difflogic.system.work import HALF_DONE, Progress, Stopped, ignore, working
from tests.difflogic.pictures.counting import counting
from tests.difflogic.training.tiny import growing
from tests.marks import compiled
from tests.paths import ROOT

SETTINGS = (
    "finishing.every=2",
    "finishing.from_epoch=2",
    "finishing.candidates=6000",
    "finishing.rectify=25",
)

COMPARED = """
import json, sys
from difflogic.engine.kernels import (
    candidate_base, candidates, detectors, hard, hard_gradients, logits, training,
)
from difflogic.experiment.searching import Trainer
from tests.difflogic.training.tiny import growing

def types():
    rooms = candidate_base, candidates, detectors, hard, hard_gradients, logits, training
    kernels = [getattr(room, name) for room in rooms for name in sorted(vars(room))]
    return {kernel.__name__: sorted(map(str, kernel.signatures)) for kernel in kernels
            if hasattr(kernel, "signatures")}

with Trainer(growing(*json.loads(sys.argv[1]))) as trainer:
    trainer.warm_up()
    trainer.compile_search()
    before = types()
    trainer.step()
    trainer.step()
print(json.dumps([before, types()]))
"""


@pytest.mark.thorough
@compiled
def test_runs_use_the_compiled_types():
    done = subprocess.run(
        [sys.executable, "-c", COMPARED, json.dumps(SETTINGS)],
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1800,
    )
    before, after = json.loads(done.stdout)
    assert all(before[kernel] for kernel in ("judge", "detect", "train"))
    assert before == after


HELPED = ("difflogic.engine.hard.candidates",)


@pytest.mark.once
@compiled
def test_a_helper_leaves_the_kernels_of_searches_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with compiling.helping(HELPED) as wait:
        wait()
    assert "candidates.judge" in " ".join(os.listdir(tmp_path / "dct-kernels"))


@pytest.mark.parametrize("modules", [HELPED, ["missing"]])
def test_a_helper_that_takes_too_long_or_dies_is_harmless(modules, monkeypatch):
    monkeypatch.setattr(compiling, "MOST_SECONDS", 0.0 if modules is HELPED else 600.0)
    with compiling.helping(modules) as wait:
        wait()


def test_a_helper_ends_with_the_process_that_it_helps():
    with pytest.raises(KeyboardInterrupt), compiling.helping(HELPED):
        raise KeyboardInterrupt
    assert not HALF_DONE


def test_waiting_for_a_helper_can_be_stopped():
    with working(asked=lambda: True), compiling.helping(HELPED) as wait, pytest.raises(Stopped):
        wait()


@pytest.fixture
def helped(monkeypatch):
    """The names of the modules that helpers load, and `wait`, which may be replaced."""
    found = SimpleNamespace(names=[], wait=ignore)

    @contextmanager
    def helping(names):
        found.names += [name.rpartition(".")[2] for name in names]
        yield lambda: found.wait()

    monkeypatch.setattr(compiling, "may_help", lambda: True)
    monkeypatch.setattr(compiling, "helping", helping)
    monkeypatch.setattr(compiling, "is_compiled", lambda *kernel: False)
    return found


@pytest.mark.parametrize(("epochs", "waits", "modules"), [(2, [2], 3), (1, [], 1)])
def test_only_searches_wait_for_the_helper(helped, epochs, waits, modules):
    waited: list[int] = []
    helped.wait = lambda: waited.append(trainer.epoch)
    told: list[Progress] = []
    with (
        working(tell=told.append),
        Trainer(growing(*SETTINGS, f"training.epochs={epochs}")) as trainer,
    ):
        trainer.warm_up()
        for _ in range(epochs):
            trainer.step()
    assert waited == waits
    assert len(helped.names) == modules
    assert told[-1].done == told[-1].total == (6 if waits else 3)


COUNTED = Picture("any", np.ones((1, 4, 4), np.uint8))


@pytest.mark.parametrize(
    ("config", "modules"),
    [
        (load_config("checkerboard-tough"), ["hard_simulator", "lessons", "sets", "rewirer"]),
        (counting(COUNTED), ["hard_simulator", "sets"]),
    ],
)
def test_the_helper_compiles_what_a_run_calls(helped, config, modules):
    with Trainer(config) as trainer:
        trainer.warm_up()
    assert helped.names == modules
