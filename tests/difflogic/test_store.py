"""Compiled code on disk: kept whole, and used only where nobody else can write."""

import logging
import os
from pathlib import Path

import pytest

from difflogic import store
from difflogic.store import Store, cache_directory

posix = pytest.mark.skipif(os.name != "posix", reason="no such permissions")


@pytest.fixture(autouse=True)
def said(caplog):
    caplog.set_level(logging.WARNING)
    return caplog


def test_what_is_kept_is_read(tmp_path):
    kept = Store(tmp_path / "a" / "b")
    assert kept.read("x") is None
    kept.keep("x", b"machine code")
    assert kept.read("x") == b"machine code"
    kept.keep("x", b"other")
    assert Store(tmp_path / "a" / "b").read("x") == b"other"
    assert kept.read("y") is None


def test_a_file_under_another_name_is_not_that_file(tmp_path, said):
    kept = Store(tmp_path)
    kept.keep("x", b"machine code")
    (tmp_path / "x").rename(tmp_path / "y")
    assert kept.read("y") is None
    assert "damaged" in said.text


@posix
@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_can_write_is_not_used(tmp_path, mode, said):
    kept = Store(tmp_path)
    kept.keep("x", b"machine code")
    (tmp_path / "x").chmod(mode)
    assert kept.read("x") is None
    assert "others may write" in said.text
    kept.keep("x", b"again")
    assert kept.read("x") == b"again"


@posix
def test_a_directory_open_to_all_is_not_used(tmp_path, said):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    kept = Store(tmp_path / "open")
    kept.keep("x", b"machine code")
    assert kept.read("x") is None
    assert not list((tmp_path / "open").iterdir())
    assert said.text.count("NUMBA_CACHE_DIR") == 1


@posix
def test_another_users_files_are_not_used(tmp_path, monkeypatch, said):
    Store(tmp_path).keep("x", b"machine code")
    monkeypatch.setattr(store.os, "geteuid", lambda: os.getuid() + 1)
    if os.getuid() == 0:  # whose files everybody trusts
        os.chown(tmp_path, 12345, -1)
    assert Store(tmp_path).read("x") is None
    assert "another user" in said.text


@posix
def test_a_place_that_is_no_directory_is_said_once(tmp_path, said):
    (tmp_path / "file").write_text("")
    kept = Store(tmp_path / "file" / "cache")
    for name in ("x", "y"):
        kept.keep(name, b"machine code")
        assert kept.read(name) is None
    assert len(said.records) == 1


def test_what_is_no_plain_file_is_not_waited_for(tmp_path, said):
    (tmp_path / "x").mkdir()
    assert Store(tmp_path).read("x") is None
    assert len(said.records) == 1


def test_nowhere(said):
    kept = Store(None)
    kept.keep("x", b"machine code")
    assert kept.read("x") is None
    assert "HOME" in said.text


def test_the_place_follows_the_environment(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/chosen")
    assert cache_directory("kernels") == Path("/chosen/dct-kernels")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_directory("kernels") == Path("/caches/dct/kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_directory("kernels") == Path("/home/somebody/.cache/dct/kernels")

    def homeless():
        raise RuntimeError("no home")

    monkeypatch.setattr(store.Path, "home", homeless)
    assert cache_directory("kernels") is None
