import pytest

from difflogic.system.pauses import Pause, listening, pause


def test_nobody_needs_to_listen():
    pause("rollout", 1, 2)


def test_listeners_hear_what_comes_while_they_listen():
    heard, inner = [], []
    with listening(heard.append):
        pause("rollout", 1, 3)
        with listening(inner.append):
            pause("gradient", 1, 3)
        pause("rollout", 2, 3)
    pause("rollout", 3, 3)
    assert heard == [Pause("rollout", 1, 3), Pause("rollout", 2, 3)]
    assert inner == [Pause("gradient", 1, 3)]


def test_a_listener_can_stop_what_it_hears_of():
    def stop(found):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(stop):
        pause("rollout", 1, 3)
