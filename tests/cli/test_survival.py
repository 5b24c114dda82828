"""Runs as real processes: killed, resumed, locked, or out of space."""

import json
import os
import signal

import pytest

from difflogic.config import load_config
from difflogic.experiment.session import Session, execute
from difflogic.run.run_directory import RunDirectory
from tests.cli.conftest import TINY
from tests.cli.processes import as_options, wait_until
from tests.difflogic.experiment.kill import results


def latest(run):
    """Return the epoch of the latest checkpoint, -1 if there is none."""
    names = [path.stem.removeprefix("checkpoint-") for path in run.glob("checkpoint-*.npz")]
    return max(map(int, names), default=-1)


def wait_for_epoch(run, process, epoch):
    """Wait for a checkpoint of that epoch or a later one, or until the process is over."""
    wait_until(lambda: latest(run) >= epoch or process.poll() is not None)


@pytest.mark.thorough
def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path, tiny, start, dct):
    process = start(f"train checkerboard {tiny} --seed=23 --epochs=1000000 --dir=run --quiet")
    wait_for_epoch(tmp_path / "run", process, 0)
    assert "run" in dct("train checkerboard --dir run").refusal
    assert f"run: in use by process {process.pid}" in dct("train --resume run").refusal
    assert process.poll() is None
    process.end(signal.SIGKILL)
    assert (tmp_path / "run" / ".lock").exists()

    config = load_config(tmp_path / "run" / "config.toml")
    with Session(config, RunDirectory(tmp_path / "run")) as session:
        assert session.resumed == 1


@pytest.mark.once
def test_a_lost_terminal_saves_the_run(tmp_path, tiny, start):
    """As when a connection by ssh breaks: SIGHUP, and nothing can be written to the terminal."""
    mine, its = os.openpty()
    hangup = f"import fcntl, termios; fcntl.ioctl({its}, termios.TIOCSCTTY, 0)"
    words = f"train checkerboard {tiny} --epochs=1000000 --dir=run".split()
    code = f"{hangup}; import sys; sys.argv[1:] = {words}; from cli.entry import main; main()"
    terminal = {"stdin": its, "stdout": its, "stderr": its, "pass_fds": [its]}
    process = start(code=code, **terminal)
    os.close(its)
    wait_for_epoch(tmp_path / "run", process, 0)
    while b"epoch" not in os.read(mine, 4096):  # it trains, and shows it
        pass
    os.close(mine)
    assert process.end() == 129
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["interrupted"] is True


@pytest.mark.thorough
def test_a_full_disk_stops_the_run_and_leaves_a_good_checkpoint(tmp_path, tiny, start, dct):
    """A limit on metrics.csv's size acts like a full disk, which needs root to make."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**15, 2**15))

    settings = ["training.seed=36", "checkpoint.every_epochs=10", "training.epochs=200"]
    words = f"train checkerboard-small {tiny} --dir=run"
    process = start(words, as_options(settings), preexec_fn=limit)
    assert process.end() == 1, process.err
    assert process.out == ""
    assert "metrics.csv: cannot be written: file too large: raise the limit" in process.err
    assert "is good. After fixing this, continue with: dct train --resume run" in process.err
    assert "Traceback" not in process.err

    assert dct("train --resume run").good
    config = load_config("checkerboard-small", [*TINY, *settings], drop_published=True)
    execute(config, tmp_path / "whole")
    assert results(tmp_path / "run") == results(tmp_path / "whole")
