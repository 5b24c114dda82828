"""Short campaigns; `python -m tests.fuzz` runs longer ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import readers, run_readers

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
KINDS = [(module, kind) for module in (readers, run_readers) for kind in module.KINDS]


@pytest.fixture(scope="module", params=KINDS, ids=[kind for _, kind in KINDS])
def kind(request, tmp_path_factory):
    """A kind of file: its reader's module, its name, valid files, and a folder for others."""
    module, name = request.param
    made = module.seeds(name, tmp_path_factory.mktemp("right"))
    return module, name, made, tmp_path_factory.mktemp("here")


def test_valid_files_are_accepted(kind):
    module, name, made, folder = kind
    accepted = [module.check(name, content, folder) for content in made]
    # Text in three colours is no start of a circuit with one visible channel.
    assert accepted[0] if name == "text" else all(accepted)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="forks")
@pytest.mark.parametrize(("what", "count"), [("files", 2000), ("commands", 10), ("kills", 1)])
def test_campaigns(tmp_path, what, count):
    words = f"-m tests.fuzz --minutes 1e-6 --only {what} --count {count} --keep {tmp_path}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    kept = "\n".join(path.read_text() for path in tmp_path.glob("*.txt"))
    assert done.returncode == 0, done.stderr + kept
    found = json.loads(done.stdout.splitlines()[-1])[what]
    assert found[what] >= count
    assert found["failed"] == 0
