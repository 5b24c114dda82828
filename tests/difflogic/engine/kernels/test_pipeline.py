"""Which piece of work workers take, and what a kernel is made of."""

import numba
import numpy as np
import pytest

from difflogic.circuit.grid import Grid
from difflogic.engine.kernels import teams
from difflogic.engine.kernels.llvm.instructions import X86
from difflogic.engine.kernels.pipeline import APART, BEGUN, DONE, take_group, take_ready
from difflogic.engine.kernels.primitives import flush_denormals, restore_denormals
from difflogic.engine.kernels.probes import fma_peak
from difflogic.engine.kernels.structures import chains_of
from difflogic.engine.soft.layout import make_layout
from difflogic.system.arrays import aligned
from difflogic.system.jit.processor import registers
from tests.marks import compiled


def test_a_worker_takes_its_own_share_first():
    control = aligned((teams.TICKETS + 2 * 3,), np.int64)
    for backward in (0, 1):
        order = []
        while (found := take_group(control, backward, 9, 1, 3)) >= 0:
            order.append(found)
        assert order == [3, 4, 5, 6, 7, 8, 0, 1, 2]


def test_the_least_advanced_comes_first_and_the_end_is_reported():
    layout = make_layout(Grid(8, 16, "zero"), waits_for_all=True)
    chunks = len(layout.chunk_start) - 1
    places = aligned((2 * chunks * APART,), np.int64)

    def take(end):
        return take_ready(places, 0, layout, 0, end, 3)

    # The second group is behind, so it comes first.
    for field in (BEGUN, DONE):
        places[field : chunks * APART : APART] = 1
    assert take(2 * chunks) == chunks
    assert take(chunks) == 0
    places[BEGUN::APART] = 3
    assert take(2 * chunks) == -2


@compiled
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

    tiny = np.float32(1e-38)
    half = np.float32(0.25)
    assert product(tiny, half) > 0
    assert (flushed(tiny, half) == 0) == X86
    assert product(tiny, half) > 0


def test_peak_runs_chains():
    # After r rounds of c -> c·x + x with x = 0.5, from c = 0.5 + chain.
    chains = 0.5 + np.arange(chains_of(registers()))
    for rounds in range(4):
        assert fma_peak(rounds, np.float32(0.5)) == pytest.approx(chains.sum())
        chains = chains * 0.5 + 0.5
