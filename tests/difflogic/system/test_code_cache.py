"""Machine code from the cache runs as the user, so others must not have written it."""

import os
from pathlib import Path

import pytest

from difflogic.system.code_cache import CodeCache

CACHE = CodeCache("simulation", "compiled circuits")

root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache with a file in it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    CACHE.keep("a.native", b"code")
    assert CACHE.read("a.native") == b"code"
    return tmp_path / "numba" / "dct-simulation"


def test_its_directory(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert CACHE.directory() == tmp_path / "numba" / "dct-simulation"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert CACHE.directory() == tmp_path / "own" / "dct" / "simulation"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert CACHE.directory() == Path.home() / ".cache" / "dct" / "simulation"


def test_relative_paths_are_ignored(monkeypatch, tmp_path):
    """Files that were unpacked into the working directory belong to the user too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "here")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert CACHE.directory() == Path.home() / ".cache" / "dct" / "simulation"
    monkeypatch.setenv("HOME", "home")
    assert CACHE.directory() is None
    CACHE.keep("a.native", b"code")
    assert CACHE.read("a.native") is None
    assert "no home" in CACHE.problem()
    assert not list(tmp_path.iterdir())


def test_new_files_are_the_users_alone(place):
    previous = os.umask(0o000)
    try:
        CACHE.keep("b.native", b"more")
    finally:
        os.umask(previous)
    assert CACHE.read("b.native") == b"more"
    assert (place / "b.native").stat().st_mode & 0o777 == 0o600
    assert place.stat().st_mode & 0o777 == place.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("above", "mode"), [(0, 0o602), (0, 0o620), (1, 0o720), (2, 0o702)])
def test_what_others_may_write_is_not_run(place, above, mode):
    path = [place / "a.native", place, place.parent][above]
    path.chmod(mode)
    assert CACHE.read("a.native") is None
    CACHE.keep("c.native", b"code")
    assert (place / "c.native").exists() == (above == 0)
    assert (CACHE.problem() is None) == (above == 0)
    if above:
        assert f"{path} is a link, or may be changed by others" in CACHE.problem()


@root
@pytest.mark.parametrize("above", [0, 1, 2])
def test_files_of_another_user_are_not_run(place, above):
    """Nobody can replace another user's file in /tmp, but the owner of a directory can."""
    place.parent.chmod(0o1777)
    assert CACHE.read("a.native") == b"code"
    os.chown([place / "a.native", place, place.parent][above], 1234, 1234)
    assert CACHE.read("a.native") is None


@pytest.mark.parametrize("what", ["file", "directory"])
def test_links_are_not_followed(place, tmp_path, what):
    path = place / "a.native" if what == "file" else place
    moved = path.rename(tmp_path / "moved")
    path.symlink_to(moved)
    assert CACHE.read("a.native") is None
    CACHE.keep("b.native", b"code")
    assert not (moved / "b.native").exists()
    path.unlink()
    path.symlink_to(path)
    assert CACHE.read("a.native") is None


def test_the_target_of_a_link_above_is_checked(place, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(place.parent)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "link"))
    assert CACHE.read("a.native") == b"code"
    place.parent.chmod(0o777)
    assert CACHE.read("a.native") is None


def test_the_problem_is_explained(place, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    problem = CACHE.keep("a.native", b"code")
    assert problem.startswith(str(tmp_path / "file"))
    assert "set NUMBA_CACHE_DIR" in problem


def test_the_checksum_finds_damaged_and_renamed_files(place):
    (place / "a.native").rename(place / "b.native")
    assert CACHE.read("b.native") is None
    CACHE.keep("a.native", b"code")
    content = (place / "a.native").read_bytes()
    (place / "a.native").write_bytes(content[:-1] + b"x")
    assert CACHE.read("a.native") is None
