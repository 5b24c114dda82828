"""Families of rules, with their evidence: how probable what was seen is for a rule drawn from one.

A family is fitted to neighbourhoods that were seen, and to what followed. It knows its evidence,
and the probability of each state after any neighbourhood. Rules of a table are drawn entry by
entry: one state, the background, with some probability, and the others with equal ones. All
backgrounds and a grid of densities are averaged, so nothing is tuned to a recording.

Arrays of neighbourhoods have the shape (cells, n), their next states (n,), probabilities (states,
n). Source: Bayesian model averaging, as in MacKay 2003, chapter 28.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from difflogic.identification.rules import Space
from difflogic.system.array_types import Array, Float64s, Int64s
from difflogic.system.elementary import exponential, log_sum, logarithm

States = Int64s
Odds = Float64s

DENSITIES = np.linspace(0.05, 0.95, 19)
"""Shares of entries whose state is not the background."""
MOST_LINEAR = 2**12
"""Coefficients to try: all if there are at most this many, else those with at most three not 0."""


@dataclass(frozen=True)
class Edges:
    """Cells whose neighbourhood is not seen whole: all ways to complete it, and what followed."""

    ways: States
    """Neighbourhoods, of one cell after the other."""
    ends: States
    """For each cell, where its ways end."""
    after: States

    @property
    def starts(self) -> States:
        return np.append(0, self.ends)[:-1]

    def shares(self, values: States) -> Odds:
        """Return how many of a cell's ways lead to what followed, shape (rules, cells).

        `values` has what follows each way by some rules, shape (rules, ways).
        """
        sizes = self.ends - self.starts
        right = values == np.repeat(self.after, sizes)
        found: Odds = np.add.reduceat(right, self.starts, axis=1, dtype=float) / sizes
        return found


@dataclass(frozen=True)
class Seen:
    """Distinct neighbourhoods, what followed each, and cells at edges."""

    around: States
    after: States
    edges: Edges


def sure(states: int, values: States) -> Odds:
    """Return probabilities 1 for values that are known."""
    return np.asarray(np.arange(states)[:, None] == values, float)


class Density:
    """The prior of a table's entries, and what it becomes once some are known."""

    def __init__(self, states: int) -> None:
        background = np.where(np.arange(states) == 0, 0.5, 0.5 / (states - 1))
        odds: Odds = np.where(
            np.eye(states, dtype=np.bool_)[:, None],
            1 - DENSITIES[:, None],
            DENSITIES[:, None] / (states - 1),
        )
        self._odds = odds.reshape(-1, states)
        """By background and density, of each state."""
        self._weights = np.repeat(logarithm(background / len(DENSITIES)), len(DENSITIES))
        self._logs = logarithm(odds).reshape(-1, states)

    def evidence(self, counts: Array) -> Odds:
        """Return the log probability of entries with these numbers of states, shape (…, states)."""
        return log_sum(self._terms(counts))

    def next(self, counts: Array) -> Odds:
        """Return the probability of each state in another entry, shape (states,)."""
        terms = self._terms(counts)
        shares = exponential(terms - log_sum(terms))
        found: Odds = (shares[:, None] * self._odds).sum(axis=0)
        return found

    def _terms(self, counts: Array) -> Odds:
        terms: Odds = (counts[..., None, :] * self._logs).sum(axis=-1) + self._weights
        return terms


