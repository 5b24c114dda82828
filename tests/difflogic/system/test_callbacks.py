"""Progress and cancelling of long computations."""

import pytest

from difflogic.system.callbacks import Pause, listening, pause


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
