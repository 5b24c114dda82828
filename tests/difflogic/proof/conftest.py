"""The checkers in docs/checkers."""

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DOCS

Check = Callable[..., tuple[bool, str]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the checkers only."""
    found = tmp_path_factory.mktemp("checkers")
    for file in (DOCS / "checkers").glob("*.py"):
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


@cache
def program(path: Path) -> Any:
    return compile(path.read_text(), str(path), "exec")


@pytest.fixture
def check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Return a function that runs a checker on a proof: whether it confirms, and what it says.

    It needs no process, which would take 100 times as long.
    """
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)

    def run(proof: Any, *arguments: object, checker: str = "cases.py") -> tuple[bool, str]:
        path = folder / "proof.json"
        path.write_text(proof if isinstance(proof, str) else json.dumps(proof))
        given = arguments if checker == "rule.py" else (path, *arguments)
        monkeypatch.setattr(sys, "argv", [checker, *map(str, given)])
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
