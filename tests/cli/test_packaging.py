"""The wheel holds the command, both packages and the configurations."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel without a network: the development tools include the build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.thorough
def test_the_wheel_holds_packages_configs_and_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = [name for name in names if name.endswith("/entry_points.txt")]
        assert "dct = cli.entry:main" in archive.read(entry_points).decode()

    configs = REPOSITORY / "configs"
    shipped = {path.relative_to(configs).as_posix() for path in configs.rglob("*.*")}
    prefix = "difflogic/configs/"
    installed = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    assert {"lizard.toml", "pictures/lizard.txt"} <= shipped
    assert installed == shipped
    assert "cli/app.py" in names
    for page in ("reports/page/report.html", "reports/page/main.js", "watching/page/watch.css"):
        assert f"difflogic/view/{page}" in names
    assert any(name.endswith("/LICENSE") for name in names)
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"cli", "difflogic"}


@pytest.mark.thorough
def test_the_installed_command_finds_its_configs(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import difflogic; assert 'site' in difflogic.__file__, difflogic.__file__\n"
        "import sys; sys.argv = ['dct', 'config', 'show', 'lizard']\n"
        "from cli.app import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert 'name = "lizard"' in done.stdout
    assert "\n........#.#.#.......\n" in done.stdout
