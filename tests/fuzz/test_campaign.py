"""Short runs of the campaigns: `python -m tests.fuzz.campaign` goes on for as long as one likes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import run_readers

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=run_readers.KINDS)
def kind(request, tmp_path_factory):
    """A kind of file, right ones of it, and a folder to read others in."""
    made = run_readers.seeds(request.param, tmp_path_factory.mktemp("right"))
    return request.param, made, tmp_path_factory.mktemp("here")


def test_right_files_are_accepted(kind):
    name, made, folder = kind
    accepted = [run_readers.check(name, content, folder) for content in made]
    # Text in three colours is no start of a circuit with one visible channel.
    assert accepted[0] if name == "text" else all(accepted)


def test_damaged_files_are_accepted_or_refused(kind):
    name, made, folder = kind
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(200):
            random = Random(number)
            content = run_readers.damage(name, random.choice(made), random)
            run_readers.check(name, content, folder)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="forks")
@pytest.mark.parametrize(("what", "count"), [("files", 50), ("commands", 10), ("kills", 1)])
def test_campaigns(tmp_path, what, count):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.fuzz.campaign",
            what,
            str(count),
            str(tmp_path),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    kept = "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))
    assert done.returncode == 0, done.stderr + kept
    found = json.loads(done.stdout.splitlines()[-1])
    assert found[what] >= count
    assert found["failed"] == 0
