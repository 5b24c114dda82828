"""How workers wait for each other, which piece of work they take, and what a kernel is made of."""

import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from difflogic.engine.kernels import teams
from difflogic.engine.kernels.llvm.processor import X86
from difflogic.engine.kernels.pipeline import APART, BEGUN, DONE, take_group, take_ready
from difflogic.engine.kernels.primitives import flush_denormals, restore_denormals
from difflogic.engine.kernels.probes import fma_peak
from difflogic.engine.kernels.structures import chains_of
from difflogic.engine.kernels.training import reduce_sums
from difflogic.engine.layout import Grid, make_layout
from difflogic.system.arrays import aligned
from difflogic.system.jit import JIT
from difflogic.system.jit.processor import registers


def new_cursor():
    return np.zeros(teams.CURSOR_FIELDS, np.int64)


def run_threads(count, task):
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(task, worker) for worker in range(count)]:
            done.result(timeout=60)


class TestBarrier:
    @pytest.mark.parametrize("workers", [1, 2, 5])
    def test_nobody_passes_alone(self, workers):
        control = aligned((64,), np.int64)
        arrived, failures = [0] * workers, []

        def task(worker):
            cursor = new_cursor()
            for turn in range(1, 21):
                arrived[worker] = turn
                teams.barrier(control, 0, workers, cursor)
                if min(arrived) < turn:
                    failures.append(worker)
                teams.barrier(control, 0, workers, cursor)

        run_threads(workers, task)
        assert not failures
        assert control[teams.ARRIVED] == 0

    def test_counts_the_wait_of_the_first_worker(self):
        control = aligned((64,), np.int64)
        passed, cursors = [], [new_cursor(), new_cursor()]

        def task(worker):
            early = []
            if worker == 0:
                while control[teams.ARRIVED] == 0:
                    time.sleep(0)
                time.sleep(0.05)
                early = passed[:]
            teams.barrier(control, 0, 2, cursors[worker])
            passed.append(worker)
            assert not early

        run_threads(2, task)
        assert sorted(passed) == [0, 1]
        assert [cursor[teams.WAITS] for cursor in cursors] == [0, 1]
        assert cursors[0][teams.WAITED] == 0
        assert cursors[1][teams.WAITED] >= 0


class TestGroups:
    @pytest.mark.parametrize(("tasks", "workers"), [(0, 2), (1, 3), (7, 2), (40, 3), (5, 8)])
    def test_each_is_taken_once(self, tasks, workers):
        control = aligned((teams.TICKETS + 2 * workers,), np.int64)
        taken = [[], []]

        def task(worker):
            cursor = new_cursor()
            for way in (0, 1):
                while (found := take_group(control, way, tasks, worker, workers, cursor)) >= 0:
                    taken[way].append(found)

        run_threads(workers, task)
        assert [sorted(t) for t in taken] == [list(range(tasks))] * 2

    def test_a_worker_takes_its_own_share_first_and_the_rest_counts_as_stolen(self):
        control = aligned((teams.TICKETS + 3,), np.int64)
        order, cursor = [], new_cursor()
        while (found := take_group(control, 0, 9, 1, 3, cursor)) >= 0:
            order.append(found)
        assert order == [3, 4, 5, 6, 7, 8, 0, 1, 2]
        assert (cursor[teams.TASKS], cursor[teams.STEALS]) == (9, 6)


STEPS = 3
LAYOUT = make_layout(Grid(8, 16, "zero"), 16, 1)
"""Eight chunks, rows of cells; each sees the previous and the next one."""
CHUNKS = len(LAYOUT.chunk_start) - 1


class Control:
    """The progress of the chunks of some groups."""

    def __init__(self, groups=1):
        self.places = aligned((APART * CHUNKS * groups,), np.int64)
        self.pieces = CHUNKS * groups

    def take(self, first=0, end=None):
        end = self.pieces if end is None else end
        return take_ready(self.places, 0, LAYOUT, first, end, STEPS)

    def done(self, *pieces):
        for piece in pieces:
            self.places[APART * piece + DONE] += 1


class TestChunks:
    def test_wait_for_the_chunks_they_see_and_no_others(self):
        control = Control()
        assert [control.take() for _ in range(CHUNKS)] == list(range(CHUNKS))
        assert control.take() == -1
        control.done(0, 1)
        # Chunk 1 sees chunk 2, which has not done its first step.
        assert control.take() == 0
        assert control.take() == -1
        control.done(2)
        assert control.take() == 1
        control.done(0, 1)
        # Chunk 0 sees only itself and chunk 1, both at step 2; chunk 1 sees chunk 2, at step 1.
        assert control.take() == 0
        assert control.take() == -1
        assert control.places[BEGUN::APART].tolist()[:3] == [3, 2, 1]

    def test_the_least_advanced_comes_first_and_the_end_is_reported(self):
        control = Control(groups=2)
        # The second group is behind, so it comes first.
        for piece in range(CHUNKS):
            control.places[APART * piece + BEGUN] = control.places[APART * piece + DONE] = 1
        assert control.take() == CHUNKS
        assert control.take(0, CHUNKS) == 0
        control.places[BEGUN::APART] = STEPS
        assert control.take() == -2

    @pytest.mark.parametrize("groups", [1, 2])
    def test_each_step_is_taken_once_in_whatever_order_they_end(self, groups):
        control, rng = Control(groups), np.random.default_rng(groups)
        at_work, taken = [], []
        while (found := control.take()) != -2 or at_work:
            if found >= 0:
                at_work.append(found)
                taken.append(found)
            if at_work and (found < 0 or rng.random() < 0.5):
                control.done(at_work.pop(rng.integers(len(at_work))))
        assert sorted(taken) == sorted(STEPS * list(range(control.pieces)))


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
    # After r rounds of c -> c·x + x with x = 0.5, from c = 0.5 + chain.
    chains = 0.5 + np.arange(chains_of(registers()))
    for rounds in range(4):
        assert fma_peak(rounds, np.float32(0.5)) == pytest.approx(chains.sum())
        chains = chains * 0.5 + 0.5
