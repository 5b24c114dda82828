"""What holds of a circuit: `inspect`."""

from __future__ import annotations

from difflogic import inspection
from difflogic.inspection import Inspection, Limits
from difflogic.library.loading import Source, load
from difflogic.library.progress import Progress, ProgressCallback
from difflogic.library.simplifying import small_form
from difflogic.system.callbacks import ignore

PARTS = 3
"""That take a while: symmetries, fixed points, and the run from the start."""


def inspect(
    source: Source,
    limits: Limits | None = None,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
) -> Inspection:
    """Find equations, symmetries, fixed points, and the states in which the automaton settles.

    The circuit of a run or a model is simplified first, unless `unsimplified`. Raises what `load`
    raises, and ProofError if the simplified circuit cannot be proved equal.
    """
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(loaded, time_limit=time_limit, progress=progress)

    def part(done: int, following: str) -> None:
        progress(Progress("inspecting: part", done, PARTS, following))

    return inspection.inspect(automaton, limits or Limits(), part)
