"""The wheel holds the command, both packages and the configurations; it finds its own."""

import os
import zipfile

import pytest

from tests.cli.processes import ROOT, run_python

pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel without a network: the development tools include the build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    done = run_python("-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(ROOT))
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.thorough
def test_the_wheel_holds_packages_configs_and_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = [name for name in names if name.endswith("/entry_points.txt")]
        assert "dct = dct_entry:main" in archive.read(entry_points).decode()

    configs = ROOT / "configs"
    shipped = {path.relative_to(configs).as_posix() for path in configs.rglob("*.*")}
    prefix = "difflogic/configs/"
    installed = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    assert {"lizard.toml", "pictures/lizard.txt"} <= shipped
    assert installed == shipped
    assert "cli/app.py" in names
    for page in ("reports/page/report.html", "reports/page/main.js"):
        assert f"difflogic/view/{page}" in names
    assert any(name.endswith("/LICENSE") for name in names)
    tops = {name.split("/")[0] for name in names}
    ours = {"cli", "difflogic", "dct_entry"}
    assert {top for top in tops if not top.endswith(".dist-info")} == ours


@pytest.mark.thorough
def test_the_installed_command_finds_its_own_packages_and_configs(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import difflogic; assert 'site' in difflogic.__file__, difflogic.__file__\n"
        "import sys; sys.argv = ['dct', 'config', 'show', 'lizard']\n"
        "from dct_entry import main; main()\n"
    )
    another = tmp_path / "another"
    (another / "cli").mkdir(parents=True)
    (another / "cli" / "__init__.py").write_text("raise SystemExit('another cli')")
    paths = f"{another}{os.pathsep}{tmp_path / 'site'}"
    done = run_python("-c", code, cwd=tmp_path, env={"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
    assert 'name = "lizard"' in done.stdout
    assert "\n........#.#.#.......\n" in done.stdout
