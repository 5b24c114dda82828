"""One run in several processes (ranks), by MPI, on one machine or several.

Rank 0 leads: it alone has the run directory, and announces each step. All ranks have the same model
and compute a part of each batch. Their gradients are added in the order of the samples, so the bits
are those of one process. Each of them searches, and finds the same.
"""

from difflogic.system.ranks.mpi import MISSING, join, mpi_ranks, require, started
from difflogic.system.ranks.protocol import ALONE, Ranks
from difflogic.system.ranks.threads import in_threads

__all__ = ["ALONE", "MISSING", "Ranks", "in_threads", "join", "mpi_ranks", "require", "started"]
