"""What holds of a circuit: `inspect`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from difflogic import inspection
from difflogic.inspection import Inspection, Limits, channel_number
from difflogic.inspection.equations import Equations, equations
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.progress import (
    ProgressCallback,
    ProgressReporter,
    ShouldStop,
    ignore_progress,
    never_stop,
)
from difflogic.library.simplifying import PROOF_SECONDS, small_form
from difflogic.proof import Limits as ProofLimits
from difflogic.simplification import sharing
from difflogic.simplification.sharing import Shared
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import CircuitError, ConfigError, did_you_mean

PARTS = 3
"""That take a while: symmetries, fixed points, and the run from the start."""


@dataclass(frozen=True)
class Inspected:
    """The properties of a circuit."""

    source: Loaded
    inspection: Inspection


def inspect(
    source: Source,
    limits: Limits | None = None,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore_progress,
    should_stop: ShouldStop = never_stop,
) -> Inspected:
    """Find equations, symmetries, fixed points, and the states in which the automaton settles.

    The circuit of a run or a model is simplified first, unless `unsimplified`. Raises what `load`
    raises, and ProofError if the simplified circuit cannot be proved equal.
    """
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(
            loaded, time_limit=time_limit, progress=progress, should_stop=should_stop
        )
    reporter = ProgressReporter(progress, should_stop)

    def part(done: int, following: str) -> None:
        reporter.update("inspecting: part", done, PARTS, following)

    return Inspected(loaded, inspection.inspect(automaton, limits or Limits(), part))


def share(
    source: Source,
    effort: str = "normal",
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore_progress,
    should_stop: ShouldStop = never_stop,
) -> Shared:
    """Find what neighbouring cells compute alike, so that it can be computed once.

    `effort` is low, normal or high: none, some, or minutes of search; the same circuit and effort
    give the same result, unless a `time_limit` in seconds ends the search. Simplified first as in
    `inspect`, whose errors it raises; and ConfigError for another effort.
    """
    if effort not in sharing.EFFORTS:
        raise ConfigError(f'no effort "{effort}": {did_you_mean(effort, sharing.EFFORTS)}')
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(
            loaded, time_limit=time_limit, progress=progress, should_stop=should_stop
        )
    count = ProgressReporter(progress, should_stop).counter("sharing, steps done:")
    steps = itertools.count(1)
    deadline = NEVER if time_limit is None else Deadline.after(time_limit)
    limits = ProofLimits(seconds=PROOF_SECONDS if time_limit is None else time_limit)
    return sharing.share(
        automaton.circuit, sharing.EFFORTS[effort], lambda: count(next(steps)), deadline, limits
    )


def channel_equation(
    source: Source,
    channel: int,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore_progress,
    should_stop: ShouldStop = never_stop,
) -> Equations:
    """Return only the equations of one channel's next state, by its number.

    Simplified as in `inspect`. Also raises CircuitError if there is no such channel, or if it was
    dropped.
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
            f"channel {channel} was dropped, since no visible one depends on it: use "
            "--unsimplified to see it"
        )
    return equations(circuit, [channel_number(circuit, channel)])
