"""Whether further machines pay: the arithmetic, by hand."""

import pytest

from difflogic.engine.hardware import Machine
from difflogic.scale.speed.costs import StepCosts
from difflogic.scale.speed.network import BANDWIDTH, network
from tests.difflogic.training.tiny import tiny

COSTS = StepCosts({"sample": 0.001}, forward=1e-6, backward=3e-6, barrier=0.0, wake=0.0)
LANES = 42 * 3
"""Cells of a sample, times steps."""


@pytest.fixture
def machine():
    return Machine.parse("cores=1,memory=1GB")


def test_two_machines_halve_what_can_be_shared(machine):
    found = network(tiny("training.batch=4"), COSTS, 2, machine)
    rollout = 4e-6 * LANES
    assert found.alone == pytest.approx(0.001 + 4 * rollout, rel=0.2)  # lanes are filled up
    assert found.saved == pytest.approx((found.alone - 0.001) / 2)
    # Announced, handed over, and spread.
    assert (found.messages, found.large) == (3, 2)
    assert found.bytes_each == 4 * 4 * 42 + 8 * 4
    assert found.transfer == 2 * found.bytes_each / BANDWIDTH
    assert found.latency == (found.saved - found.transfer) / 3
    assert found.as_dict()["latency"] == found.latency


@pytest.mark.parametrize(("ranks", "messages", "large"), [(3, 6, 4), (4, 7, 5), (8, 13, 10)])
def test_messages_grow_with_the_machines(machine, ranks, messages, large):
    found = network(tiny("training.batch=8"), COSTS, ranks, machine)
    assert (found.messages, found.large) == (messages, large)


def test_the_pool_goes_round_once_more(machine):
    found = network(tiny("training.batch=8", "pool.batch=33"), COSTS, 2, machine)
    assert (found.messages, found.large) == (1 + 3 * 2, 3 * 2)


def test_one_sample_is_not_shared(machine):
    found = network(tiny("training.batch=1"), COSTS, 2, machine)
    assert found.saved == 0
    assert found.latency is None