class Tabular:
    """Rules with a symmetry of a space.

    With `difference`, an entry says the sum of what follows and the cell one frame earlier, the
    last one. Entries that only edges tell about have odds of their own. They are updated cell by
    cell, as if entries were independent: assumed-density filtering, as in Minka 2001, section 3.1.
    """

    def __init__(self, space: Space, seen: Seen, difference: bool = False) -> None:
        self._space = space
        self._difference = difference
        around, meaning = self._looked_up(seen.around)
        named = (meaning == seen.after).argmax(axis=0)
        self._keys, first, inverse = np.unique(
            space.keys(around), return_index=True, return_inverse=True
        )
        values = named[first]
        fits = values[inverse.reshape(-1)] == named
        self._density = Density(space.states)
        counts = np.bincount(values, minlength=space.states)
        self.evidence = float(self._density.evidence(counts)) if fits.all() else -np.inf
        self._others = self._density.next(counts)
        self._odds = sure(space.states, values).T
        """Of each state in each entry of `_keys`."""
        if self.evidence > -np.inf:
            self._absorb(seen.edges)

    def _looked_up(self, around: States) -> tuple[States, States]:
        """Return what is looked up, and the state that each value there means, (states, n)."""
        values = np.arange(self._space.states)[:, None]
        if not self._difference:
            return around, np.tile(values, around.shape[1])
        earlier = around[-1]
        now = np.vstack([around[:-1], np.zeros_like(earlier)])
        return now, (values - earlier) % len(values)

    def _absorb(self, edges: Edges) -> None:
        around, meaning = self._looked_up(edges.ways)
        keys = self._space.keys(around)
        new = np.setdiff1d(keys, self._keys)
        odds = np.vstack([self._odds, np.tile(self._others, (len(new), 1))])
        order = np.argsort(merged := np.append(self._keys, new))
        self._keys, odds = merged[order], odds[order]
        entries = np.searchsorted(self._keys, keys)
        for start, end, after in zip(edges.starts, edges.ends, edges.after, strict=True):
            here, inverse = np.unique(entries[start:end], return_inverse=True)
            right = meaning[:, start:end] == after
            gain = np.zeros((len(here), len(right)))
            np.add.at(gain, inverse.reshape(-1), right.T / right.shape[1])
            each = (gain * odds[here]).sum(axis=1, keepdims=True)
            total = each.sum()
            if not total:
                self.evidence = -np.inf
                return
            odds[here] *= (total - each + gain) / total
            self.evidence += float(logarithm(total))
        # Entries count as far as they are known.
        known = np.maximum(odds - self._others, 0) / (1 - self._others)
        self._odds, self._others = odds, self._density.next(known.sum(axis=0))

    def odds(self, asked: States) -> Odds:
        states = self._space.states
        around, meaning = self._looked_up(asked)
        keys = self._space.keys(around)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = self._keys[places] == keys
        named = np.where(known, self._odds[places].T, self._others[:, None])
        found: Odds = np.zeros(named.shape)
        for name, state in zip(named, meaning, strict=True):
            found += np.where(state == np.arange(states)[:, None], name, 0)
        return found


class Threshold:
    """Rules by which the centre's state says what follows few neighbours and what many.

    Neighbours count by the sum of their states. Often few lead to 0, and many leave the centre.
    """

    def __init__(self, space: Space, seen: Seen) -> None:
        states = space.states
        centre = space.centre
        self._states = states
        self._centre = centre
        most = (states - 1) * (space.cells - 1)
        self._limits, self._few, self._many = np.indices((most, states, states)).reshape(3, -1, 1)
        self._limits += 1
        middle = (self._limits[:, 0] > most / 4) & (self._limits[:, 0] <= 3 * most / 4)
        limits = np.where(middle, 4, 1) * states**2 / np.where(middle, 4, 1).sum()
        right = self._values(seen.around) == seen.after
        shares = seen.edges.shares(self._values(seen.edges.ways))
        at_edges = seen.edges.ways[centre, seen.edges.starts]
        self.evidence = 0.0
        weights = []
        for own in range(states):
            usual = ((self._few == 0) & (self._many == own))[:, 0]
            found = limits * (0.5 * usual + 0.5 / states**2)
            found = found * right[:, seen.around[centre] == own].all(axis=1)
            found = found * shares[:, at_edges == own].prod(axis=1)
            total = found.sum()
            self.evidence += float(logarithm(total)) if total else -np.inf
            weights.append(found / (total or 1))
        self._weights = np.stack(weights)
        """Of each rule, by the centre's state."""

    def _values(self, around: States) -> States:
        sums = around.sum(axis=0) - around[self._centre]
        return np.where(sums >= self._limits, self._many, self._few)

    def odds(self, asked: States) -> Odds:
        weights = self._weights[asked[self._centre]].T
        values = self._values(asked)
        return np.stack([(weights * (values == s)).sum(axis=0) for s in range(self._states)])


