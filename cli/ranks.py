"""One run in several processes, which an MPI launcher has started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.failures import note
from cli.interrupt import Interruption, caused

if TYPE_CHECKING:
    from difflogic.system.ranks import Ranks


SAVING_SECONDS = 30.0
"""Seconds in which rank 0 saves after a signal; whoever still waits for others then ends."""


@contextmanager
def joined() -> Iterator[Ranks]:
    """While entered, this process is one of the ranks that a launcher started, or alone."""
    from difflogic.system.ranks import mpi_ranks

    with mpi_ranks() as ranks:
        try:
            if ranks.leads:
                yield ranks
            else:
                with Interruption(None, SAVING_SECONDS) as interruption:
                    ranks.listen(lambda: max(0, interruption.exit_code - 128))
                    yield ranks
        except BaseException as error:
            # Report it now: leaving MPI may end this process at once.
            if not ranks.leads or ranks.others_wait:
                who = "" if ranks.leads else f"rank {ranks.rank}: "
                what = f"error: {who}{str(error) or type(error).__name__}"
                note("interrupted" if ranks.leads and caused(error) else what)
            raise
