"""The checkers that pages of docs/ print."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Check = Callable[..., tuple[bool, str]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the checkers only."""
    found = tmp_path_factory.mktemp("checkers")
    docs = Path(__file__).parents[3] / "docs"
    names = ("sets.py", "cases.py", "lines.py", "rule.py")
    pages = ("checkers.md", "computing.md", "local-rules.md")
    text = "".join((docs / page).read_text(encoding="utf-8") for page in pages)
    checkers = dict(zip(names, re.findall(r"```python\n(.*?)```", text, re.DOTALL), strict=True))
    for name, code in checkers.items():
        assert code.startswith(
            "import json, sys\n" if name == "rule.py" else "import hashlib, json, sys\n"
        )
        assert code.count("import") == 1
        assert name in ("sets.py", "cases.py") or len(code.splitlines()) <= 60
    # For a large picture that does not repeat, look at fewer steps: each takes 40 ms.
    slow = "len(seen) < 1000"
    assert checkers["cases.py"].count(slow) == 1
    checkers["quick.py"] = checkers["cases.py"].replace(slow, "len(seen) < 30")
    for name, code in checkers.items():
        (found / name).write_text(code)
    return found


@pytest.fixture(scope="session")
def check(folder: Path) -> Check:
    """Return a function that runs a checker on a proof: whether it confirms, and its output."""

    def run(text: str, *arguments: object, checker: str = "cases.py") -> tuple[bool, str]:
        (folder / "proof.json").write_text(text)
        done = subprocess.run(
            [sys.executable, "-I", checker, "proof.json", *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode == 0, done.stdout + done.stderr

    return run
