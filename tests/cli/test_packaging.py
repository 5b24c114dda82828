"""The wheel holds the command, both packages and the configurations; it finds its own."""

import os
import zipfile

import pytest

from tests.cli.processes import run_python
from tests.paths import ROOT


def files_in(folder):
    return {path.relative_to(folder) for path in folder.rglob("*.*") if path.suffix != ".pyc"}


@pytest.mark.thorough
def test_the_wheel_holds_all_that_is_shipped_and_its_command_finds_it(tmp_path):
    """It is built without a network: the development tools include the build backend."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    options += ["--wheel-dir", str(tmp_path), str(ROOT)]
    run_python("-m", "pip", "wheel", *options, good=True)
    site = tmp_path / "site"
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(site)
    ours = {"cli", "difflogic", "dct_entry"}
    assert {top.name for top in site.iterdir() if top.suffix != ".dist-info"} == ours
    assert list(site.glob("*.dist-info/**/LICENSE"))
    for installed, shipped in (
        (site / "difflogic" / "configs", ROOT / "configs"),
        (site / "difflogic" / "view", ROOT / "difflogic" / "view"),
    ):
        assert files_in(installed) == files_in(shipped)
    code = (
        "import difflogic; assert 'site' in difflogic.__file__, difflogic.__file__\n"
        "import sys; sys.argv = ['dct', 'config', 'show', 'lizard']\n"
        "from dct_entry import main; main()\n"
    )
    another = tmp_path / "another"
    (another / "cli").mkdir(parents=True)
    (another / "cli" / "__init__.py").write_text("raise SystemExit('another cli')")
    paths = f"{another}{os.pathsep}{site}"
    done = run_python("-c", code, cwd=tmp_path, good=True, env={"PYTHONPATH": paths})
    assert 'name = "lizard"' in done.stdout
    assert "\n........#.#.#.......\n" in done.stdout
