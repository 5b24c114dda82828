from __future__ import annotations

import numpy as np
import pytest

from difflogic.simulation import throughput
from difflogic.simulation.compiled import Compiled
from difflogic.system import memory
from difflogic.system.errors import ConfigError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import random_circuit


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(throughput, "PART_SECONDS", 0.002)
    monkeypatch.setattr(throughput, "INTERPRETER_SECONDS", 0.01)


def made(**changes):
    return automaton(random_circuit(2, 30, np.random.default_rng(0)), **changes)


def test_a_report_adds_up():
    seen = []
    report = throughput.run(made(fire_rate=0.5), (64, 100), 2, repeat=3, progress=seen.append)
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3, 4}
    assert report.agree
    assert [path.workers for path in report.paths] == [1, 1, 2]
    assert len(report.checks) == 2
    for path in report.paths:
        rates = path.rates(6400)
        assert rates.minimum == 6400 * path.steps / max(path.seconds)
    assert report.speedup(report.paths[0]) == 1
    assert report.as_dict()["paths"][2]["repeat"] == 3


def test_a_wrong_bit_is_found(monkeypatch):
    take = Compiled.take

    def wrong(self, source, target, *rest):
        taken = take(self, source, target, *rest)
        (target if taken[1] % 2 else source).words[3, 0, 8] ^= np.uint64(1)
        return taken

    monkeypatch.setattr(Compiled, "take", wrong)
    report = throughput.run(made(), (64, 100), 1, steps=4, repeat=2)
    assert not report.agree


def test_all_paths_need_memory(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(ConfigError, match="for 2 paths side by side"):
        throughput.run(made(), (1000, 10000), 1)
