"""Ranks that are threads of this process and exchange the same bytes as processes would.

They show without MPI that results do not depend on the number of ranks.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue

import numpy as np

from difflogic.system.ranks.protocol import Bytes, LinkedRanks, Ranks


class GoneError(RuntimeError):
    """Another rank has ended early."""


_Links = dict[tuple[int, int], "SimpleQueue[bytes | None]"]
"""A queue from each rank to each other rank; None wakes one that waits after another has failed."""


class ThreadRanks(LinkedRanks):
    """One of several threads, in place of a process."""

    def __init__(self, rank: int, size: int, links: _Links) -> None:
        self.rank = rank
        self.size = size
        self.here = size
        self._links = links
        self._begun: Bytes | None = None

    def send_bytes(self, data: Bytes, rank: int) -> None:
        self._links[self.rank, rank].put(data.tobytes())

    def receive_bytes(self, data: Bytes, rank: int) -> None:
        found = self._links[rank, self.rank].get()
        if found is None:
            raise GoneError("another rank has failed")
        data[:] = np.frombuffer(found, np.uint8)

    def begin_receiving(self, data: Bytes) -> Callable[[], bool]:
        def is_there() -> bool:
            if self._begun is not None and not self._links[0, self.rank].empty():
                self.receive_bytes(self._begun, 0)
                self._begun = None
            return self._begun is None

        self._begun = data
        return is_there

    def broadcast_bytes(self, data: Bytes, rank: int) -> None:
        if self.rank != rank:
            self.receive_bytes(data, rank)
            return
        for other in range(self.size):
            if other != rank:
                self.send_bytes(data, other)


@contextmanager
def in_threads(size: int, follow: Callable[[Ranks], object]) -> Iterator[Ranks]:
    """Be rank 0 of `size` within this context. The others are threads that call `follow`.

    An exception in one of them is raised here and ends them all.
    """
    links: _Links = {(one, other): SimpleQueue() for one in range(size) for other in range(size)}

    def cut() -> None:
        for queue in links.values():
            queue.put(None)

    def run(rank: int) -> None:
        try:
            follow(ThreadRanks(rank, size, links))
        except BaseException:
            cut()
            raise

    with ThreadPoolExecutor(size - 1, thread_name_prefix="dct-rank") as threads:
        others = [threads.submit(run, rank) for rank in range(1, size)]
        first = ThreadRanks(0, size, links)
        try:
            yield first
            first.finish()
        except BaseException as error:
            cut()
            if isinstance(error, GoneError):
                _raise_of(others)
            raise
        _raise_of(others)


def _raise_of(ranks: Sequence[Future[None]]) -> None:
    """Raise the first error of a rank, preferring those that are no GoneError."""
    errors = [error for each in ranks if (error := each.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, GoneError)):
        raise error
