"""Proving two circuits equal: `prove`."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.circuit.automaton import Automaton
from difflogic.library.declaration import TimeLimit
from difflogic.library.exchange import ProgressCallback
from difflogic.library.loaded import Loaded, Source, load
from difflogic.library.simplifying import proved, simplify
from difflogic.proof import Proof
from difflogic.system.callbacks import ignore


@dataclass(frozen=True)
class Compared:
    """Whether two automata are equal: the same rule, and no other difference."""

    one: Loaded
    other: Loaded
    proof: Proof
    other_differences: tuple[str, ...]
    """Differences outside the circuits: boundary, fire rate, grid, steps, start, visible channels
    and their order, palette, encoding of examples."""

    def __repr__(self) -> str:
        return f"Compared({self.one.name!r}, {self.other.name!r}, equal={self.equal})"

    @property
    def same_rule(self) -> bool:
        """Whether all channels that both have get the same next state."""
        return self.proof.equal

    @property
    def equal(self) -> bool:
        return self.same_rule and not self.other_differences


def prove(
    source: Source,
    against: Source | None = None,
    *,
    time_limit: TimeLimit = None,
    progress: ProgressCallback = ignore,
) -> Compared:
    """Prove two automata equal, or one equal to its simplified form, or find a difference.

    Channels are matched by number. The same rule means that every channel that both have gets the
    same next state, for every state of the nine cells. Equal automata also share boundary, fire
    rate, grid, steps, start, visible channels in their order, palette and encoding. Raises what
    `load` raises, and CircuitError if a visible channel is missing in one of them.
    """
    one = load(source)
    if against is None:
        found = simplify(one, time_limit=time_limit, progress=progress)
        other, proof = load(found.automaton), found.proof
    else:
        other = load(against)
        proof = proved(one.automaton, other.automaton.circuit, time_limit, progress)
    return Compared(one, other, proof, tuple(_differences(one.automaton, other.automaton)))


def _differences(one: Automaton, other: Automaton) -> list[str]:
    """List how two automata differ in what is done or seen, apart from their circuits."""
    pairs = (
        ("boundary", one.boundary, other.boundary),
        ("fire rate", one.fire_rate, other.fire_rate),
        ("grid", f"{one.height}×{one.width}", f"{other.height}×{other.width}"),
        ("steps", one.steps, other.steps),
        ("start", one.start, other.start),
        ("visible channels", list(one.visible), list(other.visible)),
    )
    found = [f"{name} {first} and {second}" for name, first, second in pairs if first != second]
    kept = ("palette", "encoding")
    return [*found, *(key for key in kept if getattr(one, key) != getattr(other, key))]
