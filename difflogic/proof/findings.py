"""What a proof found: a verdict for each channel, and a neighbourhood that tells two apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from difflogic.circuit.grid import NEIGHBORS
from difflogic.model.automaton import Automaton
from difflogic.system.json_values import fields_of

Method = Literal["exhaustive", "sat"]


class Verdict(StrEnum):
    """Whether two circuits do the same."""

    equal = "equal"
    different = "different"
    unknown = "unknown"
    """The time did not suffice."""


@dataclass(frozen=True)
class OutputProof:
    """How one channel's next state was compared."""

    channel: int
    """Its label."""
    verdict: Verdict
    method: Method
    inputs: int
    """Inputs that either circuit's gates for it read."""
    cases: int
    """All 2^inputs cases, gone through up to the first difference; 0 where the solver decided."""
    conflicts: int
    seconds: float


@dataclass(frozen=True)
class Counterexample:
    """A neighbourhood for which the circuits disagree; both were run on it to be sure."""

    channel: int
    """The label of the channel whose next state differs."""
    before: bool
    after: bool
    bits: dict[tuple[int, int], bool]
    """(neighbour, channel's label) → bit, for all inputs that either next state reads."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, inputs by name, as in NW0."""
        return {
            "channel": self.channel,
            "before": int(self.before),
            "after": int(self.after),
            "inputs": {
                f"{NEIGHBORS[neighbor]}{label}": int(bit)
                for (neighbor, label), bit in self.bits.items()
            },
        }


@dataclass(frozen=True)
class Proof:
    """The comparison of two circuits.

    Equal means: every channel that both have, all visible ones among them, has the same next
    state for every state of all channels. The other channels then cannot matter, now or later:
    by induction over the steps the common ones stay equal, under any boundary and fire rate.
    """

    outputs: tuple[OutputProof, ...]
    dropped: tuple[int, ...]
    """Labels that only one of the circuits has."""
    counterexample: Counterexample | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        verdicts = {output.verdict for output in self.outputs}
        if Verdict.different in verdicts:
            return Verdict.different
        return Verdict.unknown if Verdict.unknown in verdicts else Verdict.equal

    @property
    def equal(self) -> bool:
        return self.verdict is Verdict.equal

    @property
    def cases(self) -> int:
        """Cases that were gone through, each output's up to its first difference."""
        return sum(output.cases for output in self.outputs)

    @property
    def conflicts(self) -> int:
        """Conflicts that the solver met, over all outputs."""
        return sum(output.conflicts for output in self.outputs)

    def count(self, method: Method) -> int:
        """Return how many outputs were decided that way."""
        decided = [output for output in self.outputs if output.verdict is not Verdict.unknown]
        return sum(output.method == method for output in decided)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return fields_of(self, "verdict", "cases", "conflicts")


def differences(one: Automaton, other: Automaton) -> list[str]:
    """Say in which of the things around their circuits two automata differ, if in any."""
    pairs = (
        ("boundary", one.boundary, other.boundary),
        ("fire rate", one.fire_rate, other.fire_rate),
        ("visible channels", sorted(one.visible), sorted(other.visible)),
    )
    return [f"{name} {first}, and {second}" for name, first, second in pairs if first != second]
