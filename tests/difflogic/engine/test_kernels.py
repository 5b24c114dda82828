"""What the kernels are built from: barrier, tickets, reduction."""

import threading
import time

import numba
import numpy as np
import pytest

from difflogic.engine.kernels.llvm.processor import X86
from difflogic.engine.kernels.pipeline import take_group
from difflogic.engine.kernels.primitives import flush_denormals, restore_denormals
from difflogic.engine.kernels.probes import fma_peak
from difflogic.engine.kernels.structures import chains_of
from difflogic.engine.kernels.teams import (
    ARRIVED,
    CURSOR_FIELDS,
    STEALS,
    TASKS,
    TICKETS,
    WAITED,
    WAITS,
    meet,
)
from difflogic.engine.kernels.training import reduce_sums
from difflogic.system.arrays import aligned
from difflogic.system.jit import JIT
from difflogic.system.jit.processor import registers


def new_cursor():
    return np.zeros(CURSOR_FIELDS, np.int64)


def run_threads(count, task):
    threads = [threading.Thread(target=task, args=(worker,)) for worker in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_nobody_passes_the_barrier_alone(workers):
    control = aligned((64,), np.int64)
    arrived = [0] * workers
    rounds = 20

    def task(worker):
        cursor = new_cursor()
        for turn in range(rounds):
            arrived[worker] = turn + 1
            meet(control, 0, workers, cursor)
            assert min(arrived) >= turn + 1
            meet(control, 0, workers, cursor)

    failures = []

    def guarded(worker):
        try:
            task(worker)
        except AssertionError:
            failures.append(worker)

    run_threads(workers, guarded)
    assert not failures
    assert control[ARRIVED] == 0


def test_the_barrier_waits():
    control = aligned((64,), np.int64)
    passed, cursors = [], [new_cursor(), new_cursor()]

    def task(worker):
        if worker == 0:
            while control[ARRIVED] == 0:
                time.sleep(0)
            time.sleep(0.05)
            assert not passed
        meet(control, 0, 2, cursors[worker])
        passed.append(worker)

    run_threads(2, task)
    assert sorted(passed) == [0, 1]
    # Who comes last has waited for nobody.
    assert [cursor[WAITS] for cursor in cursors] == [0, 1]
    assert cursors[0][WAITED] == 0
    assert cursors[1][WAITED] >= 0


@pytest.mark.parametrize(("tasks", "workers"), [(0, 2), (1, 3), (7, 2), (40, 3), (5, 8)])
def test_every_task_is_taken_once(tasks, workers):
    control = aligned((TICKETS + 2 * workers,), np.int64)
    taken = [[], []]

    def task(worker):
        cursor = new_cursor()
        for way in (0, 1):
            while (found := take_group(control, way, tasks, worker, workers, cursor)) >= 0:
                taken[way].append(found)

    run_threads(workers, task)
    assert [sorted(t) for t in taken] == [list(range(tasks))] * 2


def test_a_worker_alone_takes_its_own_share_first_and_the_rest_counts_as_stolen():
    control = aligned((TICKETS + 3,), np.int64)
    order, cursor = [], new_cursor()
    while (found := take_group(control, 0, 9, 1, 3, cursor)) >= 0:
        order.append(found)
    assert order == [3, 4, 5, 6, 7, 8, 0, 1, 2]
    assert (cursor[TASKS], cursor[STEALS]) == (9, 6)


def test_slots_are_added_in_order():
    # 1e8 and 1 in float32: the order of addition shows in the result.
    sums = np.zeros((2, 2, 4), np.float32)
    sums[0, 0], sums[0, 1], sums[1, 0], sums[1, 1] = 1e8, 1, -1e8, 1
    total = np.zeros(4, np.float32)
    reduce_sums(sums, total)
    np.testing.assert_array_equal(total, np.ones(4, np.float32))


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_denormals_are_flushed_between_flush_and_restore():
    @numba.njit
    def product(x, y):
        return x * y

    @numba.njit
    def flushed(x, y):
        mode = flush_denormals()
        found = x * y
        restore_denormals(mode)
        return found

    tiny, half = np.float32(1e-38), np.float32(0.25)
    assert product(tiny, half) > 0
    assert (flushed(tiny, half) == 0) == X86
    assert product(tiny, half) > 0


def test_peak_runs_chains():
    if not JIT:
        assert fma_peak(3, 0.5) == 0.9375  # one chain stands for all
        return
    # After r rounds of c -> c·x + x with x = 0.5, from c = 0.5 + chain.
    chains = 0.5 + np.arange(chains_of(registers()))
    for rounds in range(4):
        assert fma_peak(rounds, np.float32(0.5)) == pytest.approx(chains.sum())
        chains = chains * 0.5 + 0.5
