"""Limits on a process's address space (ulimit -v): a limit that is too low is reported at once."""

import re
from pathlib import Path

import pytest

from tests.cli.processes import run_dct

resource = pytest.importorskip("resource")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells what is used"),
]


def limited(limit, words, place):
    return run_dct(
        *words,
        cwd=place,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        # A thread per core of a large machine would take what is to be left for the compiler.
        variables={"OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.once
@pytest.mark.parametrize(
    "megabytes",
    [60, 300, 900, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in (150, 550, 700))],
)
def test_too_low_a_limit_is_refused(megabytes, tmp_path):
    done = limited(megabytes * 10**6, ["train", "checkerboard-small", "--dir=run"], tmp_path)
    assert done.returncode == 1
    said = f"error: the limit on a process's address space, {megabytes} MB, is too low"
    assert done.stderr.startswith(said), done.stderr
    assert "raise it with ulimit -v" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_plots_need_memory_not_another_installation(tmp_path):
    done = limited(430 * 10**6, ["plot", "run", "--output=run.svg"], tmp_path)
    assert done.returncode == 1
    assert "address space, 430 MB, is too low" in done.stderr
    assert "matplotlib" not in done.stderr


def test_commands_without_compiling_need_less(tmp_path):
    done = limited(300 * 10**6, ["config", "show", "checkerboard"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_limit_in_the_message_suffices(tmp_path, tiny):
    words = ["train", "checkerboard-small", *(f"--set={change}" for change in tiny)]
    words += ["--epochs=150", "--workers=2", "--dir=run", "--quiet"]
    refused = limited(600 * 10**6, words, tmp_path)
    asked = re.search(r"ulimit -v ([0-9]+) or", refused.stderr)
    assert asked, refused.stderr
    done = limited(1024 * int(asked[1]), words, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "model.npz").exists()
