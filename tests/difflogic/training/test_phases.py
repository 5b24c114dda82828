import time

import pytest

from difflogic.training.phases import PHASES, PhaseTimer


def test_time_is_added_up_by_phase():
    timer = PhaseTimer()
    assert timer.seconds == dict.fromkeys(PHASES, 0.0)
    for _ in range(2):
        with timer("forward"):
            time.sleep(0.01)
    with timer("loss"):
        pass
    assert timer.seconds["forward"] >= 0.02
    assert timer.seconds["loss"] < timer.seconds["forward"]
    assert timer.seconds["backward"] == 0.0
    assert timer.compile_seconds == 0.0


def test_a_block_that_fails_is_timed_too():
    timer = PhaseTimer()

    def fail():
        with timer("hard"):
            time.sleep(0.01)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert timer.seconds["hard"] >= 0.01
