"""What a stranger's circuit file may cost: its own numbers are bounded, and time limits hold."""

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.app import app
from difflogic.circuit.cost import MOST_STEP_BYTES, step_bytes
from difflogic.examples.assumptions import Assumptions
from difflogic.formats.circuit_file import read_circuit, write_circuit
from difflogic.identification.identified import identify
from difflogic.system import deadline
from difflogic.system.errors import OutOfTimeError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.experiment.kill import in_a_process_of_its_own
from tests.difflogic.formats.made import random_circuit

LIMIT = 0.2
FAIR = 20
"""Seconds allowed by --time-limit, and of a processor beyond it: to start, to read, to end."""


def hostile(path, gates=8, side=16, channels=8):
    """A file of `gates` random gates, among which are the channels' next states."""
    made = automaton(random_circuit(channels, gates, np.random.default_rng(gates)))
    path.write_text(write_circuit(replace(made, height=side, width=side, start="zeros", steps=10)))
    return str(path)


def _measured(words, place):
    """Run dct; write its exit code, output, processor seconds and peak memory in bytes."""
    import resource  # of POSIX

    done = CliRunner().invoke(app, words)
    used = resource.getrusage(resource.RUSAGE_SELF)
    failed = "" if isinstance(done.exception, SystemExit | None) else f"Traceback: {done.exception}"
    text = done.output + failed
    seconds = used.ru_utime + used.ru_stime
    Path(place).write_text(json.dumps([done.exit_code, text, seconds, used.ru_maxrss * 1024]))


SIZES = [{"side": 256, "gates": 3000}, {"side": 65536, "gates": 20_000}]
COMMANDS = ["verify convergence", "simplify", "inspect"]


@pytest.mark.once
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("command", COMMANDS)
def test_time_limits_hold_for_hostile_files(command, sizes, tmp_path):
    path = hostile(tmp_path / "file.json", **sizes)
    words = [*command.split(), path, f"--time-limit={LIMIT}"]
    said = tmp_path / "said"
    # In a small process, since the peak includes what is there before.
    assert in_a_process_of_its_own(_measured, words, str(said)) == 0
    code, text, seconds, peak = json.loads(said.read_text())
    assert seconds < LIMIT + FAIR, text
    assert peak < 2**30
    assert "Traceback" not in text
    assert code in (0, 1) or "time limit" in text or "cells" in text, text
    assert "refuted" not in text.lower()


def test_files_too_large_to_prove_anything_about_are_refused(tmp_path):
    for sizes, words in (
        ({"side": 2048}, "2048×2048 cells: sides must be from 1 to 256"),
        ({"side": 256, "channels": 8192}, "each step of a proof needs"),
    ):
        path = hostile(tmp_path / "file.json", **sizes)
        done = CliRunner().invoke(app, ["verify", "convergence", path])
        assert (done.exit_code, done.stdout) == (2, "")
        assert words in done.stderr
    circuit = read_circuit(tmp_path / "file.json").circuit
    assert step_bytes(circuit, 256**2) > MOST_STEP_BYTES
    assert step_bytes(circuit, 2**10) < MOST_STEP_BYTES


def test_the_time_limit_of_identify_holds_where_cells_depend_on_millions(monkeypatch):
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=time.process_time))
    film = np.random.default_rng(0).integers(0, 2, (2, 64, 64))
    began = time.process_time()
    with pytest.raises(OutOfTimeError, match="the time limit passed"):
        identify(film, Assumptions(gap=64), time_limit=LIMIT)
    assert time.process_time() - began < LIMIT + FAIR
