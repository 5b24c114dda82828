"""Versions and the processor."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from difflogic import machine


def test_versions_name_all_that_computes() -> None:
    versions = machine.versions()
    assert set(versions) == {"python", "numpy", "numba", "joblib", "dct"}
    assert versions["python"] == platform.python_version()
    assert all(versions.values())


def test_the_processor_has_a_name_and_a_count() -> None:
    assert machine.cpu_name()
    assert machine.cpu_count() >= 1


def test_the_processor_has_a_name_where_the_system_tells_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(path: Path, **options: object) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", missing)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert machine.cpu_name() == "arm64"


def test_processors_that_this_process_may_use(monkeypatch):
    assert 1 <= machine.cpu_count() <= os.cpu_count()
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    assert machine.cpu_count() == os.cpu_count()
    monkeypatch.setattr(machine.os, "cpu_count", lambda: None)
    assert machine.cpu_count() == 1


def test_physical_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = machine.physical_memory()
    assert memory is not None
    assert memory > 2**20
    monkeypatch.delattr(os, "sysconf")
    assert machine.physical_memory() is None
