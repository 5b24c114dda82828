"""Trainers that share batches like ranks, here as threads that hand over bytes: equal bits."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.model import Model
from difflogic.ranks import ALONE, Ranks
from difflogic.training.following import follow, gather
from difflogic.training.share import Share
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import growing, tiny

SECONDS = 120
"""After which a rank that waits for another has found an error."""


class ThreadRanks(Ranks):
    """One of several threads that meet at a barrier, in the place of processes."""

    def __init__(self, rank, size, common):
        self.rank, self.size, self.here, self._common = rank, size, size, common

    def share(self, array, root=0):
        common = self._common
        if self.rank == root:
            common.data = array.tobytes()
        common.barrier.wait(SECONDS)
        flat = np.frombuffer(common.data, np.uint8)
        array.reshape(-1).view(np.uint8)[:] = flat
        common.barrier.wait(SECONDS)

    def tell(self, message):
        self._common.text = json.dumps(message)
        self._common.barrier.wait(SECONDS)

    def hear(self):
        self._common.barrier.wait(SECONDS)
        return json.loads(self._common.text)

    def add_in_turn(self, sums, add):
        for turn in range(self.size):
            if turn == self.rank:
                add()
            self.share(sums, turn)

    def _announce(self, go_on):
        found = np.array([go_on])
        self.share(found)
        return bool(found[0])

    @contextmanager
    def step(self):
        self._announce(True)
        yield

    def steps_on(self):
        return self._announce(False)

    def leave(self):
        self._announce(False)


def group(size):
    common = SimpleNamespace(barrier=threading.Barrier(size))
    return [ThreadRanks(rank, size, common) for rank in range(size)]


def lead(config, ranks, epochs):
    """Train as rank 0; return the state, and the losses of all epochs."""
    with Trainer(config, ranks=ranks) as trainer:
        gather(trainer, ranks)
        losses = []
        for _ in range(epochs):
            with ranks.step():
                losses.append(trainer.step().soft_loss)
        if ranks is not ALONE:
            ranks.leave()
        return {name: array.tobytes() for name, array in trainer.state().items()}, losses


def shared(config, size, epochs):
    first, *others = group(size)
    with ThreadPoolExecutor(size) as threads:
        following = [threads.submit(follow, ranks) for ranks in others]
        leading = threads.submit(lead, config, first, epochs)
        for each in following:
            each.result()
        return leading.result()


@pytest.mark.parametrize("strategy", ["samples", "cells", "steps", "gates"])
def test_ranks_and_workers_give_the_bits_of_one(strategy):
    batch = "training.batch=5"
    expected = lead(tiny(batch, "parallel.workers=1"), ALONE, 3)
    for size, workers in ((2, 1), (3, 2)):
        config = tiny(batch, f"parallel.workers={workers}", f"parallel.strategy={strategy}")
        assert shared(config, size, 3) == expected, (size, workers)


@pytest.mark.parametrize(
    "overrides",
    [
        # Several waves for each rank, whose slots wait for those of the ranks before.
        ["training.batch=8", "parallel.max_parallel_samples=1"],
        ["training.batch=2", "automaton.fire_rate=0.6"],
        ["training.batch=3", "training.later_steps=3"],
    ],
)
def test_waves_masks_and_idle_ranks_change_no_bit(overrides):
    config = tiny(*overrides, "parallel.workers=1")
    assert shared(config, 3, 3) == lead(config, ALONE, 3)


def test_what_rank_0_finds_by_searching_all_go_on_from():
    config = growing("finishing.every=2", "finishing.adopt=true", "finishing.candidates=300")
    assert shared(config, 2, 5) == lead(config, ALONE, 5)


@given(
    batch=st.integers(1, 40), size=st.integers(1, 9), side=st.sampled_from([3, 4, 6, 16])
)  # fmt: skip
def test_every_sample_is_done_once_in_whole_groups(batch, size, side):
    config = load_config(
        "checkerboard-small",
        [f"training.batch={batch}", f"task.height={side}", f"task.width={side}"],
        recipe="reference",
    )
    netlist = NETLIST
    done = 0
    for ranks in group(size):
        share = Share.of(config, netlist, ranks)
        assert share.samples.start == done
        done = share.samples.stop
        assert share.samples.stop - share.samples.start <= share.plan.batch
        assert done == batch or done % share.plan.samples_per_group == 0
    assert done == batch


NETLIST = Model.create(load_config("checkerboard-small")).netlist


def test_another_version_is_refused(monkeypatch):
    from difflogic.errors import ConfigError
    from difflogic.training import following

    ranks = Ranks()
    ranks.hear = lambda: {"versions": {"dct": "0"}, "config": {}}
    with pytest.raises(ConfigError, match="the same versions"):
        following.follow(ranks)
