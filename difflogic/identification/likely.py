"""What is likely where a recording does not decide: odds of rules, entries and next frames.

Every radius, number of steps and family is a hypothesis, weighed by its evidence. Rows and grids
may wrap, or be cut out of something larger; both are hypotheses, too. Where a neighbourhood is cut
off at an edge, all ways to complete it count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from difflogic.identification.families import Density, Edges, Fitted, Odds, Seen, States, families
from difflogic.identification.rules import COARSER, UNSEEN, Offsets, Space, shifted
from difflogic.identification.several_steps import SeveralSteps
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.elementary import exponential, log_sum, logarithm
from difflogic.system.errors import ConfigError

Before = tuple[States, States]
"""A frame before and the one after it, shape (height, width) each; UNSEEN for unseen cells. For
rules with memory two frames before, (2, height, width)."""

GAPS = {1: 0.9, 2: 0.06, 3: 0.025, 4: 0.015}
"""The prior of each number of steps from one frame to the next."""
RADII = {"line-1": 0.6, "line-2": 0.25, "line-3": 0.15}
"""The prior of each radius of a line."""
WRAPS = 0.5
"""The prior of frames that wrap."""
NEXT_WRAPS = {True: 0.95, False: 0.35}
"""Whether a frame to predict wraps if the recorded ones do, or do not."""
LEAST_LIKELIHOOD = 1e-4
"""Hypotheses that are less likely than this, compared with the first, are dropped."""
COMPLETIONS = 256
"""Ways to fill unknown cells of a neighbourhood; if there are more, as many random ones."""
MOST_WEIGHED_CELLS = 2**20
"""Cells to look at, all those of the last pair included: more would change no odds that matter."""
MOST_EDGES = 200
"""Cells without a whole neighbourhood from which to learn."""
BLOCK = 2**11
"""Neighbourhoods whose odds are asked for at once, at least."""
EVERY = slice(None)
NEEDS_THREE = (
    "a rule with memory needs three frames that follow each other, and neither --noise nor --hidden"
)
SOLVING = 2.0
"""Seconds for hidden steps."""
DEEP_FAMILIES = ("none", "outer-sum", "outer-totalistic", "totalistic")
"""Families that are tried with hidden steps."""


@dataclass(frozen=True)
class Hypothesis:
    """A family of rules that explains a recording."""

    family: str
    space: Space
    """The smallest space with all rules of the family."""
    gap: int
    wraps: bool
    fitted: Fitted
    evidence: float
    """The logarithm of the probability of the recording and of the hypothesis."""
    probability: float = 0.0


@dataclass(frozen=True)
class Likely:
    """Hypotheses about a recording, most probable first."""

    states: int
    hypotheses: tuple[Hypothesis, ...]

    @property
    def summary(self) -> list[tuple[str, float]]:
        """Families with their neighbourhoods and steps, and how probable each is, best first."""
        found: dict[str, float] = {}
        for each in self.hypotheses:
            steps = "1 step" if each.gap == 1 else f"{each.gap} steps"
            what = f"{each.family}, {each.space.neighbourhood}, {steps}"
            found[what] = found.get(what, 0) + each.probability
        return sorted(found.items(), key=lambda item: -item[1])

    def predict(self, frame: States, boundary: str = "auto") -> Odds:
        """Return the probability of each state in the next frame, shape (states, height, width).

        Cells of the frame may be UNSEEN. Rules with memory need two frames, (2, height, width).
        """
        *_, height, width = frame.shape
        found: Odds = np.zeros((self.states, height * width))
        for each in self.hypotheses:
            wraps = NEXT_WRAPS[each.wraps]
            shares = {"periodic": wraps, "unknown": 1 - wraps}
            for edge, share in shares.items() if boundary == "auto" else [(boundary, 1.0)]:
                around = neighbourhoods(frame, reach(each.space, each.gap), edge)
                odds = _averaged(each.fitted, around, self.states)
                found += each.probability * share * odds
        return found.reshape(self.states, height, width)

    def entries(self, space: Space, some: Sequence[int] | slice = EVERY) -> Odds:
        """Return the probability of each state by entry of a space, shape (states, entries)."""
        examples = space.digits[:, space.examples[some]]
        found: Odds = np.zeros((self.states, examples.shape[1]))
        for each in self.hypotheses:
            if each.space.neighbourhood != space.neighbourhood:
                continue
            of = each.fitted
            if isinstance(of, SeveralSteps):
                odds = of.entries(space)[:, some]
            else:
                odds = _in_blocks(of, examples)
            found += each.probability * odds
        found /= np.maximum(found.sum(axis=0), 1e-300)
        return found


def reach(space: Space, gap: int) -> Offsets:
    """Return the cells that a cell depends on after some steps."""
    if gap == 1:
        return space.offsets
    far = gap * (space.cells // 2)
    return tuple((0, dx) for dx in range(-far, far + 1))


def neighbourhoods(frame: States, offsets: Offsets, boundary: str) -> States:
    """Return the cells around each cell, UNSEEN beyond an unknown edge, shape (cells, n).

    Of two frames, the last row has the cell itself in the first one.
    """
    *earlier, frame = frame.reshape(-1, *frame.shape[-2:])
    around = [shifted(frame, each, boundary) for each in offsets]
    return np.stack([each.reshape(-1) for each in (*around, *earlier)])


def _ways(around: States, states: int) -> States:
    """Return a neighbourhood, shape (cells,), with its UNSEEN cells filled in all ways."""
    free = np.flatnonzero(around == UNSEEN)
    if states ** len(free) <= COMPLETIONS:
        ways = np.arange(states ** len(free)) // states ** np.arange(len(free))[:, None] % states
    else:
        ways = np.random.default_rng(0).integers(0, states, (len(free), COMPLETIONS))
    filled = np.repeat(around[:, None], ways.shape[1], axis=1)
    filled[free] = ways
    return filled


def _in_blocks(fitted: Fitted, asked: States) -> Odds:
    """Return odds after neighbourhoods: asked together, each rule's values of all are in memory."""
    blocks = np.array_split(asked, max(1, asked.shape[1] // BLOCK), axis=1)
    return np.concatenate([fitted.odds(block) for block in blocks], axis=1)


def _averaged(fitted: Fitted, around: States, states: int) -> Odds:
    """Return odds after neighbourhoods with UNSEEN cells: the mean over all their values."""
    found: Odds = np.zeros((states, around.shape[1]))
    whole = (around != UNSEEN).all(axis=0)
    found[:, whole] = _in_blocks(fitted, around[:, whole])
    for column in np.flatnonzero(~whole).tolist():
        found[:, column] = fitted.odds(_ways(around[:, column], states)).mean(axis=1)
    return found


def weigh(
    pairs: Sequence[Before],
    spaces: Sequence[Space],
    gaps: Sequence[int] = (1,),
    boundary: str = "auto",
    deadline: Deadline = NEVER,
) -> Likely:
    """Weigh all families of rules of some spaces, with these numbers of steps from pair to pair.

    `boundary` is periodic, zero, unknown, or auto for periodic and unknown. Raises ConfigError if
    no hypothesis explains the pairs, and OutOfTimeError if the deadline passes.
    """
    if not pairs:
        raise ConfigError(NEEDS_THREE)
    solving = Deadline.after(SOLVING)
    states = spaces[0].states
    sizes = np.cumsum([before.size for before, _ in pairs])
    pairs = pairs[: 1 + int(np.searchsorted(sizes, MOST_WEIGHED_CELLS))]
    sides = ("unknown", "periodic") if boundary == "auto" else (boundary,)
    found = []
    for space, gap, edge in product(spaces, gaps, sides):
        hood = space.neighbourhood
        data = _observed(pairs, reach(space, gap), edge, states)
        if data is None:
            continue
        seen, rest = data
        side = WRAPS if edge == "periodic" else 1 - WRAPS
        prior = rest + float(logarithm(side * GAPS.get(gap, 0.01) * RADII.get(hood, 1)))
        for family in families(hood, states, space.memory):
            deadline.require("all kinds of rules were weighed")
            if gap > 1 and family.name not in DEEP_FAMILIES:
                continue
            if family.space.symmetry not in (space.symmetry, *COARSER[space.symmetry]):
                continue
            deep = partial(SeveralSteps, family.space, gap, deadline=solving)
            fitted = family.fit(seen) if gap == 1 else deep(seen)
            evidence = prior + float(logarithm(family.prior)) + fitted.evidence
            if evidence > -np.inf:
                found.append(
                    Hypothesis(family.name, family.space, gap, edge == "periodic", fitted, evidence)
                )
    if not found:
        raise ConfigError(
            "no rule of these neighbourhoods and steps explains all cells: try others, less "
            "--symmetry, --noise if cells may be wrong, or --chance"
        )
    most = max(each.evidence for each in found)
    found = [each for each in found if each.evidence > most + float(logarithm(LEAST_LIKELIHOOD))]
    total = log_sum(np.array([each.evidence for each in found]))
    shares = exponential(np.array([each.evidence for each in found]) - total).tolist()
    likely = [replace(each, probability=p) for each, p in zip(found, shares, strict=True)]
    return Likely(states, tuple(sorted(likely, key=lambda each: -each.probability)))


def _observed(
    pairs: Sequence[Before], offsets: Offsets, boundary: str, states: int
) -> tuple[Seen, float] | None:
    """Return what was seen, and what edges beyond the first cost: as entries of their own.

    The cost is the logarithm of a probability. None if one neighbourhood is followed by several
    states, or if none is whole.
    """
    around = np.concatenate(
        [neighbourhoods(before, offsets, boundary) for before, _ in pairs], axis=1
    )
    after = np.concatenate([each.reshape(-1) for _, each in pairs])
    known = after != UNSEEN
    whole = known & (around != UNSEEN).all(axis=0)
    both = np.vstack([around[:, whole], after[whole]])
    if states ** len(both) < 2**62:
        places = states ** np.arange(len(both))[::-1]
        both = np.unique(places @ both) // places[:, None] % states
    else:
        both = np.unique(both, axis=1)
    if not both.size or (both[:-1, 1:] == both[:-1, :-1]).all(axis=0).any():
        return None
    cut = np.flatnonzero(known & ~whole)
    some = cut[:MOST_EDGES]
    ways = [_ways(each, states) for each in around[:, some].T]
    ends = np.cumsum([each.shape[1] for each in ways], dtype=int)
    edges = Edges(np.concatenate([around[:, :0], *ways], axis=1), ends, after[some])
    density = Density(states)
    base = np.bincount(after[whole], minlength=states)
    more = base + np.bincount(after[cut[MOST_EDGES:]], minlength=states)
    rest = float(density.evidence(more) - density.evidence(base))
    return Seen(both[:-1], both[-1], edges), rest