class Voting:
    """Rules that are few enough to try each; those that fit vote by their weights."""

    states: int

    def values(self, asked: States) -> States:
        """Return what follows each neighbourhood, shape (rules, n)."""
        raise NotImplementedError

    def settle(self, prior: Odds, edges: Edges) -> None:
        """Weigh the rules, whose log probabilities were `prior`."""
        terms = prior + logarithm(edges.shares(self.values(edges.ways))).sum(axis=1)
        self.evidence = float(log_sum(terms))
        self.weights = exponential(terms - max(self.evidence, -1e300))

    def odds(self, asked: States) -> Odds:
        values = self.values(asked)
        return self.votes(values)

    def votes(self, values: States) -> Odds:
        """Return the weight of the rules for each state, given their values, shape (rules, n)."""
        each = [np.where(values == state, self.weights[:, None], 0) for state in range(self.states)]
        return np.stack([weights.sum(axis=0) for weights in each])


class Linear(Voting):
    """Sums of some cells' states, each times a coefficient, plus a constant, modulo the states."""

    def __init__(self, space: Space, seen: Seen) -> None:
        self.states = states = space.states
        every = _coefficients(states, space.cells)
        used = (every != 0).sum(axis=1)
        prior = -logarithm(np.bincount(used)[used] * len(set(used.tolist())))
        step = 1 + len(seen.after) // 64  # what was seen is sorted: neighbours tell little apart
        for some in (slice(None, None, step), slice(None)):  # few are left after the first
            rest = (seen.after[some] - every @ seen.around[:, some]) % states
            fits = (rest == rest[:, :1]).all(axis=1)
            every, prior, rest = every[fits], prior[fits], rest[fits]
        self._coefficients = every
        self._constants = rest[:, :1]
        prior = prior + logarithm(np.where(rest[:, 0] == 0, 0.7, 0.3 / (states - 1)))
        self.settle(prior, seen.edges)

    def values(self, asked: States) -> States:
        return np.asarray((self._coefficients @ asked + self._constants) % self.states)


@cache
def _coefficients(states: int, cells: int) -> States:
    """Return coefficients, not all 0, shape (n, cells)."""
    every = np.indices((states,) * cells, np.int8).reshape(cells, -1).T
    used = (every != 0).sum(axis=1)
    most = cells if len(every) <= MOST_LINEAR else 3
    return np.asarray(every[(used > 0) & (used <= most)], np.int64)


Fitted = Tabular | Threshold | Voting


@dataclass(frozen=True)
class Family:
    """A kind of rules, and how probable it is before anything is seen."""

    name: str
    prior: float
    fit: Callable[[Seen], Fitted]
    space: Space
    """The smallest space with all rules of the family."""


@cache
def families(neighbourhood: str, states: int, memory: bool = False) -> list[Family]:
    """Return the families of a neighbourhood. Priors are relative.

    With memory, each table may also be of the difference from the state one frame earlier.
    """
    kinds: list[tuple[str, float, Callable[..., Fitted], str]] = [
        ("none", 6, Tabular, "none"),
        ("reflections", 1, Tabular, "reflections"),
        ("outer-totalistic", 5 if states == 2 else 1, Tabular, "outer-totalistic"),
        ("totalistic", 4, Tabular, "totalistic"),
        ("threshold", 2, Threshold, "outer-sum"),
        ("linear", 1, Linear, "none"),
    ]
    if not neighbourhood.startswith("line"):
        kinds += [("rotations", 1, Tabular, "rotations"), ("isotropic", 3, Tabular, "isotropic")]
    if states > 2:
        kinds.append(("outer-sum", 5, Tabular, "outer-sum"))
    found = []
    if memory:
        kinds = [each for each in kinds if each[2] is Tabular]
        reversing = partial(Tabular, difference=True)
        kinds += [(f"difference, {name}", prior, reversing, sym) for name, prior, _, sym in kinds]
    for name, prior, kind, symmetry in kinds:
        space = Space(neighbourhood, symmetry, states, memory=memory)
        found.append(Family(name, prior, partial(kind, space), space))
    return found
