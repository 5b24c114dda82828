"""Rules by chance: how often each state follows each entry, and how likely another reading is.

Families are weighed as in `likely`, but several states may follow an entry. Their probabilities
are free: such an entry costs what a Dirichlet-multinomial with Jeffreys' prior costs, and which
entries need chance costs, too. The others count as those of a plain rule.

A cell recorded wrongly shows twice: in the frame where it is wrong, and in the next. A cell that
chance changed shows once. So cells are set right, one by one, as long as fewer transitions differ
from the commonest ones. The film so mended, with its wrong cells, competes with the film as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.circuit.colors import hex_color
from difflogic.examples.film import FrameArray, Recording
from difflogic.identification.families import Density, Odds, families
from difflogic.identification.independence import NONE_SEEN, Dependence, compare
from difflogic.identification.likely import RADII
from difflogic.identification.rules import COARSER, NEIGHBOURHOODS, Space, shifted, spread_states
from difflogic.identification.votes import count
from difflogic.system.array_types import Flags, Int64s
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.elementary import exponential, log_sum, logarithm
from difflogic.system.errors import ConfigError
from difflogic.system.files import write_output
from difflogic.system.json_values import chosen, json_value
from difflogic.system.quantities import counted
from difflogic.system.work import tell

Counts = Int64s

LEVEL = 0.99
"""Probability that all intervals together hold."""
MOST_MENDED_CELLS = 2**16
MOST_PASSES = 24
"""Cells, of the first frames that a plain rule does not explain, to be set right; and how often."""
DECISIVE = 3.0
"""Log odds that decide between readings."""
MOST_NUMBERS = 2**16
"""Probabilities in a file: `strict_json` reads that many."""

_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


@dataclass(frozen=True)
class Chances:
    """How often each state followed each entry of the likeliest family, and other readings."""

    film: Recording
    space: Space
    boundary: str
    counts: Counts
    """Shape (entries, states)."""
    families: tuple[tuple[str, float], ...]
    """Families with their neighbourhoods, and how probable each is, best first."""
    wrong: int = 0
    """Cells of some frames that are recorded wrongly by the other reading."""
    left: int = 0
    """Transitions of these frames that differ from a plain rule even then."""
    noise: float = 0.0
    """The log odds of that reading, against chance without wrong cells."""
    dependence: Dependence = NONE_SEEN
    """How deviations hang together."""

    @cached_property
    def drawn(self) -> Flags:
        """Which entries need chance: several states followed them."""
        return np.asarray((self.counts > 0).sum(axis=1) > 1)

    @cached_property
    def odds(self) -> Odds:
        """The share of each state, shape (entries, states).

        An entry that was never seen has those of all entries with its centre, or of all.
        """
        centres = self.space.digits[self.space.centre, self.space.examples]
        counts = self.counts
        pooled = np.stack([counts[centres == s].sum(axis=0) for s in range(self.space.states)])
        pooled = np.where(pooled.any(axis=1, keepdims=True), pooled, counts.sum(axis=0))
        full = np.where(counts.any(axis=1, keepdims=True), counts, pooled[centres])
        return np.asarray(full / full.sum(axis=1, keepdims=True))

    @cached_property
    def intervals(self) -> Odds:
        """Clopper-Pearson intervals of the shares, (2, entries, states), LEVEL for all at once."""
        free = self.counts.any(axis=1).sum() * (self.space.states - (self.space.states == 2))
        total = np.broadcast_to(self.counts.sum(axis=1, keepdims=True), self.counts.shape)
        both = np.stack([self.counts.ravel(), total.ravel()])
        (k, n), where = np.unique(both, axis=1, return_inverse=True)
        ends = clopper_pearson(k, n, (1 - LEVEL) / max(1, int(free)))
        return ends[:, where.reshape(-1)].reshape(2, *total.shape)

    def describe(self, entry: int) -> str:
        """Say how often what follows an entry, commonest first."""
        counts = self.counts[entry]
        told = []
        for state in sorted(np.flatnonzero(counts).tolist(), key=lambda s: -int(counts[s])):
            share = 100 * self.odds[entry, state]
            (low, high) = 100 * self.intervals[:, entry, state]
            told.append(f"{state} in {share:.3g} % ({low:.3g} to {high:.3g})")
        return (
            f"{self.space.describe(entry)} → {', '.join(told)} of {counted(counts.sum(), 'case')}"
        )

    @property
    def hint(self) -> str:
        """Name the entry that needs chance most often, if chance explains the recording well."""
        if not (self.drawn.any() and self.noise < -DECISIVE and self.dependence.independent):
            return ""
        entry = int((self.counts.sum(axis=1) - self.counts.max(axis=1)).argmax())
        kind = f"Counted as {self.families[0][0]}"
        noise = "" if self.left else ", or wrong cells? --noise"
        return f"{kind}: {self.describe(entry)}: a rule by chance? --chance{noise}"

    @property
    def reading(self) -> str:
        """Say whether chance is needed, or wrong cells are as likely."""
        if not self.drawn.any():
            return "nothing needs chance: each entry that was seen was followed by one state"
        if self.dependence.remembered:
            return "neither chance nor wrong cells explain what follows the frame before alone"
        rest = f"all but {counted(self.left, 'transition')}" if self.left else "all"
        part = f"in {MOST_MENDED_CELLS} cells, "
        part = part if self.film.frames.size > MOST_MENDED_CELLS else ""
        plain = f"{part}with {counted(self.wrong, 'wrong cell')}, a plain rule explains {rest}"
        odds = f"10^{abs(self.noise) / math.log(10):.1f} : 1"
        if self.left and self.noise < -DECISIVE:
            return f"chance is likelier than wrong cells, {odds}"
        how = "likelier than" if self.noise > DECISIVE else "about as likely as"
        how = "less likely than" if self.noise < -DECISIVE else how
        return f"{plain}: {how} chance, {odds}; see --noise"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as values for JSON; a file of them is what `drawn` reads."""
        _, frames, height, width = self.film.frames.shape
        each = self.counts, self.odds, *self.intervals
        names = "counts", "probabilities", "low", "high"
        return {
            "format": "dct-chance",
            "version": 1,
            "recording": self.film.source,
            **chosen(self.space, "neighbourhood", "symmetry", "states"),
            "boundary": self.boundary,
            "height": height,
            "width": width,
            "steps": frames - 1,
            "palette": [*map(hex_color, self.film.palette)],
            **chosen(self, "families", "wrong", "left", "noise"),
            **chosen(self.dependence, "together", "where", "independent", "earlier", "remembered"),
            "table": [
                {"entry": self.space.describe(entry), **dict(zip(names, row, strict=True))}
                for entry, row in enumerate(zip(*(x.tolist() for x in each), strict=True))
            ],
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the rule as JSON, one entry per line, for `simulate` and `render`.

        Raises ConfigError if it is too large, and RunDirectoryError.
        """
        if self.counts.size > MOST_NUMBERS:
            raise ConfigError(
                f"{path}: a file holds {MOST_NUMBERS} probabilities, not {self.counts.size}: give "
                "more --symmetry, or leave it out"
            )
        text = json.dumps(json_value(self)).replace('{"entry"', '\n{"entry"') + "\n"
        write_output(path, text, force)


def clopper_pearson(k: Counts, n: Counts, alpha: float) -> Odds:
    """Return intervals of the share of k in n cases, each of level 1 - alpha, shape (2, len(k)).

    Source: Clopper and Pearson 1934.
    """
    return np.stack([_lowest(k, n, alpha / 2), 1 - _lowest(n - k, n, alpha / 2)])


def _lowest(k: Counts, n: Counts, alpha: float) -> Odds:
    """Return the shares by which k or more of n cases have the probability alpha; 0 without k.

    The tail is an incomplete beta function, by its continued fraction and Lentz's method.
    Source: Press et al. 2007, Numerical Recipes, section 6.4.
    """
    a = np.maximum(k, 1.0)
    b = np.maximum(n - a + 1, 1.0)
    gammas = _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    scale = np.asarray(gammas, float) - logarithm(a)
    low = np.zeros(len(a))
    high = a / np.maximum(n, 1)
    for _ in range(48):
        x = (low + high) / 2
        c = np.ones(len(a))
        d = 1 / (1 - (a + b) * x / (a + 1))
        h = d
        m = 0
        while (np.abs(c * d - 1) > 1e-12).any() or m == 0:
            m += 1
            for factor in (m * (b - m) / (a + 2 * m - 1), -(a + m) * (a + b + m) / (a + 2 * m + 1)):
                term = factor * x / (a + 2 * m)
                c, d = 1 + term / c, 1 / (1 + term * d)
                h = h * c * d
        below = logarithm(h) + a * logarithm(x) + b * logarithm(1 - x) + scale < math.log(alpha)
        low, high = np.where(below, x, low), np.where(below, high, x)
    return np.where(k > 0, low, 0.0)


def evidence(counts: Counts) -> float:
    """Return the log probability of what followed the entries, given what was before."""
    states = counts.shape[1]
    drawn = (counts > 0).sum(axis=1) > 1
    plain = np.bincount(counts[~drawn & counts.any(axis=1)].argmax(axis=1), minlength=states)
    n = counts[drawn]
    free = _log_gamma(n + 0.5).sum() - _log_gamma(n.sum(axis=1) + states / 2).sum()
    free += len(n) * (math.lgamma(states / 2) - states * math.lgamma(0.5))
    return float(free + Density(states).evidence(plain)) + _chosen(len(n), int(plain.sum()))


def _chosen(some: int, others: int) -> float:
    """Return the log probability that just these are chosen, if every share is as probable."""
    return math.lgamma(some + 1) + math.lgamma(others + 1) - math.lgamma(some + others + 2)


def find(film: Recording, within: Space, boundary: str, deadline: Deadline = NEVER) -> Chances:
    """Return the likeliest family with no other cells and no less symmetry than `within`.

    The recording has no unseen cells. Raises OutOfTimeError.
    """
    found = sorted(_weighed(film, within, boundary, deadline), key=lambda each: -each[0])
    terms = np.array([each[0] for each in found])
    names = [f"{space.symmetry}, {space.neighbourhood}" for _, space in found]
    likely = tuple(zip(names, exponential(terms - log_sum(terms)).tolist(), strict=True))
    space = found[0][1]
    counts = count(film, space, boundary, deadline).counts
    alone = Chances(film, space, boundary, counts, likely)
    if not alone.drawn.any():
        return alone
    before = film.frames[:, :-1]
    entries = space.entry_of[spread_states(before, space, boundary)]
    patterns = spread_states(before, within, boundary)
    seen = compare(film.frames, entries, patterns, alone.odds)
    wrong, left, noise = _mended(film, space, boundary, deadline)
    return replace(alone, wrong=wrong, left=left, noise=noise, dependence=seen)


def _weighed(
    film: Recording, within: Space, boundary: str, deadline: Deadline
) -> Iterator[tuple[float, Space]]:
    """Yield families with their log probabilities."""
    hoods = [name for name, each in NEIGHBOURHOODS.items() if {*each} <= {*within.offsets}]
    for number, hood in enumerate(hoods):
        deadline.require("all was counted")
        tell("neighbourhoods counted:", number, len(hoods), hood)
        finest = Space(hood, "none", film.states)
        counts = count(film, finest, boundary, deadline).counts
        seen = counts.any(axis=1)
        digits = finest.digits[:, finest.examples[seen]]
        known = families(hood, film.states)
        priors = {within.symmetry: 1.0} | {each.name: each.prior for each in known}
        for symmetry in filter(priors.get, (*COARSER[within.symmetry], within.symmetry)):
            space = Space(hood, symmetry, film.states)
            entries = np.unique(space.keys(digits), return_inverse=True)[1].reshape(-1)
            merged = np.zeros((entries.max() + 1, film.states), np.int64)
            np.add.at(merged, entries, counts[seen])
            prior = float(logarithm(priors[symmetry] * RADII.get(hood, 1)))
            yield prior + evidence(merged), space


def _mended(
    film: Recording, space: Space, boundary: str, deadline: Deadline
) -> tuple[int, int, float]:
    """Return how many cells are wrong and transitions differ even then, and the log odds."""
    (films, frames) = film.frames.shape[:2]
    cells = film.frames[0, 0].size
    few = min(frames, max(2, MOST_MENDED_CELLS // cells))
    some = max(1, MOST_MENDED_CELLS // (few * cells))

    def votes() -> Counts:
        return count(replace(film, frames=right), space, boundary, deadline).counts

    for one, first in product(range(0, films, some), range(0, frames - 1, few - 1)):
        part = film.frames[one : one + some, first : first + few]
        rng = np.random.default_rng(0)
        right = part.copy()
        before = after = votes()
        if (before.max(axis=1) < before.sum(axis=1)).any():
            break
    for number in range(MOST_PASSES):
        tell("passes over wrong cells:", number, None)
        gains, states = _gains(right, space.spread(after.argmax(axis=1)), space, boundary)
        if (most := int(gains.max())) < 1:
            break
        # Not all at once: two cells may gain from the same transition.
        chosen = (2 * gains >= most) & (rng.random(gains.shape) < 0.5)
        right[chosen] = states[chosen]
        after = votes()
    wrong = int((right != part).sum())
    rate = _chosen(wrong, right.size - wrong) - wrong * math.log(film.states - 1)
    left = int(after.sum() - after.max(axis=1).sum())
    return wrong, left, rate + evidence(after) - evidence(before)


def _gains(
    frames: FrameArray, table: Counts, space: Space, boundary: str
) -> tuple[Counts, FrameArray]:
    """Return by how many fewer transitions would differ if a cell had another state, and which.

    `table` has the commonest next state by pattern.
    """
    beyond = "unknown" if boundary == "zero" else boundary
    now = frames[:, :-1]
    after = frames[:, 1:]
    patterns = spread_states(now, space, boundary)
    gains = np.full(frames.shape, -len(space.offsets) - 1)
    states = frames.copy()
    for shift in range(1, space.states):
        other = (frames + shift) % space.states
        gain = np.zeros(frames.shape, np.int64)
        gain[:, 1:] = (table[patterns] != after) * 1 - (table[patterns] != other[:, 1:])
        for weights, (dy, dx) in zip(space.weights, space.offsets, strict=True):
            reader, following = (shifted(x, (-dy, -dx), beyond) for x in (patterns, after))
            changed = np.where(reader < 0, 0, reader + weights[other[:, :-1]] - weights[now])
            less = (table[reader] != following) * 1 - (table[changed] != following)
            gain[:, :-1] += np.where(reader < 0, 0, less)
        states = np.where(gain > gains, other, states)
        gains = np.maximum(gain, gains)
    return gains, states
