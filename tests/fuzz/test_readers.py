"""No damaged file makes a reader fail otherwise than by an error that says what is wrong.

A short run of what `python -m tests.fuzz.fuzz_readers` does for as long as one likes.
"""

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import readers


@pytest.fixture(scope="module", params=readers.KINDS)
def kind(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, readers.seeds(request.param, folder), folder


def test_right_files_are_accepted(kind):
    name, files, folder = kind
    assert all(readers.check(name, content, folder) for content in files)


@settings(max_examples=250, suppress_health_check=[HealthCheck.differing_executors])
@given(random=st.randoms(use_true_random=False), times=st.integers(1, 3), data=st.data())
def test_damaged_files_are_refused_or_are_automata(kind, random, times, data):
    name, files, folder = kind
    content = data.draw(st.sampled_from(files))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, of names that are there twice
        for _ in range(times):
            content = readers.damage(name, content, random)
    readers.check(name, content, folder)
