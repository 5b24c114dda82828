"""docs/tasks.md, followed to the letter: from a class of one's own to a verified circuit."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
FILES = {"vote.py": "python", "vote.toml": "toml"}


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.S)
    return found


def run(command, directory):
    """Run a command of the page as a user would, but in this interpreter's environment."""
    _, *arguments = shlex.split(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.slow
def test_the_page_works_as_written(tmp_path):
    for name, language in FILES.items():
        (tmp_path / name).write_text(block(language))
    commands = [line.strip() for line in PAGE.splitlines() if line.startswith("    dct ")]
    assert len(commands) == 7
    for command in commands:
        shortened = command.replace("--seeds 0-3", "--seeds 0 --epochs 20")
        result = run(shortened, tmp_path)
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        if "verify circuit" in command:
            assert "proved equal" in result.stdout
        if "config show" in command:
            assert "# ones among the five cells of a cross that make a one" in result.stdout
    summary = json.loads((tmp_path / "runs" / "vote" / "summary.json").read_text())
    assert summary["exact_epoch"] is not None
    assert (tmp_path / "runs" / "vote" / "vote.py").read_text() == block("python")
