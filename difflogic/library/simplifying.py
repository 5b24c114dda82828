"""Simplifying circuits, with a proof: `simplify`, `small_form`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic import simplification
from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.live_part import live_part
from difflogic.formats import by_name
from difflogic.formats.circuit_file import write_circuit
from difflogic.library.loaded import Loaded, Source, load
from difflogic.proof import Proof, decide_equality
from difflogic.system.deadline import Deadline
from difflogic.system.declaration import EffortOption, TimeLimit, checked
from difflogic.system.errors import CircuitError, ProofError
from difflogic.system.files import write_output
from difflogic.system.json_values import chosen
from difflogic.system.work import tell, ticking

SIMPLIFYING = "simplifying, steps done:"
"""Label of progress."""
SLOW_GATES = 1000
"""Gates above which a normal simplification takes minutes, as in pictures of 96×96 cells."""

PROOF_SECONDS = 60.0
"""Default time limit of a proof."""

SEARCH_SHARE = 0.5
"""Share of a time limit that the search may use; the proof gets the rest."""


@dataclass(frozen=True)
class Simplified:
    """A simplified circuit, and the proof that it is equal to the original."""

    source: Loaded
    effort: str
    simplification: simplification.Simplification
    proof: Proof
    seconds: float
    """Time of the search, without the proof."""

    def __repr__(self) -> str:
        return f"Simplified({self.automaton!r}, {self.proof.verdict.value})"

    def _repr_svg_(self) -> str | None:
        """Show the circuit in a notebook, unless it is too large for a picture."""
        try:
            return by_name("svg").render(self.automaton).decode()
        except CircuitError:
            return None

    @property
    def automaton(self) -> Automaton:
        """The automaton with the smaller circuit."""
        return self.simplification.automaton

    @property
    def proved(self) -> bool:
        """Whether every remaining channel is proved to have the same next state as before."""
        return self.proof.equal

    def as_dict(self) -> dict[str, Any]:
        """Return the results as values for JSON."""
        stages = [
            {
                "name": stage.name,
                "active": stage.circuit.active_gates,
                **chosen(stage.circuit, "gates", "depth", "channels"),
                "inputs": len(stage.circuit.read_inputs),
                "ops": {op.name: count for op, count in stage.circuit.op_counts().items()},
            }
            for stage in self.simplification.stages
        ]
        return {
            "circuit": self.source.name,
            "stopped": self.simplification.stopped,
            "stages": stages,
            **chosen(self, "effort", "seconds", "proof"),
        }

    def require_proved(self) -> Automaton:
        """Return the automaton. Raises ProofError unless it is proved equal."""
        if not self.proved:
            raise ProofError(
                f"{self.source.name}: the simplified circuit could not be proved equal", self.proof
            )
        return self.automaton

    def save(self, path: str | Path, *, force: bool = False, unproved: bool = False) -> None:
        """Write the circuit as JSON; `force` overwrites an earlier file.

        Raises ProofError if it is not proved equal, unless `unproved`, and RunDirectoryError if the
        file cannot be written.
        """
        automaton = self.automaton if unproved else self.require_proved()
        write_output(path, write_circuit(automaton), force)


@checked
def simplify(
    source: Source, effort: EffortOption = "normal", *, time_limit: TimeLimit = None
) -> Simplified:
    """Simplify the circuit of a run, a model or a file, and prove the result equal.

    `effort` is low, normal or high: a second, seconds, or minutes. The same circuit and effort give
    the same result. A `time_limit`, in seconds, covers search and proof. If it stops the search,
    the best result so far is returned, which depends on the machine. By default a proof stops after
    PROOF_SECONDS. Raises what `load` raises, and ConfigError for an unknown effort.
    """
    loaded = load(source)
    automaton = loaded.automaton
    chosen = simplification.EFFORTS[effort]
    tell(SIMPLIFYING)
    share = None if time_limit is None else SEARCH_SHARE * time_limit
    if not simplification.is_compiled():  # what compiles is not counted
        first = simplification.EFFORTS["low" if effort == "low" else "normal"]
        simplification.simplify(automaton, first, Deadline.after(share))
    began = time.perf_counter()
    with ticking(SIMPLIFYING):
        found = simplification.simplify(automaton, chosen, Deadline.after(share))
    seconds = time.perf_counter() - began
    left = None if time_limit is None else max(time_limit - seconds, 0.0)
    return Simplified(loaded, effort, found, proved(automaton, found.circuit, left), seconds)


def small_form(
    source: Source, effort: EffortOption | None = None, *, time_limit: float | None = None
) -> Automaton:
    """Return the automaton that other functions work on.

    The circuit of a run or a model is simplified and proved equal. A circuit file is left
    unchanged, since its user chose the circuit. The effort is normal by default, or low if more
    than SLOW_GATES gates are live. Raises ProofError if the proof fails or takes too
    long; `time_limit` is as in `simplify`.
    """
    loaded = load(source)
    if not loaded.trained:
        return loaded.automaton
    if effort is None:
        effort = "low" if live_part(loaded.automaton).circuit.gates > SLOW_GATES else "normal"
    return simplify(loaded, effort, time_limit=time_limit).require_proved()


def proved(automaton: Automaton, circuit: Circuit, seconds: float | None) -> Proof:
    """Compare a circuit with the automaton's, for at most `seconds`, by default PROOF_SECONDS."""
    seconds = PROOF_SECONDS if seconds is None else seconds
    return decide_equality(automaton.circuit, circuit, automaton.visible, seconds)
