"""The question whether every start ends in the target, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from difflogic.circuit.automaton import Automaton, places
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary, Walls
from difflogic.proof.convergence.planes import Board, Network, Planes
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.question import Asked
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits, Words


@dataclass(frozen=True, eq=False)
class Convergence:
    """Asks whether the visible channels reach `target` from every start, and keep it."""

    circuit: Circuit
    visible: tuple[int, ...]
    """Labels of the visible channels."""
    height: int
    width: int
    boundary: Boundary | Walls
    target: Bits
    """Shape (visible channels, height, width)."""
    fire_rate: float = 1.0
    """If below 1, the answer covers every fair schedule."""

    @classmethod
    def of(cls, automaton: Automaton, target: Bits) -> Convergence:
        """Ask about an automaton, on the target's grid."""
        made = automaton
        (_, height, width) = target.shape
        return cls(made.circuit, made.visible, height, width, made.boundary, target, made.fire_rate)

    @property
    def synchronous(self) -> bool:
        """Whether all cells fire at every step."""
        return self.fire_rate == 1

    @property
    def asked(self) -> Asked:
        """The question in plain values."""
        return Asked(
            "stays",
            "every start",
            self.height,
            self.width,
            self.boundary,
            self.fire_rate,
            self.visible,
        )

    @cached_property
    def board(self) -> Board:
        return Board(self.height, self.width, self.boundary)

    @cached_property
    def network(self) -> Network:
        return Network(self.circuit)

    @cached_property
    def visible_places(self) -> tuple[int, ...]:
        """Positions of the visible channels."""
        return places(self.circuit, self.visible)

    @cached_property
    def target_planes(self) -> Planes:
        """The target, one plane per visible channel."""
        return tuple(self.board.pack(channel) for channel in self.target)

    @cached_property
    def _target_words(self) -> Words:
        return self.board.words(self.target)

    def is_right(self, state: Planes) -> bool:
        """Return whether a state shows the target."""
        return all(
            state[c] == plane
            for c, plane in zip(self.visible_places, self.target_planes, strict=True)
        )

    def is_always_right(self, state: Sets) -> bool:
        """Return whether every state in these sets shows the target."""
        shown = state[:, list(self.visible_places)]
        return bool((shown == self._target_words).all())


@dataclass(frozen=True)
class Counterexample:
    """A repeating state that misses the target, confirmed by the plain interpreter."""

    start: Bits
    """Shape (channels, height, width)."""
    period: int
    """Steps after which the state repeats; 1 is a fixed point, under any schedule."""


@dataclass(frozen=True)
class MethodRun:
    """One attempt: its method, outcome, and time in seconds."""

    method: str
    outcome: str
    seconds: float


@dataclass(frozen=True)
class Finding:
    """The answer to a question."""

    question: Convergence
    verdict: Verdict
    method: str | None
    """None if not decided."""
    from_step: int | None
    """If proved: every start is right at this step and at all later ones."""
    known: Bits
    """Final values of the visible channels from any start: 0, 1, or 2 for unknown.

    Shape (visible channels, height, width).
    """
    final_sets: Sets
    """Sets that finally contain every state, from any start."""
    within: int = 0
    """After how many steps they do."""
    states: tuple[Sets, ...] = ()
    """If proved by sets: the sets of each step from 0 to `from_step`."""
    counterexample: Counterexample | None = None
    attempts: tuple[MethodRun, ...] = ()
    seconds: float = 0.0

    @property
    def any_schedule(self) -> bool:
        """Whether the verdict holds under every fair schedule, counted in rounds.

        Proofs by sets and fixed points do. Others need all cells to fire at every step.
        """
        fixed = self.counterexample is not None and self.counterexample.period == 1
        return bool(self.states) or fixed

    @property
    def unknown_cells(self) -> int:
        """Number of cells with a visible channel that stays unknown."""
        return int((self.known > 1).any(axis=0).sum())
