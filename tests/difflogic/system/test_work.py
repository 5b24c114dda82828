"""Progress and stops of long computations."""

import signal

import pytest

from difflogic.system import stops as module
from difflogic.system.deadline import never_stop
from difflogic.system.stops import deferring_interrupts, delayed
from difflogic.system.work import Heartbeat, Stopped, heartbeat, may_cancel, stopped, working


def test_the_innermost_listener_hears_a_heartbeat():
    heard = []
    inner = []
    with working(hear=heard.append):
        heartbeat("rollout", 1, 3)
        with working(hear=inner.append):
            heartbeat("gradient", 1, 3)
        heartbeat("rollout", 2, 3)
    heartbeat("rollout", 3, 3)
    assert heard == [Heartbeat("rollout", 1, 3), Heartbeat("rollout", 2, 3)]
    assert inner == [Heartbeat("gradient", 1, 3)]


def test_work_stops_if_it_is_asked_to():
    heard = []
    with working(asked=lambda: len(heard) == 2, hear=heard.append):
        heartbeat("rollout", 1, 3)
        with pytest.raises(Stopped):
            heartbeat("rollout", 2, 3)
        with working(asked=never_stop):
            may_cancel()


def test_a_stop_comes_once_its_grace_is_over(monkeypatch):
    now = [0.0]
    asked = []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with working(asked=delayed(lambda: asked.append(now[0]) or now[0] > 2, 2.0)):
        for now[0] in (0.0, 1.5, 2.5, 4.4):
            may_cancel()
        now[0] += 0.2
        with pytest.raises(Stopped):
            may_cancel()
    assert asked == [0.0, 1.5, 2.5]


def test_ctrl_c_becomes_a_stop_and_then_an_interrupt_again():
    def work():
        with deferring_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert stopped()
            with pytest.raises(Stopped):
                may_cancel()

    with pytest.raises(KeyboardInterrupt) as raised:
        work()
    assert raised.type is KeyboardInterrupt
    assert not stopped()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
