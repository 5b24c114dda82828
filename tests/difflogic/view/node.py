"""Modules of pages, run in Node.js."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from difflogic.view.reports.assets import ASSETS

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


def run_node(script: Path, **data):
    """Run a script that reads JSON, with `page`, the folder of the modules; return its output."""
    done = subprocess.run(
        ["node", str(script)],
        input=json.dumps({"page": ASSETS.as_uri()} | data),
        text=True,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
