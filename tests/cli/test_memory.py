"""Limits of a process on its address space (ulimit -v) and on open files (ulimit -n).

One that is too low is reported at once.
"""

import re
import resource
from pathlib import Path

import pytest

from tests.cli.processes import run_dct

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells what is used"),
]


def limited(words, place, *limits, what=resource.RLIMIT_AS, **options):
    """Run `dct` with a soft and a hard limit."""
    return run_dct(
        words,
        cwd=place,
        preexec_fn=lambda: resource.setrlimit(what, (limits[0], limits[-1])),
        # A thread per core of a large machine would take what is to be left for the compiler.
        variables={"OPENBLAS_NUM_THREADS": "1"},
        **options,
    )


@pytest.mark.once
@pytest.mark.parametrize("megabytes", [60, 900])
def test_too_low_a_limit_is_refused(megabytes, tmp_path):
    done = limited("train checkerboard-small --dir=run", tmp_path, megabytes * 10**6)
    assert done.returncode == 1
    said = f"error: the limit on a process's address space, {megabytes} MB, is too low"
    assert done.stderr.startswith(said), done.stderr
    assert "raise it with ulimit -v" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_commands_without_compiling_need_less(tmp_path):
    done = limited("config show checkerboard", tmp_path, 300 * 10**6)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_limit_in_the_message_suffices(tmp_path, tiny):
    words = f"train checkerboard-small {tiny} --epochs=150 --workers=2 --dir=run --quiet"
    refused = limited(words, tmp_path, 600 * 10**6)
    asked = re.search(r"ulimit -v ([0-9]+) or", refused.stderr)
    assert asked, refused.stderr
    limited(words, tmp_path, 1024 * int(asked[1]), good=True)
    assert (tmp_path / "run" / "model.npz").exists()


def test_too_few_open_files_are_refused(tmp_path):
    words = "sweep checkerboard-small --seeds=0 --workers=1 --dir=run"
    done = limited(words, tmp_path, 5, what=resource.RLIMIT_NOFILE)
    said = "error: the limit on open files, 5, is too low: raise it with ulimit -n 64\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert not (tmp_path / "run").exists()


def test_a_soft_limit_on_open_files_is_raised(tmp_path, tiny):
    files = resource.RLIMIT_NOFILE
    words = f"train checkerboard-small {tiny} --epochs=2 --dir=run"
    limited(words, tmp_path, 5, resource.getrlimit(files)[1], what=files, good=True)
