"""Nothing in the working directory is imported: its files may be untrusted."""

import pytest

from difflogic.verification.case import UNEVEN
from tests.cli.processes import run_python
from tests.marks import exhaustive
from tests.paths import GALLERY

CIRCUIT = str(GALLERY / "checkerboard.json")
MODULES = ("json", "random", "typing", "resource", "sitecustomize", "usercustomize", "psutil")
PACKAGES = ("numpy", "numba", "joblib", "mpi4py", "matplotlib", "difflogic", "cli")
PACKAGES += ("distributed", "multiprocessing")
HOSTILE = """
import pathlib
with pathlib.Path({path!r}).open("a") as told:
    told.write(__name__ + "\\n")
"""
SETTINGS = [f"--set={setting}" for setting in (*UNEVEN, "training.epochs=2")]


SWEEP = ["sweep", "checkerboard-small", *SETTINGS]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        ["train", "checkerboard-small", *SETTINGS],
        ["simulate", CIRCUIT, "--size=16x16", "--engine=compiled"],
        exhaustive([*SWEEP, "--seeds=0-2", "--workers=2"]),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("by", ["script", exhaustive("module")])
def test_no_command_imports_from_it(words, by, tmp_path):
    """Nor do workers and what helps them; another test has the compilers of circuits."""
    folder = tmp_path / "hostile"
    told = tmp_path / "told"
    folder.mkdir()
    for name in MODULES:
        (folder / f"{name}.py").write_text(HOSTILE.format(path=str(told)))
    for name in PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(HOSTILE.format(path=str(told)))
    # As the installed command begins: its own directory is first on the path.
    script = tmp_path / "dct"
    script.write_text("from dct_entry import main\nif __name__ == '__main__':\n    main()\n")
    start = [str(script)] if by == "script" else ["-P", "-m", "cli"]
    if words[0] in ("train", "sweep"):
        words = [*words, f"--dir={tmp_path / 'run'}"]
    run_python(*start, *words, cwd=folder, good=True)
    assert not told.exists(), told.read_text()
