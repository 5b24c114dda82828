"""Ranks that MPI connects, on one machine or several.

mpi4py is imported only in a process that an MPI launcher started.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from difflogic.system.errors import ConfigError
from difflogic.system.ranks.protocol import ALONE, Bytes, LinkedRanks, Ranks
from difflogic.system.stops import handled_signals
from difflogic.system.work import ignore

SIZE_VARIABLES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
"""Variables in which launchers pass the number of processes."""

MPI_IS_MISSING = (
    "several ranks need mpi4py, which is an extra: pip install '.[mpi]' in dct's directory, "
    "into the environment that dct runs in"
)

EAGER = 0.002
SLEEP = 0.0005
"""Seconds: a rank polls at full speed for the first, then sleeps for the second between polls."""


class MpiRanks(LinkedRanks):
    """Ranks that an MPI launcher has started."""

    def __init__(self, mpi: Any) -> None:
        """`mpi` is the module mpi4py.MPI."""
        self._mpi = mpi
        self._world = mpi.COMM_WORLD
        self.rank, self.size = self._world.Get_rank(), self._world.Get_size()
        near = self._world.Split_type(mpi.COMM_TYPE_SHARED)
        self.here = near.Get_size()
        near.Free()

    def send_bytes(self, data: Bytes, rank: int) -> None:
        _wait(self._world.Isend([data, self._mpi.BYTE], rank))

    def receive_bytes(self, data: Bytes, rank: int) -> None:
        _wait(self._world.Irecv([data, self._mpi.BYTE], rank))

    def broadcast_bytes(self, data: Bytes, rank: int) -> None:
        _wait(self._world.Ibcast([data, self._mpi.BYTE], rank))

    def leave(self) -> None:
        """End this rank, and the others if they wait for it in a step."""
        if self.others_wait:
            self.abort()
        if self.leads:
            self.finish()
        self._mpi.Finalize()

    def abort(self) -> None:
        """End all ranks at once."""
        self._world.Abort(1)


@contextmanager
def mpi_ranks() -> Iterator[Ranks]:
    """Join the ranks of the MPI launcher that started this process; ALONE without a launcher.

    If a rank leaves with an exception, the ranks that wait for it are ended. Raises ConfigError.
    """
    ranks = join()
    if ranks is None:
        yield ALONE
        return
    try:
        yield ranks
    except BaseException:
        if not ranks.leads:
            ranks.abort()
        ranks.leave()
        raise
    ranks.leave()


def _wait(request: Any) -> None:
    """Wait for other ranks, at first at full speed, then sleeping between polls."""
    began = time.perf_counter()
    while not request.Test():
        if time.perf_counter() - began > EAGER:
            time.sleep(SLEEP)
        elif hasattr(os, "sched_yield"):  # sleep(0) takes 50 µs
            os.sched_yield()


def started() -> int:
    """Return the number of ranks that the launcher started; 1 without a launcher."""
    for name in SIZE_VARIABLES:
        if os.environ.get(name, "").isdecimal():
            return max(1, int(os.environ[name][:9]))
    return 1


def join() -> MpiRanks | None:
    """Return the ranks that this process belongs to; None if it is alone.

    Others than rank 0 then ignore what they handled, such as Ctrl-C. Raises ConfigError.
    """
    size = started()
    if size == 1:
        return None
    try:
        import mpi4py
    except ImportError:
        raise ConfigError(MPI_IS_MISSING) from None
    mpi4py.rc.finalize = False  # it would wait for ranks that have ended
    mpi4py.rc.thread_level = "funneled"
    # MPI waits, in C, for all that the launcher started: a signal ends this rank at once.
    before = {number: signal.signal(number, signal.SIG_DFL) for number in handled_signals()}
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise ConfigError(f"mpi4py finds no MPI ({error}): {MPI_IS_MISSING}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    ranks = MpiRanks(mpi)
    if ranks.size != size:
        raise ConfigError(
            f"the launcher started {size} ranks, and mpi4py sees {ranks.size}: start them with the "
            "mpiexec of the MPI that mpi4py uses"
        )
    if not ranks.leads:
        for number in before:
            signal.signal(number, ignore)
    return ranks
