"""The checkers that three pages of docs/ print, alone in a directory."""

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
    """An empty directory but for the page's checkers."""
    found = tmp_path_factory.mktemp("checkers")
    docs = Path(__file__).parents[3] / "docs"
    pages = [(docs / page).read_text(encoding="utf-8") for page in ("checkers.md", "computing.md")]
    sets, cases, lines = re.findall(r"```python\n(.*?)```", "".join(pages), re.DOTALL)
    assert len(lines.splitlines()) <= 60
    for code in (sets, cases, lines):
        assert code.startswith("import hashlib, json, sys\n")
        assert code.count("import") == 1
    (found / "sets.py").write_text(sets)
    (found / "cases.py").write_text(cases)
    (found / "lines.py").write_text(lines)
    page = (docs / "local-rules.md").read_text(encoding="utf-8")
    (rule,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(rule.splitlines()) <= 60
    assert rule.startswith("import json, sys\n")
    assert rule.count("import") == 1
    (found / "rule.py").write_text(rule)
    # Of a large picture that does not come back it looks at fewer steps here: each takes 40 ms.
    assert cases.count("len(seen) < 1000") == 1
    (found / "quick.py").write_text(cases.replace("len(seen) < 1000", "len(seen) < 30"))
    return found


@pytest.fixture(scope="session")
def check(folder: Path) -> Check:
    """Run a checker on a file's text; say whether it confirms, and what it said."""

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
