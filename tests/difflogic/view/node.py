"""Modules of pages, run in Node.js."""

import json
import subprocess
from pathlib import Path

from difflogic.view.reports.assets import ASSETS
from tests.marks import needs

needs_node = needs("node")


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
