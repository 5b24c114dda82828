"""Programs end with their caller."""

import signal
import sys

import pytest

from difflogic.system.programs import supervise
from difflogic.system.work import HALF_DONE, Stopped, checking, working

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
KILLED = -signal.SIGKILL


def test_a_stop_kills_the_program():
    calls = []

    def asked():
        calls.append(HALF_DONE[-1].args[0])
        return len(calls) == 3

    with working(asked=asked), pytest.raises(Stopped):
        supervise(SLEEP)
    assert len(calls) == 3
    assert calls[0].returncode == KILLED


def test_an_abrupt_end_kills_the_program_once():
    with checking(lambda: HALF_DONE[-1]()):
        assert supervise(SLEEP) == KILLED
    assert HALF_DONE == []


def test_the_status_is_returned():
    assert supervise([sys.executable, "-c", "raise SystemExit(7)"]) == 7
