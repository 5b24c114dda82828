"""Ranks as threads exchange the right bytes, and never wait for a rank that failed."""

import numpy as np
import pytest

from difflogic.system.ranks import ALONE
from difflogic.system.ranks.protocol import END, LinkedRanks
from tests.difflogic.system.ranks.threads import in_threads


def follow(ranks, received):
    """The part of the other ranks in the test below."""
    message = ranks.receive()
    array = np.zeros(3, np.int16)
    ranks.broadcast(array)
    sums = np.zeros(2, np.float64)

    def add():
        sums[0] = 2 * sums[0] + ranks.rank
        sums[1] += message["add"]

    ranks.add_in_turn(sums.view(np.uint8), add)
    received.append((array.tolist(), sums.tolist()))
    while ranks.has_next_step():
        pass
    assert ranks.receive() is None


def test_messages_arrive_in_order():
    size = 3
    received = []
    with in_threads(size, lambda ranks: follow(ranks, received)) as ranks:
        assert (ranks.rank, ranks.size, ranks.leads) == (0, size, True)
        ranks.send({"add": 1.5, "text": "ü" * 1000})
        array = np.arange(3, dtype=np.int16)
        ranks.broadcast(array)
        sums = np.full(2, 1.0)
        ranks.add_in_turn(sums.view(np.uint8), lambda: None)
        expected = 1.0
        for rank in range(1, size):
            expected = 2 * expected + rank
        assert sums.tolist() == [expected, 1 + 1.5 * (size - 1)]
        for _ in range(2):
            with ranks.step():
                pass
        ranks.finish()
    assert received == [([0, 1, 2], sums.tolist())] * (size - 1)


def test_a_single_rank_needs_no_messages():
    sums = np.zeros(1)
    ALONE.add_in_turn(sums.view(np.uint8), lambda: sums.fill(3.0))
    assert sums[0] == 3.0
    assert ALONE.receive() is None
    assert ALONE.part(5) == slice(0, 5)


def test_an_error_of_another_rank_is_raised_and_ends_all():
    def fail(ranks):
        if ranks.rank == 2:
            raise ZeroDivisionError("so it is")
        ranks.add_in_turn(np.zeros(1, np.uint8), lambda: None)

    with pytest.raises(ZeroDivisionError, match="so it is"), in_threads(4, fail) as ranks:
        ranks.add_in_turn(np.zeros(1, np.uint8), lambda: None)


def test_an_error_of_rank_0_ends_all():
    with pytest.raises(KeyError, match="mine"), in_threads(3, lambda ranks: ranks.receive()):
        raise KeyError("mine")


def test_a_message_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(LinkedRanks, "_announce", lambda ranks, what=END: 1 << 25)
    with pytest.raises(RuntimeError, match="announced"):
        LinkedRanks().receive()
