"""What happens in the pauses of a long computation: it is said to be long, and can be stopped."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from cli import interrupt
from cli.errors import note

if TYPE_CHECKING:
    from difflogic.system.pauses import Pause

SECONDS = 0.7
"""After which a rollout that is not at its end is worth a word."""


def patient() -> AbstractContextManager[None]:
    """Return a context in which long computations are said to be long, and can be stopped."""
    from difflogic.system.pauses import listening

    return listening(Patience())


class Patience:
    """Hears of pauses: stops where a signal asked to, and tells once how long each thing takes."""

    def __init__(self) -> None:
        self._began: dict[tuple[str, int], float] = {}
        self._told: set[tuple[str, int]] = set()

    def __call__(self, pause: Pause) -> None:
        """Raise KeyboardInterrupt if that was requested, and this is not the beginning."""
        key, now = (pause.what, pause.total), time.monotonic()
        if not pause.done:
            self._began[key] = now
            return
        interrupt.check()
        start = self._began.setdefault(key, now)
        if now - start < SECONDS or key in self._told:
            return
        self._told.add(key)
        rest = (now - start) * (pause.total - pause.done) / pause.done
        note(
            f"a {pause.what} of {pause.total} {pause.unit} takes a while: {pause.done} are "
            f"done, the rest takes about {rest:.0f} s. Ctrl-C stops it"
        )
