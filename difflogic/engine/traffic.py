"""The rows that a program moves between registers and memory, its limit besides arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.engine.kernels import structures as k
from difflogic.engine.program import Program


@dataclass(frozen=True)
class Traffic:
    """Rows of a tile that are loaded and stored. A row holds a number per lane."""

    loads: int
    stores: int

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.loads + other.loads, self.stores + other.stores)

    @property
    def rows(self) -> int:
        return self.loads + self.stores


def training(program: Program) -> Traffic:
    """Return a tile's traffic in one automaton step: values forward, values again, gradients.

    The sums of a gate are not counted, since they stay next to the registers.
    """
    return values(program.forward) + values(program.backward) + walk_back(program.backward)


def values(code: k.Code) -> Traffic:
    """Return the traffic of evaluating all gates."""
    linked = (code.gates[:, k.FLAGS] & k.LINKED) != 0
    runs, stars = int(code.runs[:, k.WIDTH].sum()), int(code.stars[:, k.STAR_WIDTH].sum())
    gates = len(code.gates)
    return Traffic(2 * gates - int(linked.sum()) + 2 * runs + 5 * stars, gates + runs + stars)


def walk_back(code: k.Code) -> Traffic:
    """Return the traffic of the gradients of all gates, and of the values that they use."""
    flags, gates = code.gates[:, k.FLAGS], len(code.gates)
    link, linked, add_a, add_b = (
        (flags & bit) != 0 for bit in (k.LINK, k.LINKED, k.ADD_A, k.ADD_B)
    )
    # Linked gates keep their shared value and gradient in registers.
    chains = Traffic(
        2 * gates + int((~linked).sum() + add_b.sum() + (add_a & ~link).sum()),
        gates + int((~link).sum()),
    )
    width, flags = code.runs[:, k.WIDTH], code.runs[:, k.FLAGS]
    adds = ((flags & k.ADD_A) != 0) * width + ((flags & k.ADD_B) != 0) * width
    runs = Traffic(3 * int(width.sum()) + int(adds.sum()), 2 * int(width.sum()))
    width = code.stars[:, k.STAR_WIDTH]
    added = int(sum(width @ (code.stars[:, k.STAR_ADDS] >> read & 1) for read in range(5)))
    stars = int(width.sum())
    # Loads: leaves, centre, the output's gradient, and the gradients that are added to.
    return chains + runs + Traffic(6 * stars + added, 5 * stars)
