"""Versions and the processor."""

from __future__ import annotations

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
