"""No damaged file makes a reader fail otherwise than by an error that says what is wrong.

A short run of what `python -m tests.fuzz.fuzz_readers` does for as long as one likes.
"""

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import readers


@dataclass
class Kind:
    """A kind of file: right ones, and a folder to write others to."""

    name: str
    files: list[bytes] = field(repr=False)
    folder: Path = field(repr=False)


@pytest.fixture(scope="module", params=readers.KINDS)
def kind(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return Kind(request.param, readers.seeds(request.param, folder), folder)


def test_right_files_are_accepted(kind):
    assert all(readers.check(kind.name, content, kind.folder) for content in kind.files)


@pytest.mark.thorough
@settings(max_examples=500, suppress_health_check=[HealthCheck.differing_executors])
@given(seed=st.integers(0, 2**64))
def test_damaged_files_are_refused_or_are_automata(kind, seed):
    random = Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, of names that are there twice
        content = readers.damage(kind.name, random.choice(kind.files), random)
        readers.check(kind.name, content, kind.folder)
