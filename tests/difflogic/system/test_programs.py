"""Programs end with their caller."""

import os
import signal
import sys

import pytest

from difflogic.system.callbacks import HALF_DONE
from difflogic.system.programs import attend

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
KILLED = -signal.SIGKILL if os.name == "posix" else 1


def test_a_pause_that_raises_kills_the_program():
    calls = []

    def stop():
        calls.append(HALF_DONE[-1].args[0])
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attend(SLEEP, stop)
    assert len(calls) == 3
    assert calls[0].returncode == KILLED


def test_an_abrupt_end_kills_the_program_once():
    assert attend(SLEEP, lambda: HALF_DONE[-1]()) == KILLED
    assert HALF_DONE == []


def test_the_status_is_returned():
    assert attend([sys.executable, "-c", "raise SystemExit(7)"], lambda: None) == 7
