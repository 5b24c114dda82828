"""Ctrl-C as a request."""

from __future__ import annotations

import os
import signal
import threading

from cli.interrupt import Interruption


def test_ctrl_c_is_noted_and_interrupts_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.requested
        assert interruption.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_a_request_to_terminate_is_one_too() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.requested
        assert interruption.exit_code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_outside_the_main_thread_it_does_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    outcome: list[bool] = []

    def enter() -> None:
        with Interruption() as interruption:
            outcome.append(interruption.requested)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert outcome == [False]
    assert signal.getsignal(signal.SIGINT) is before
