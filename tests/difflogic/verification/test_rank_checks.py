"""The comparison of ranks passes, and finds errors that make bits depend on ranks."""

import pytest

from difflogic.experiment.following import follow_all
from difflogic.system.ranks import Ranks
from difflogic.system.ranks.protocol import LinkedRanks
from difflogic.system.strategy import STRATEGIES
from difflogic.training.rank_plan import OrderedSum
from difflogic.verification import rank_checks as comparison
from difflogic.verification import ranks_change_nothing
from tests.difflogic.system.ranks.threads import in_threads
from tests.difflogic.training.tiny import growing, tiny

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Fewer workers than the command uses, since many wait long on a busy machine."""
    monkeypatch.setattr(comparison, "WORKERS", (1, 2))


@pytest.fixture
def alone(monkeypatch):
    """One worker and one strategy, since errors of ranks show in any."""
    monkeypatch.setattr(comparison, "WORKERS", (1,))
    monkeypatch.setattr(comparison, "STRATEGIES", ("samples",))


def compared(config, size):
    with in_threads(size, follow_all) as ranks:
        return list(ranks_change_nothing(config, ranks))


def test_every_way_gives_the_bits_of_one_process():
    found = compared(tiny(), 3)
    assert [finding.difference for finding in found] == [0.0] * (len(STRATEGIES) + 2)
    assert {finding.what for finding in found} == {"training by 3 ranks, 1, 2 workers each"}
    assert len({finding.where for finding in found}) == len(found)


@pytest.mark.usefixtures("alone")
def test_a_configuration_with_a_pool_and_restarts_is_compared(monkeypatch):
    monkeypatch.setattr(comparison, "RANK_EPOCHS", 2)
    config = growing("task.hold=true", "pool.batch=2", "training.restart_every=40")
    assert all(finding.passed for finding in compared(config, 2))


def in_the_order_of_arrival(ranks, sums, add):
    """Pretend that the last rank is done first."""
    if ranks.rank < ranks.size - 1:
        ranks.receive_bytes(sums, ranks.rank + 1)
    add()
    if ranks.rank:
        ranks.send_bytes(sums, ranks.rank - 1)
    ranks.broadcast_bytes(sums, 0)


def without_the_last(ranks, count, group=1):
    found = PART(ranks, count, group)
    return slice(found.start, max(found.start, min(found.stop, count - 1)))


def only_the_last_wave(turn, also):
    if turn._last is not None:
        turn._last.reduce(turn._total)
    also()


def kept_to_itself(ranks, sums, add):
    """Give only rank 0 the sums of all."""
    IN_TURN(ranks, sums, add)
    if not ranks.leads:
        sums[:] = 0


PART = Ranks.part
IN_TURN = LinkedRanks.add_in_turn

MUTATIONS = {
    "slots added in the order of arrival": (LinkedRanks, "add_in_turn", in_the_order_of_arrival),
    "a sample dropped at an uneven split": (Ranks, "part", without_the_last),
    "waves but the last forgotten": (OrderedSum, "_add", only_the_last_wave),
    "sums that one rank keeps to itself": (LinkedRanks, "add_in_turn", kept_to_itself),
}


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutant_is_caught(name, monkeypatch):
    owner, attribute, mutant = MUTATIONS[name]
    monkeypatch.setattr(owner, attribute, mutant)
    assert not all(finding.passed for finding in compared(tiny(), 2))
