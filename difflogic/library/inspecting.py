"""What holds of a circuit: `inspect`."""

from __future__ import annotations

from dataclasses import dataclass, field

from difflogic import inspection
from difflogic.inspection import Inspection, Limits, channel_number
from difflogic.inspection.equations import Equations, equations
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.progress import Progress, ProgressCallback
from difflogic.library.simplifying import small_form
from difflogic.system.callbacks import ignore
from difflogic.system.errors import CircuitError

PARTS = 3
"""That take a while: symmetries, fixed points, and the run from the start."""


@dataclass(frozen=True)
class Inspected:
    """The properties of a circuit."""

    source: Loaded
    inspection: Inspection = field(repr=False)


def inspect(
    source: Source,
    limits: Limits | None = None,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
) -> Inspected:
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

    return Inspected(loaded, inspection.inspect(automaton, limits or Limits(), part))


def channel_equation(
    source: Source,
    channel: int,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
) -> Equations:
    """Return only the equations of one channel's next state, by its number.

    Simplified as in `inspect`. Also raises CircuitError if there is no such channel, or if it was
    dropped.
    """
    loaded = load(source)
    channel_number(loaded.automaton.circuit, channel)  # an error before the wait
    circuit = loaded.automaton.circuit
    if not unsimplified:
        circuit = small_form(loaded, time_limit=time_limit, progress=progress).circuit
    if channel not in circuit.labels:
        raise CircuitError(
            f"channel {channel} was dropped, since no visible one depends on it: use "
            "--unsimplified to see it"
        )
    return equations(circuit, [channel_number(circuit, channel)])
