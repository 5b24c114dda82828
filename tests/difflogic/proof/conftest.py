"""The checkers in docs/checkers."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest

Check = Callable[..., tuple[bool, str]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the checkers only."""
    found = tmp_path_factory.mktemp("checkers")
    for file in (Path(__file__).parents[3] / "docs" / "checkers").glob("*.py"):
        code = file.read_text(encoding="utf-8")
        name = file.name.removeprefix("check_")
        own = {"checking.py": "import json, sys\n", "damage.py": "from check import *"}
        assert code.startswith(own.get(name, "from checking import *\n"))
        assert code.count("import") == (2 if name == "regions.py" else 1)
        assert sum(map(bool, code.splitlines())) <= (100 if name == "damage.py" else 78)
        code = code.replace('": "check_', '": "')  # the names of other checkers
        # For a large picture that does not repeat, look at fewer steps: each takes 40 ms.
        (found / name).write_text(code.replace("len(seen) < 1000", "len(seen) < 30"))
    return found


@pytest.fixture(scope="session")
def check(folder: Path) -> Check:
    """Return a function that runs a checker on a proof: whether it confirms, and its output."""

    def run(text: str, *arguments: object, checker: str = "cases.py") -> tuple[bool, str]:
        (folder / "proof.json").write_text(text)
        done = subprocess.run(
            [sys.executable, "-S", "-E", checker, "proof.json", *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode == 0, done.stdout + done.stderr

    return run


@cache
def program(path: Path) -> Any:
    return compile(path.read_text(), str(path), "exec")


@pytest.fixture
def check_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return the same function without processes: 100 times faster. The output is shorter."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def run(checker: str, *arguments: str) -> tuple[bool, str]:
        monkeypatch.setattr(sys, "argv", [checker, *arguments])
        sys.modules.pop("check", None)  # a process of its own would run it
        with redirect_stdout(io.StringIO()) as shown:
            try:
                file = folder / checker
                exec(program(file), {"__name__": "__main__", "__file__": str(file)})
            except SystemExit as stop:
                return False, str(stop)
            except Exception as error:  # a process would print it, and return 1
                return False, f"NOT CONFIRMED: {error!r}"
        return True, shown.getvalue()

    return run
