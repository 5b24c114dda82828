"""What the ranks of a run say to each other, and when: whatever carries it."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.system.errors import TrainingError
from difflogic.system.pauses import listening

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

STEP, END = -1, 0
"""What rank 0 announces; a number above is the length of a message that follows."""

MOST_BYTES = 1 << 24
"""Of a message, which is a configuration."""


class Ranks:
    """The processes of a run, as one of them sees them; this one is alone."""

    rank = 0
    size = 1
    here = 1
    """Ranks on this machine, with this one."""
    others_wait = False
    """Whether others wait for this one to go on, and would do so for ever."""
    always_share = False
    """Whether to share even what is done sooner without; `gather` tells the others."""

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    def part(self, count: int, group: int = 1) -> slice:
        """Return which of `count` things are this rank's, whole groups of them; maybe none.

        They are shared out evenly, and in order: those of rank 0 come first.
        """
        groups = -(-count // group)
        first, end = (groups * rank // self.size for rank in (self.rank, self.rank + 1))
        return slice(min(first * group, count), min(end * group, count))

    def subgroup(self, size: int) -> Ranks | None:
        """Return the first `size` of these as a group of their own; None if this is not of them.

        All call it together. Of one, that is alone.
        """
        if not 1 <= size <= self.size:
            raise ValueError(f"{size} of {self.size} ranks")
        return self

    def send(self, message: Mapping[str, Any]) -> None:
        """Send plain values to all others, who `receive` them."""

    def receive(self) -> dict[str, Any] | None:
        """Return what rank 0 tells; None once it has come to its end."""
        return None

    def broadcast(self, array: Array) -> None:
        """Make `array` everywhere what it is on rank 0, in place."""

    def add_in_turn(self, sums: Bytes, add: Callable[[], None]) -> None:
        """Call `add` on each rank in turn, which finds in `sums` what those before it have left.

        All then have what the last one has left.
        """
        add()

    def all_gather(self, own: Array) -> Array:
        """Return everybody's array, of the same shape and type, by rank: (size, *shape)."""
        return own[None]

    def barrier(self) -> None:
        """Wait for rank 0 to come here, too."""

    @contextmanager
    def step(self) -> Iterator[None]:
        """While entered, rank 0 takes a step with all others."""
        yield

    def has_next_step(self) -> bool:
        """Wait for rank 0; return whether there is another step to take with it."""
        return False

    def finish(self) -> None:
        """Tell the others, as rank 0, that there is no other step, or nothing else to hear."""

    @contextmanager
    def lockstep(self) -> Iterator[None]:
        """While entered, all ranks do the same: who leaves by an exception ends them all."""
        yield


ALONE = Ranks()


class LinkedRanks(Ranks):
    """Ranks that bytes can be handed to. What they say to each other is the same for any link."""

    @abstractmethod
    def send_bytes(self, data: Bytes, rank: int) -> None:
        """Send bytes to another rank."""

    @abstractmethod
    def receive_bytes(self, data: Bytes, rank: int) -> None:
        """Wait for what another rank gives, and put it into `data`."""

    @abstractmethod
    def broadcast_bytes(self, data: Bytes, rank: int) -> None:
        """Make `data` everywhere what it is on one rank."""

    @abstractmethod
    def gather_bytes(self, own: Bytes, every: Bytes) -> None:
        """Put what everybody has as `own` into `every`, (size, bytes), by rank."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send plain values to all others, who `receive` them."""
        data = np.frombuffer(json.dumps(message).encode(), np.uint8).copy()
        self._announce(len(data))
        self.broadcast(data)

    def receive(self) -> dict[str, Any] | None:
        """Return what rank 0 tells; None once it has come to its end."""
        length = self._announce()
        if length == END:
            return None
        if not 0 < length <= MOST_BYTES:
            raise RuntimeError(f"rank 0 announced {length} where a message was due")
        data = np.empty(length, np.uint8)
        self.broadcast(data)
        message: dict[str, Any] = json.loads(data.tobytes())
        return message

    def broadcast(self, array: Array) -> None:
        """Make `array` everywhere what it is on rank 0, in place."""
        self.broadcast_bytes(_bytes(array), 0)

    def add_in_turn(self, sums: Bytes, add: Callable[[], None]) -> None:
        """Call `add` on each rank in turn, which finds in `sums` what those before it have left.

        All then have what the last one has left.
        """
        last = self.size - 1
        if self.rank:
            self.receive_bytes(sums, self.rank - 1)
        add()
        if self.rank < last:
            self.send_bytes(sums, self.rank + 1)
        self.broadcast_bytes(sums, last)

    def all_gather(self, own: Array) -> Array:
        """Return everybody's array, of the same shape and type, by rank: (size, *shape)."""
        every = np.empty((self.size, *own.shape), own.dtype)
        self.gather_bytes(_bytes(np.ascontiguousarray(own)), _bytes(every).reshape(self.size, -1))
        return every

    @contextmanager
    def step(self) -> Iterator[None]:
        """While entered, rank 0 takes a step with all others, which is not left half-way."""
        self._announce(STEP)
        before, self.others_wait = self.others_wait, True
        try:
            with listening(lambda pause: None):
                yield
        except TrainingError:  # it comes on all ranks, from the same sums
            self.others_wait = before
            raise
        self.others_wait = before

    def has_next_step(self) -> bool:
        """Wait for rank 0; return whether there is another step to take with it."""
        return self._announce() == STEP

    def finish(self) -> None:
        """Tell the others, as rank 0, that there is no other step, or nothing else to hear."""
        self._announce(END)

    @contextmanager
    def lockstep(self) -> Iterator[None]:
        """While entered, all ranks do the same: who leaves by an exception ends them all."""
        self.others_wait = True
        yield
        self.others_wait = False

    def barrier(self) -> None:
        """Wait for rank 0 to come here, too."""
        self._announce()

    def _announce(self, what: int = END) -> int:
        found = np.array([what], np.int64)
        self.broadcast(found)
        return int(found[0])


def _bytes(array: Array) -> Bytes:
    return array.reshape(-1).view(np.uint8)
