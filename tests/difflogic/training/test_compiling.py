"""The helper process that compiles: it does its work, and ends in time."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from difflogic.library.training import train
from difflogic.run.metrics import read_metrics
from difflogic.run.run_directory import RunDirectory
from difflogic.system.callbacks import never_stop
from difflogic.system.jit import JIT
from difflogic.training import compiling
from tests.difflogic.training.tiny import tiny

compiled_only = pytest.mark.skipif(not JIT, reason="nothing is compiled")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def helper():
    made = compiling.HelperProcess("float32")
    yield made
    made.close()


@pytest.mark.thorough
def test_close_ends_the_process(helper):
    helper.close()
    assert helper._process.returncode is not None
    helper.close()


def test_waiting_for_a_failed_process_returns(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    helper = compiling.HelperProcess("float32")
    assert not helper.wait("search")
    helper.close()


@pytest.mark.thorough
def test_the_process_ends_with_its_parent():
    program = (
        "import threading\nfrom difflogic.training.compiling import _end_with_input\n"
        "threading.Thread(target=_end_with_input, daemon=True).start()\n"
        "print('begun', flush=True)\nthreading.Event().wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout.readline().strip() == b"begun"
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=600) == 0


class Recorded:
    """In place of the process; records all requests."""

    def __init__(self):
        self.requests = []

    def wait(self, stage, should_stop=never_stop):
        self.requests.append(stage)
        return None if should_stop() else True

    def close(self):
        self.requests.append("close")


@pytest.fixture
def recorded(monkeypatch):
    """The recorder as a trainer's helper, while nothing seems to be compiled."""
    found = Recorded()
    monkeypatch.setattr(compiling, "rollouts_are_cached", lambda *which: False)
    monkeypatch.setattr(compiling, "start_helper", lambda precision: found)
    return found


SEARCHING = ("finishing.every=2", "finishing.from_epoch=2", "finishing.candidates=10")
RECTIFYING = (*SEARCHING[:2], "finishing.candidates=6000", "finishing.rectify=25")


def test_a_run_is_stopped_while_its_search_waits(recorded, tmp_path):
    waits = []

    def begin(session):
        session.trainer.warm_up(meanwhile=True)
        session.trainer.on_compile_wait = lambda: waits.append(session.trainer.epoch)

    settings = tiny(*SEARCHING, "training.epochs=4")
    stopped = train(
        settings, directory=tmp_path / "run", begin=begin, should_stop=lambda: bool(waits)
    )
    assert waits == [1]
    assert recorded.requests == ["steps", "close"]
    assert not stopped.finished
    assert stopped.summary["epochs"] == 1
    # The wait leaves no trace in the search.
    train(settings, directory=tmp_path / "run")
    train(settings, directory=tmp_path / "whole")
    models = [(tmp_path / name / "model.npz").read_bytes() for name in ("run", "whole")]
    assert models[0] == models[1]
    searches = [
        [row.search for row in read_metrics(RunDirectory(tmp_path / name), 4)]
        for name in ("run", "whole")
    ]
    assert searches[0] == searches[1]
    assert searches[0][1] is not None


def test_a_wait_can_be_stopped(monkeypatch, tmp_path):
    program = tmp_path / "silent"
    program.write_text("#!/bin/sh\nread line\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    helper = compiling.HelperProcess("float32")
    looks = iter([False, False, True])
    assert helper.wait("search", lambda: next(looks)) is None
    helper.close()
    assert helper.wait("search") is False


COMPARED = """
import json, sys
import numpy as np
from difflogic.config import load_config
from difflogic.engine.kernels import (
    candidate_base, candidates, detectors, hard, hard_gradients, logits,
)
from difflogic.model.model import Model
from difflogic.training.compiling import compile_slopes, compile_stages
from difflogic.training.searching import Trainer
from tests.difflogic.training.tiny import growing

def types():
    rooms = candidate_base, candidates, detectors, hard, hard_gradients, logits
    kernels = [getattr(room, name) for room in rooms for name in sorted(vars(room))]
    return {kernel.__name__: sorted(map(str, kernel.signatures)) for kernel in kernels
            if hasattr(kernel, "signatures")}

assert list(compile_stages("float32")) == ["steps", "search"]
netlist = Model.create(load_config("checkerboard-small")).netlist
compile_slopes(netlist, np.zeros(netlist.parameters, np.uint8), rectifies=True)
before = types()
with Trainer(growing(*json.loads(sys.argv[1]))) as trainer:
    trainer.step()
    trainer.step()
print(json.dumps([before, types()]))
"""


@pytest.mark.thorough
@compiled_only
def test_runs_use_the_compiled_types():
    done = subprocess.run(
        [sys.executable, "-c", COMPARED, json.dumps(RECTIFYING)],
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=1800,
    )
    before, after = json.loads(done.stdout)
    assert before["judge"]
    assert before["detect"]
    assert before["adamw_step"]
    assert before == after
