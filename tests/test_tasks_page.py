"""docs/tasks.md, followed to the letter: from a class of one's own to a verified circuit."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app
from difflogic.tasks import own

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
FILES = {"vote.py": "python", "vote.toml": "toml"}


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.S)
    return found


@pytest.mark.slow
def test_the_page_works_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own, "_LOADED", {})
    for name, language in FILES.items():
        (tmp_path / name).write_text(block(language))
    commands = [line.strip() for line in PAGE.splitlines() if line.startswith("    dct ")]
    assert len(commands) == 7
    for command in commands:
        shortened = command.replace("--seeds 0-3", "--seeds 0 --epochs 20")
        result = CliRunner().invoke(app, shlex.split(shortened)[1:], catch_exceptions=False)
        assert result.exit_code == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        if "verify circuit" in command:
            assert "proved equal" in result.stdout
        if "config show" in command:
            assert "# ones among the five cells of a cross that make a one" in result.stdout
    summary = json.loads((tmp_path / "runs" / "vote" / "summary.json").read_text())
    assert summary["exact_epoch"] is not None
    assert (tmp_path / "runs" / "vote" / "vote.py").read_text() == block("python")
