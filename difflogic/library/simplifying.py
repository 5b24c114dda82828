"""Simplifying circuits and proving them equal: `simplify`, `prove`, and what others go on with."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from difflogic import simplification
from difflogic.circuit.circuit import LogicCircuit
from difflogic.formats.write_circuit import write_circuit
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.watching import ShouldStop, Watch, Watched, never, unwatched
from difflogic.model.automaton import Automaton
from difflogic.proof import Limits, Proof, differences
from difflogic.proof import prove as compare
from difflogic.simplification import berkeley_abc
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import ConfigError, ProofError, did_you_mean
from difflogic.system.files import check_output, write_whole

EffortName = Literal["low", "normal", "high"]

SIMPLIFYING, PROVING = "simplifying, steps done:", "outputs proved:"
"""What progress calls these parts."""

PROOF_SECONDS = 60.0
"""After which a proof is given up, unless there is a time limit."""

SEARCH_SHARE = 0.5
"""Of a time limit, the search may take so much; the proof gets the rest."""


@dataclass(frozen=True)
class Simplified:
    """A circuit made small, and the proof that it does what it did."""

    source: Loaded
    simplification: simplification.Simplification
    proof: Proof
    seconds: float
    """That the search took, without the proof."""

    @property
    def automaton(self) -> Automaton:
        """With the smaller circuit."""
        return self.simplification.automaton

    @property
    def proved(self) -> bool:
        """Whether every channel that stays is proved to have the same next state as before."""
        return self.proof.equal

    def require_proved(self) -> Automaton:
        """Return the automaton. Raises ProofError unless it is proved equal."""
        if not self.proved:
            raise ProofError(
                f"{self.source.name}: the simplified circuit is not proved equal", self.proof
            )
        return self.automaton

    def save(self, path: str | Path, *, force: bool = False, unproved: bool = False) -> None:
        """Write the circuit as JSON, in place of an earlier file only with `force`.

        Raises ProofError for one that is not proved, unless `unproved` asks for it by name, and
        RunDirectoryError if it cannot be written.
        """
        automaton = self.automaton if unproved else self.require_proved()
        check_output(Path(path), force)
        text = write_circuit(automaton).encode()
        write_whole(Path(path), lambda file: file.write(text))


@dataclass(frozen=True)
class Compared:
    """Whether two automata do the same."""

    one: Loaded
    other: Loaded
    proof: Proof
    surroundings: tuple[str, ...]
    """In what they differ apart from their circuits: boundary, fire rate, visible channels."""

    @property
    def equal(self) -> bool:
        return self.proof.equal and not self.surroundings


def simplify(
    source: Source,
    effort: str = "normal",
    *,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Simplified:
    """Make the circuit of a run, a model or a file small, and prove the result equal.

    `effort` is low, normal or high: a second, seconds, or a minute and more. The same circuit and
    effort give the same circuit. With a `time_limit`, in seconds, search and proof together take
    no longer, and a search that it cuts short returns what it has, which depends on the machine;
    without one, a proof is given up after PROOF_SECONDS. Raises what `load` raises, and ConfigError
    for another effort.
    """
    if effort not in simplification.EFFORTS:
        raise ConfigError(f'no effort "{effort}": {did_you_mean(effort, simplification.EFFORTS)}')
    loaded, watched = load(source), Watched(progress, should_stop)
    count = watched.counting(SIMPLIFYING)
    steps, began = 0, time.perf_counter()

    def step() -> None:
        nonlocal steps
        steps += 1
        count(steps)

    deadline = NEVER if time_limit is None else Deadline.after(SEARCH_SHARE * time_limit)
    chosen = simplification.EFFORTS[effort]
    found = simplification.simplify(loaded.automaton, chosen, step, deadline)
    seconds = time.perf_counter() - began
    left = None if time_limit is None else max(time_limit - seconds, 0.0)
    proof = proved(loaded.automaton, found.circuit, left, watched)
    return Simplified(loaded, found, proof, seconds)


@dataclass(frozen=True)
class Rival:
    """What another program made of the same circuit."""

    circuit: LogicCircuit
    proof: Proof
    seconds: float


def compare_with_abc(
    found: Simplified,
    *,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Rival:
    """Let Berkeley's ABC simplify the circuit, without the channels that nobody reads, as ours was.

    Raises ConfigError where it is not installed, and CircuitError where it fails.
    """
    began = time.perf_counter()
    circuit = berkeley_abc.simplify_with_abc(found.simplification.pruned)
    seconds = time.perf_counter() - began
    watched = Watched(progress, should_stop)
    return Rival(circuit, proved(found.source.automaton, circuit, time_limit, watched), seconds)


def prove(
    source: Source,
    against: Source | None = None,
    *,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Compared:
    """Prove two automata equal, or one and its simplified form, or find where they differ.

    Channels are matched by their numbers. Equal means the same next state of every channel that
    both have, for every state of all channels of the nine cells. Raises what `load` raises, and
    CircuitError if a visible channel is missing in one of them.
    """
    one = load(source)
    if against is None:
        found = simplify(one, time_limit=time_limit, progress=progress, should_stop=should_stop)
        return Compared(one, load(found.automaton), found.proof, ())
    other = load(against)
    watched = Watched(progress, should_stop)
    proof = proved(one.automaton, other.automaton.circuit, time_limit, watched)
    return Compared(one, other, proof, tuple(differences(one.automaton, other.automaton)))


def small_form(
    source: Source,
    effort: str = "normal",
    *,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Automaton:
    """Return what other functions go on with.

    The circuit of a run or a model is simplified, and proved to do the same. A circuit's own file
    is taken as it is, since its user chose what stands in it. Raises ProofError if the proof fails
    or takes too long; `time_limit` is as in `simplify`.
    """
    loaded = load(source)
    if not loaded.trained:
        return loaded.automaton
    return simplify(
        loaded, effort, time_limit=time_limit, progress=progress, should_stop=should_stop
    ).require_proved()


def proved(
    automaton: Automaton, circuit: LogicCircuit, seconds: float | None, watched: Watched
) -> Proof:
    """Compare a circuit with an automaton's, within so many seconds, or PROOF_SECONDS."""
    count = watched.counting(PROVING, circuit.channels)
    limits = Limits(seconds=PROOF_SECONDS if seconds is None else seconds)
    return compare(automaton.circuit, circuit, automaton.visible, limits, count)
