"""Progress and cancelling of long computations."""

import pytest

from difflogic.system import cancelling as module
from difflogic.system.callbacks import Pause, listening, may_cancel, pause
from difflogic.system.cancelling import cancelling


def test_a_pause_needs_no_listener():
    pause("rollout", 1, 2)


def test_the_innermost_listener_hears_a_pause():
    heard, inner = [], []
    with listening(heard.append):
        pause("rollout", 1, 3)
        with listening(inner.append):
            pause("gradient", 1, 3)
        pause("rollout", 2, 3)
    pause("rollout", 3, 3)
    assert heard == [Pause("rollout", 1, 3), Pause("rollout", 2, 3)]
    assert inner == [Pause("gradient", 1, 3)]


def test_a_listener_can_cancel():
    def stop(found):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(stop):
        pause("rollout", 1, 3)


def test_a_request_cancels_once_its_grace_is_over(monkeypatch):
    now, stop = [0.0], [False]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with cancelling(lambda: stop[0], grace=2.0):
        may_cancel()
        stop[0], now[0] = True, module.ASK_SECONDS
        may_cancel()
        now[0] += 1.9
        may_cancel()
        now[0] += 0.2
        with pytest.raises(KeyboardInterrupt):
            may_cancel()
