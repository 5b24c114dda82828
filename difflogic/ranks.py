"""One run in several processes, by MPI, on one machine or several: its ranks.

Rank 0 leads: it alone has the run directory, and says when to take a step. All ranks have the same
model, and roll out a part of each batch; a sum that goes from rank to rank adds their gradients in
the order of the samples, so that the bits are those of one process. mpi4py is imported only in a
process that an MPI launcher started.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.errors import ConfigError, TrainingError
from difflogic.pauses import listening

Array = npt.NDArray[Any]

SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
"""Variables by which launchers tell a process how many there are."""

MISSING = (
    "several ranks need mpi4py, which is an extra: pip install '.[mpi]' in dct's directory, "
    "into the environment that dct runs in"
)

STEP, END = -1, 0
"""What rank 0 announces; a number above is the length of a message that follows."""

MOST_BYTES = 1 << 24
"""Of a message, which is a configuration."""

EAGER, SLEEP = 0.002, 0.0005
"""Seconds that a rank waits for another at full speed, and then sleeps between two looks."""


class Ranks:
    """The processes of a run, as one of them sees them; this one is alone."""

    rank = 0
    size = 1
    here = 1
    """Ranks on this machine, with this one."""

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send plain values to all others, who `hear` them."""

    def hear(self) -> dict[str, Any] | None:
        """Return what rank 0 tells; None once it has come to its end."""
        return None

    def share(self, array: Array) -> None:
        """Make `array` everywhere what it is on rank 0, in place."""

    def add_in_turn(self, sums: npt.NDArray[np.uint8], add: Callable[[], None]) -> None:
        """Call `add` on each rank in turn, which finds in `sums` what those before it have left.

        All then have what the last one has left.
        """
        add()

    @contextmanager
    def step(self) -> Iterator[None]:
        """While entered, rank 0 takes a step with all others."""
        yield

    def steps_on(self) -> bool:
        """Wait for rank 0; return whether there is another step to take with it."""
        return False


ALONE = Ranks()


class MpiRanks(Ranks):
    """Ranks that MPI's launcher has started."""

    def __init__(self, mpi: Any) -> None:
        """`mpi` is the module mpi4py.MPI."""
        self._mpi, self._world = mpi, mpi.COMM_WORLD
        self.rank, self.size = self._world.Get_rank(), self._world.Get_size()
        near = self._world.Split_type(mpi.COMM_TYPE_SHARED)
        self.here = near.Get_size()
        near.Free()
        self._torn = False

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send plain values to all others, who `hear` them."""
        data = np.frombuffer(json.dumps(message).encode(), np.uint8).copy()
        self._announce(len(data))
        self.share(data)

    def hear(self) -> dict[str, Any] | None:
        """Return what rank 0 tells; None once it has come to its end."""
        length = self._announce()
        if length == END:
            return None
        if not 0 < length <= MOST_BYTES:
            raise RuntimeError(f"rank 0 announced {length} where a message was due")
        data = np.empty(length, np.uint8)
        self.share(data)
        message: dict[str, Any] = json.loads(data.tobytes())
        return message

    def share(self, array: Array) -> None:
        """Make `array` everywhere what it is on rank 0, in place."""
        self._share(array, 0)

    def add_in_turn(self, sums: npt.NDArray[np.uint8], add: Callable[[], None]) -> None:
        """Call `add` on each rank in turn, which finds in `sums` what those before it have left.

        All then have what the last one has left.
        """
        last = self.size - 1
        buffer = [sums, self._mpi.BYTE]
        if self.rank:
            _wait(self._world.Irecv(buffer, self.rank - 1))
        add()
        if self.rank < last:
            _wait(self._world.Isend(buffer, self.rank + 1))
        self._share(sums, last)

    @contextmanager
    def step(self) -> Iterator[None]:
        """While entered, rank 0 takes a step with all others, which is not left half-way."""
        self._announce(STEP)
        self._torn = True
        try:
            with listening(lambda pause: None):
                yield
        except TrainingError:  # it comes on all ranks, from the same sums
            self._torn = False
            raise
        self._torn = False

    def steps_on(self) -> bool:
        """Wait for rank 0; return whether there is another step to take with it."""
        return self._announce() == STEP

    def leave(self) -> None:
        """End the part of this rank; where others wait for it in a step, theirs too."""
        if self._torn:
            self.abort()
        if self.leads:
            self._announce(END)
        self._mpi.Finalize()

    def abort(self) -> None:
        """End all ranks at once."""
        self._world.Abort(1)

    def _announce(self, what: int = END) -> int:
        found = np.array([what], np.int64)
        self.share(found)
        return int(found[0])

    def _share(self, array: Array, root: int) -> None:
        flat = array.reshape(-1).view(np.uint8)
        _wait(self._world.Ibcast([flat, self._mpi.BYTE], root))


def _wait(request: Any) -> None:
    """Wait for others, at first at full speed, and where it takes longer leaving them the core."""
    began = time.perf_counter()
    while not request.Test():
        if time.perf_counter() - began > EAGER:
            time.sleep(SLEEP)
        elif hasattr(os, "sched_yield"):  # to sleep for no time takes 50 µs
            os.sched_yield()


def started() -> int:
    """Return of how many ranks a launcher started this process as one; 1 if none did."""
    for name in SIZES:
        if os.environ.get(name, "").isdecimal():
            return max(1, int(os.environ[name][:9]))
    return 1


def require() -> None:
    """Raise ConfigError, which names the extra, if mpi4py is missing."""
    try:
        importlib.import_module("mpi4py")
    except ImportError:
        raise ConfigError(MISSING) from None


def join() -> MpiRanks | None:
    """Return the ranks that this process was started as one of; None if it is alone.

    All but rank 0 leave Ctrl-C and SIGTERM to it from now on. Raises ConfigError.
    """
    size = started()
    if size == 1:
        return None
    require()
    import mpi4py

    mpi4py.rc.finalize = False  # would wait for ranks that are no more
    mpi4py.rc.thread_level = "funneled"
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise ConfigError(f"mpi4py finds no MPI ({error}): {MISSING}") from None
    ranks = MpiRanks(mpi)
    if ranks.size != size:
        raise ConfigError(
            f"the launcher started {size} ranks, and mpi4py sees {ranks.size}: start them with the "
            "mpiexec of the MPI that mpi4py uses"
        )
    if not ranks.leads:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    return ranks
