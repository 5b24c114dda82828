"""Nothing in the working directory is imported: its files may be untrusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.processes import ROOT, run_python
from tests.difflogic.training.tiny import TINY

CIRCUIT = str(ROOT / "docs" / "gallery" / "checkerboard.json")
MODULES = ("json", "random", "typing", "resource", "sitecustomize", "usercustomize")
PACKAGES = ("numpy", "numba", "joblib", "mpi4py", "matplotlib", "difflogic", "cli")
HOSTILE = """
import pathlib
with pathlib.Path({path!r}).open("a") as told:
    told.write(__name__ + "\\n")
"""
SETTINGS = [f"--set={setting}" for setting in (*TINY, "training.epochs=2")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        ["config", "show", "checkerboard-small"],
        ["train", "checkerboard-small", *SETTINGS, "--ranks=2", "--oversubscribe"],
        ["simulate", CIRCUIT, "--size=16x16", "--engine=compiled"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("by", ["script", pytest.param("module", marks=pytest.mark.exhaustive)])
def test_no_command_imports_from_it(words: list[str], by: str, tmp_path: Path) -> None:
    """Ranks neither. Other tests cover sweeps' workers and the compilers of circuits."""
    if "--ranks=2" in words:
        pytest.importorskip("mpi4py")
    folder, told = tmp_path / "hostile", tmp_path / "told"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(HOSTILE.format(path=str(told)))
    for name in PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(HOSTILE.format(path=str(told)))
    # As the installed command begins: its own directory is first on the path.
    script = tmp_path / "dct"
    script.write_text("from cli.entry import main\nif __name__ == '__main__':\n    main()\n")
    start = [str(script)] if by == "script" else ["-P", "-m", "cli"]
    if words[0] == "train":
        words = [*words, f"--dir={tmp_path / 'run'}"]
    done = run_python(*start, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not told.exists(), told.read_text()
