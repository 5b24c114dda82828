"""What is compiled before the first step is all that steps and searches call."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from difflogic.experiment import compiling
from difflogic.system.jit import JIT

ROOT = Path(__file__).parents[3]

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
    before = types()
    trainer.step()
    trainer.step()
print(json.dumps([before, types()]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
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


@pytest.mark.once
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_a_helper_leaves_the_kernels_of_searches_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with compiling.helping() as wait:
        wait()
    assert "candidates.judge" in " ".join(os.listdir(tmp_path / "dct-kernels"))


def test_a_helper_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(compiling, "MOST_SECONDS", 0.0)
    with compiling.helping() as wait:
        wait()


def test_a_helper_is_ended_with_the_process_that_it_helps():
    with pytest.raises(KeyboardInterrupt), compiling.helping():
        raise KeyboardInterrupt
