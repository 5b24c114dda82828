"""Ranks that MPI connects, on one machine or several.

mpi4py is imported only in a process that an MPI launcher started.
"""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

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

SIGNAL = 1
"""The tag of a message that says which signal a rank has heard."""

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
        self._heard: Callable[[], int] = lambda: 0
        self._told = 0
        self._silent = set(range(1, self.size))
        """Ranks that have not told rank 0 of a signal."""
        self._telling: Any = None

    def send_bytes(self, data: Bytes, rank: int) -> None:
        self.wait(self._world.Isend([data, self._mpi.BYTE], rank).Test)

    def receive_bytes(self, data: Bytes, rank: int) -> None:
        self.wait(self._world.Irecv([data, self._mpi.BYTE], rank).Test)

    def broadcast_bytes(self, data: Bytes, rank: int) -> None:
        self.wait(self._world.Ibcast([data, self._mpi.BYTE], rank).Test)

    def begin_receiving(self, data: Bytes) -> Callable[[], bool]:
        request = self._world.Ibcast([data, self._mpi.BYTE], 0)

        def is_there() -> bool:
            self._tell()
            return bool(request.Test())

        return is_there

    def wait(self, is_there: Callable[[], bool]) -> None:
        """Wait for other ranks, at first at full speed, then sleeping between polls."""
        began = time.perf_counter()
        while not is_there():
            self._tell()
            if time.perf_counter() - began > EAGER:
                time.sleep(SLEEP)
            elif hasattr(os, "sched_yield"):  # sleep(0) takes 50 µs
                os.sched_yield()

    @property
    def told(self) -> int:
        for rank in self._silent if self.leads else ():
            if self._world.Iprobe(rank, SIGNAL):
                self._hear(rank)
                break
        return self._told

    def _hear(self, rank: int) -> None:
        found = np.zeros(1, np.int64)
        self.wait(self._world.Irecv(found, rank, SIGNAL).Test)
        self._silent.remove(rank)
        self._told = self._told or int(found[0])

    def listen(self, heard: Callable[[], int]) -> None:
        self._heard = heard

    def _tell(self) -> None:
        """Tell rank 0 of a signal, once; called while this rank waits or searches."""
        if not self.leads and self._telling is None and (number := self._heard()):
            self._send_signal(number)

    def _send_signal(self, number: int) -> None:
        self._telling = self._world.Isend(np.array([number], np.int64), 0, SIGNAL)

    def leave(self) -> None:
        """End this rank, and the others if they wait for it in a step."""
        if self.others_wait:
            self.abort()
        if self.leads:
            self.finish()
            for rank in [*self._silent]:  # MPI ends with an error if a message is left
                self._hear(rank)
        else:
            if self._telling is None:
                self._send_signal(0)
            self.wait(self._telling.Test)
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
