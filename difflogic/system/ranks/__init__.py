"""One run in several processes, by MPI, on one machine or several: its ranks.

Rank 0 leads: it alone has the run directory, and says when to take a step. All ranks have the same
model, and roll out a part of each batch; a sum that goes from rank to rank adds their gradients in
the order of the samples, so that the bits are those of one process. Searches they do together: each
judges a part of the candidates, and all then know of all.
"""

from difflogic.system.ranks.mpi import MISSING, join, mpi_ranks, require, started
from difflogic.system.ranks.protocol import ALONE, Ranks
from difflogic.system.ranks.threads import in_threads

__all__ = ["ALONE", "MISSING", "Ranks", "in_threads", "join", "mpi_ranks", "require", "started"]
