"""What holds of a circuit: `inspect`."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic import inspection
from difflogic.inspection import Inspection, Limits, channel_number
from difflogic.inspection.equations import Equations, equations
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.library.watching import ShouldStop, Watch, Watched, never, unwatched
from difflogic.system.errors import CircuitError

PARTS = 3
"""That take a while: symmetries, fixed points, and the run from the start."""


@dataclass(frozen=True)
class Inspected:
    """What was found out, of the circuit as it was looked at."""

    source: Loaded
    inspection: Inspection


def inspect(
    source: Source,
    limits: Limits | None = None,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Inspected:
    """Find out equations, symmetries, fixed points, and where the automaton settles.

    The circuit of a run or a model is simplified first, unless it shall stay `unsimplified`. Raises
    what `load` raises, and ProofError if the simplified circuit is not proved equal.
    """
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(
            loaded, time_limit=time_limit, progress=progress, should_stop=should_stop
        )
    watched = Watched(progress, should_stop)

    def part(done: int, following: str) -> None:
        watched.update("inspecting: part", done, PARTS, following)

    return Inspected(loaded, inspection.inspect(automaton, limits or Limits(), part))


def channel_equation(
    source: Source,
    channel: int,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Equations:
    """Return the equations of one channel's next state, by its number, and nothing else.

    Simplified as in `inspect`. Raises CircuitError, too, if there is no such channel, or none any
    more.
    """
    loaded = load(source)
    channel_number(loaded.automaton.circuit, channel)  # an error before the wait
    circuit = loaded.automaton.circuit
    if not unsimplified:
        circuit = small_form(
            loaded, time_limit=time_limit, progress=progress, should_stop=should_stop
        ).circuit
    if channel not in circuit.labels:
        raise CircuitError(
            f"channel {channel} is dropped, as no visible one depends on it: see it with "
            "--unsimplified"
        )
    return equations(circuit, [channel_number(circuit, channel)])
