"""One run in several processes (ranks), by MPI, on one machine or several.

Rank 0 leads: it alone has the run directory, and announces each step. All ranks have the same model
and compute a part of each batch. Gradients are added in the order of the samples, so results have
the same bits as with one process. Every rank does the same searches and finds the same circuits.
"""

from difflogic.system.ranks.mpi import mpi_ranks
from difflogic.system.ranks.protocol import ALONE, Ranks

__all__ = ["ALONE", "Ranks", "mpi_ranks"]
