"""The messages between the ranks of a run, over any transport."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from difflogic.system.array_types import Array, Bits
from difflogic.system.deadline import never_stop
from difflogic.system.errors import TrainingError
from difflogic.system.work import Stopped, ignore, working

Bytes = Bits

STEP = -1
END = 0
"""Announcements of rank 0. A positive number is the length of the message that follows."""

MOST_MESSAGE_BYTES = 1 << 24
"""Largest message. Messages hold a configuration."""


class Ranks:
    """The processes of a run, as seen by one of them. This base class is a single process."""

    rank = 0
    size = 1
    here = 1
    """Ranks on this machine."""
    others_wait = False
    """Whether the other ranks would wait forever if this one left now."""

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    def part(self, count: int, group: int = 1) -> slice:
        """Return this rank's share of `count` items, in whole groups; it may be empty.

        Items are divided evenly and in the order of the ranks.
        """
        groups = -(-count // group)
        first, end = (groups * rank // self.size for rank in (self.rank, self.rank + 1))
        return slice(min(first * group, count), min(end * group, count))

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message from rank 0 to all others, which call `receive`."""

    def receive(self) -> dict[str, Any] | None:
        """Return rank 0's next message; None once it has finished."""
        return None

    def broadcast(self, array: Array) -> None:
        """Copy rank 0's `array` to all ranks, in place."""

    def add_in_turn(self, sums: Bytes, add: Callable[[], None]) -> None:
        """Call `add` on each rank in turn, with the sums of the ranks before it in `sums`.

        In the end, all ranks have the sums of the last one.
        """
        add()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Context in which rank 0 takes a step together with all others."""
        yield

    @contextmanager
    def together(self) -> Iterator[None]:
        """Context of what all ranks do in exchange with each other: no stop is heard."""
        yield

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Context of what each rank does by itself, until rank 0 goes on without the others."""
        yield

    @property
    def told(self) -> int:
        """The number of the signal that another rank has heard; 0 without one."""
        return 0

    def listen(self, heard: Callable[[], int]) -> None:
        """Tell rank 0, as another rank, which signal `heard` returns, once it is not 0."""

    def has_next_step(self) -> bool:
        """Wait for rank 0; return whether it takes another step."""
        return False

    def finish(self) -> None:
        """Announce, as rank 0, that no step or message follows."""

    @contextmanager
    def lockstep(self) -> Iterator[None]:
        """Context in which all ranks do the same work; an exception in one ends them all."""
        yield


ALONE = Ranks()


class LinkedRanks(Ranks):
    """Ranks with a transport for bytes, which subclasses implement."""

    _next: tuple[Array, Callable[[], bool]] | None = None
    """Rank 0's next announcement, while it is received."""

    @abstractmethod
    def send_bytes(self, data: Bytes, rank: int) -> None:
        """Send bytes to another rank."""

    @abstractmethod
    def receive_bytes(self, data: Bytes, rank: int) -> None:
        """Wait for bytes from another rank and write them to `data`."""

    @abstractmethod
    def broadcast_bytes(self, data: Bytes, rank: int) -> None:
        """Copy one rank's `data` to all ranks."""

    @abstractmethod
    def begin_receiving(self, data: Bytes) -> Callable[[], bool]:
        """Begin to receive what rank 0 broadcasts next; return what asks whether it is there."""

    def send(self, message: Mapping[str, Any]) -> None:
        data = np.frombuffer(json.dumps(message).encode(), np.uint8).copy()
        self._announce(len(data))
        self.broadcast(data)

    def receive(self) -> dict[str, Any] | None:
        length = self._announce()
        if length == END:
            return None
        if not 0 < length <= MOST_MESSAGE_BYTES:
            raise RuntimeError(f"rank 0 announced {length} in place of a message")
        data = np.empty(length, np.uint8)
        self.broadcast(data)
        message: dict[str, Any] = json.loads(data.tobytes())
        return message

    def broadcast(self, array: Array) -> None:
        self.broadcast_bytes(array.reshape(-1).view(np.uint8), 0)

    def add_in_turn(self, sums: Bytes, add: Callable[[], None]) -> None:
        last = self.size - 1
        if self.rank:
            self.receive_bytes(sums, self.rank - 1)
        add()
        if self.rank < last:
            self.send_bytes(sums, self.rank + 1)
        self.broadcast_bytes(sums, last)

    @contextmanager
    def step(self) -> Iterator[None]:
        self._announce(STEP)
        before = self.others_wait
        self.others_wait = True
        try:
            yield
        except (TrainingError, Stopped):
            # All ranks raise the one, from the same sums; the other comes while none waits.
            self.others_wait = before
            raise
        self.others_wait = before

    @contextmanager
    def together(self) -> Iterator[None]:
        with working(asked=never_stop, hear=ignore):
            yield

    @contextmanager
    def apart(self) -> Iterator[None]:
        if self.leads:
            yield
            return
        found = np.zeros(1, np.int64)
        is_there = self.begin_receiving(found.view(np.uint8))
        self._next = found, is_there
        with working(asked=lambda: is_there() and found[0] == END):
            yield

    def has_next_step(self) -> bool:
        return self._announce() == STEP

    def finish(self) -> None:
        self._announce(END)

    @contextmanager
    def lockstep(self) -> Iterator[None]:
        self.others_wait = True
        yield
        self.others_wait = False

    def _announce(self, what: int = END) -> int:
        found, is_there = self._next or (np.array([what], np.int64), None)
        self._next = None
        if is_there is None:
            self.broadcast(found)
        else:
            self.wait(is_there)
        return int(found[0])

    def wait(self, is_there: Callable[[], bool]) -> None:
        """Wait until something that was begun to be received is there."""
        while not is_there():
            time.sleep(0.0005)
