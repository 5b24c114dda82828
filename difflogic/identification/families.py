"""Families of rules, with their evidence: how probable what was seen is for a rule drawn from one.

A family is fitted to neighbourhoods that were seen, and to what followed. It knows its evidence,
and the probability of each state after any neighbourhood. Rules of a table are drawn entry by
entry: one state, the background, with some probability, and the others with equal ones. All
backgrounds and a grid of densities are averaged, so nothing is tuned to a recording.

Arrays of neighbourhoods have the shape (cells, n), their next states (n,), probabilities (states,
n). Source: Bayesian model averaging, as in MacKay 2003, chapter 28.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.identification.rules import Space

States = npt.NDArray[np.int64]
Odds = npt.NDArray[np.float64]

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

    def __iter__(self) -> Iterator[tuple[slice, int]]:
        """Yield for each cell the columns of its ways, and what followed."""
        starts = [0, *self.ends.tolist()]
        yield from zip(map(slice, starts, starts[1:]), self.after.tolist(), strict=False)

    def shares(self, values: States) -> Odds:
        """Return how many of a cell's ways lead to what followed, shape (rules, cells).

        `values` has what follows each way by some rules, shape (rules, ways).
        """
        sizes = np.diff(self.ends, prepend=0)
        right = values == np.repeat(self.after, sizes)
        found: Odds = np.add.reduceat(right, self.ends - sizes, axis=1, dtype=float) / sizes
        return found


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
        self._weights = np.repeat(np.log(background / len(DENSITIES)), len(DENSITIES))

    def evidence(self, counts: npt.NDArray[Any]) -> Odds:
        """Return the log probability of entries with these numbers of states, shape (…, states)."""
        terms: Odds = counts @ np.log(self._odds).T + self._weights
        return np.asarray(np.logaddexp.reduce(terms, axis=-1))

    def next(self, counts: npt.NDArray[Any]) -> Odds:
        """Return the probability of each state in another entry, shape (states,)."""
        terms: Odds = counts @ np.log(self._odds).T + self._weights
        found: Odds = np.exp(terms - np.logaddexp.reduce(terms)) @ self._odds
        return found


Renaming = Callable[[States, int], tuple[States, States]]
"""From neighbourhoods and the number of states: neighbourhoods with states renamed, and the state
that each new name stands for, shape (states, n); -1 if it stands for none."""


def unchanged(around: States, states: int) -> tuple[States, States]:
    return around, np.tile(np.arange(states)[:, None], around.shape[1])


def by_shift(centre: int) -> Renaming:
    """Name states by how far they are ahead of the centre's: rules that treat all in a circle."""

    def rename(around: States, states: int) -> tuple[States, States]:
        own = around[centre]
        return (around - own) % states, (np.arange(states)[:, None] + own) % states

    return rename


def by_order(around: States, states: int) -> tuple[States, States]:
    """Name states but 0 in the order in which they appear: rules that treat them as colours."""
    n = around.shape[1]
    names = np.full((states, n), -1)
    names[0] = 0
    meaning = names.copy()
    following, columns = np.ones(n, np.int64), np.arange(n)
    for row in around:
        new = columns[names[row, columns] < 0]
        names[row[new], new] = following[new]
        meaning[following[new], new] = row[new]
        following[new] += 1
    return names[around, columns], meaning


class Table:
    """Rules with a symmetry of a space, or also one between states.

    Entries that only edges tell about have odds of their own. They are updated cell by cell, as if
    entries were independent: assumed-density filtering, as in Minka 2001, section 3.1.
    """

    def __init__(
        self,
        space: Space,
        seen: States,
        after: States,
        edges: Edges | None = None,
        rename: Renaming = unchanged,
    ) -> None:
        self._space, self._rename = space, rename
        around, meaning = rename(seen, space.states)
        named = (meaning == after).argmax(axis=0)
        self._keys, first, inverse = np.unique(
            space.keys(around), return_index=True, return_inverse=True
        )
        values = named[first]
        fits = (meaning == after).any(axis=0) & (values[inverse.reshape(-1)] == named)
        self._density = Density(space.states)
        counts = np.bincount(values, minlength=space.states)
        self.evidence = float(self._density.evidence(counts)) if fits.all() else -np.inf
        self._others = self._density.next(counts)
        self._odds = sure(space.states, values).T
        """Of each state in each entry of `_keys`."""
        if edges is not None and self.evidence > -np.inf:
            self._absorb(edges)

    def _absorb(self, edges: Edges) -> None:
        around, meaning = self._rename(edges.ways, self._space.states)
        keys = self._space.keys(around)
        new = np.setdiff1d(keys, self._keys)
        odds = np.vstack([self._odds, np.tile(self._others, (len(new), 1))])
        order = np.argsort(merged := np.append(self._keys, new))
        self._keys, odds = merged[order], odds[order]
        entries = np.searchsorted(self._keys, keys)
        for ways, after in edges:
            here, inverse = np.unique(entries[ways], return_inverse=True)
            right = meaning[:, ways] == after
            gain = np.zeros((len(here), len(right)))
            np.add.at(gain, inverse.reshape(-1), right.T / right.shape[1])
            each = (gain * odds[here]).sum(axis=1, keepdims=True)
            total = each.sum()
            if not total:
                self.evidence = -np.inf
                return
            odds[here] *= (total - each + gain) / total
            self.evidence += float(np.log(total))
        # Entries count as far as they are known.
        known = np.maximum(odds - self._others, 0) / (1 - self._others)
        self._odds, self._others = odds, self._density.next(known.sum(axis=0))

    def odds(self, asked: States) -> Odds:
        states = self._space.states
        around, meaning = self._rename(asked, states)
        keys = self._space.keys(around)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = self._keys[places] == keys
        named = np.where(known, self._odds[places].T, self._others[:, None])
        found: Odds = np.zeros(named.shape)
        for name, state in zip(named, meaning, strict=True):
            found += np.where(state == np.arange(states)[:, None], name, 0)
        found /= np.maximum(found.sum(axis=0), 1e-300)
        return found


class Threshold:
    """Rules by which the centre's state says what follows few neighbours and what many.

    Neighbours count by the sum of their states. Often few lead to 0, and many leave the centre.
    """

    def __init__(
        self, space: Space, seen: States, after: States, edges: Edges | None = None
    ) -> None:
        states, self._centre = space.states, space.centre
        most = (states - 1) * (space.cells - 1)
        limits = np.arange(1, most + 1)
        middle = (limits > most / 4) & (limits <= 3 * most / 4)
        self._limits, self.evidence = limits, 0.0
        # By limit, state after few and state after many.
        prior = np.full((most, states, states), 0.5 / states**2)
        prior *= (np.where(middle, 4, 1) / np.where(middle, 4, 1).sum())[:, None, None]
        self._weights = []
        value = np.arange(states)
        for own in range(states):
            weights = prior.copy()
            weights[:, 0, own] += weights.sum(axis=(1, 2))
            here = seen[self._centre] == own
            for total, state in zip(self._sums(seen[:, here]), after[here], strict=True):
                many = (total >= limits)[:, None, None]
                right = np.where(many, value == state, (value == state)[:, None])
                weights *= right
            for ways, state in edges or ():
                if edges is not None and edges.ways[self._centre, ways.start] == own:
                    many = (self._sums(edges.ways[:, ways])[:, None] >= limits).mean(axis=0)
                    right = (value == state) * many[:, None, None]
                    weights *= right + ((value == state) * (1 - many)[:, None])[:, :, None]
            share = weights.sum()
            self.evidence += float(np.log(share)) if share else -np.inf
            self._weights.append(weights / (share or 1))

    def _sums(self, around: States) -> States:
        return np.asarray(around.sum(axis=0) - around[self._centre])

    def odds(self, asked: States) -> Odds:
        few, many = (np.stack([w.sum(axis=axis) for w in self._weights]) for axis in (2, 1))
        reached = (self._sums(asked)[:, None] >= self._limits)[:, :, None]
        own = asked[self._centre]
        found: Odds = np.where(reached, many[own], few[own]).sum(axis=1).T
        return found


class Linear:
    """Sums of some cells' states, each times a coefficient, plus a constant, modulo the states."""

    def __init__(
        self, space: Space, seen: States, after: States, edges: Edges | None = None
    ) -> None:
        self._states = states = space.states
        every = _coefficients(states, space.cells)
        used = (every != 0).sum(axis=1)
        prior = 1 / np.bincount(used)[used] / len(set(used.tolist()))
        for some in (slice(0, 8), slice(None)):  # few are left after the first
            rest = (after[some] - every @ seen[:, some]) % states
            fits = (rest == rest[:, :1]).all(axis=1)
            every, prior, rest = every[fits], prior[fits], rest[fits]
        self._coefficients, self._constants = every, rest[:, 0]
        prior = prior * np.where(self._constants == 0, 0.7, 0.3 / (states - 1))
        if edges is not None:
            prior = prior * edges.shares(self._values(edges.ways)).prod(axis=1)
        total = prior.sum()
        self.evidence = float(np.log(total)) if total else -np.inf
        self._weights = prior / (total or 1)

    def _values(self, asked: States) -> States:
        return np.asarray((self._coefficients @ asked + self._constants[:, None]) % self._states)

    def odds(self, asked: States) -> Odds:
        values = self._values(asked)
        return np.stack([self._weights @ (values == state) for state in range(self._states)])


@cache
def _coefficients(states: int, cells: int) -> States:
    """Return coefficients, not all 0, shape (n, cells)."""
    every = np.indices((states,) * cells, np.int8).reshape(cells, -1).T
    used = (every != 0).sum(axis=1)
    most = cells if len(every) <= MOST_LINEAR else 3
    return np.asarray(every[(used > 0) & (used <= most)], np.int64)


Fitted = Table | Threshold | Linear


@dataclass(frozen=True)
class Family:
    """A kind of rules, and how probable it is before anything is seen."""

    name: str
    prior: float
    fit: Callable[[States, States, Edges | None], Fitted]
    space: Space
    """The smallest space with all rules of the family."""


@cache
def families(neighbourhood: str, states: int) -> list[Family]:
    """Return the families of a neighbourhood. Priors are relative."""
    none = Space(neighbourhood, "none", states)
    line = neighbourhood.startswith("line")
    found = []

    def add(name: str, prior: float, kind: Callable[..., Fitted], symmetry: str = "none") -> None:
        space = Space(neighbourhood, symmetry, states)
        found.append(Family(name, prior, partial(kind, space), space))

    def renamed(rename: Renaming) -> Callable[..., Fitted]:
        return partial(Table, rename=rename)

    add("none", 6, Table)
    add("reflections", 1, Table, "reflections")
    if not line:
        add("rotations", 1, Table, "rotations")
        add("isotropic", 3, Table, "isotropic")
    add("outer-totalistic", 5 if states == 2 else 1, Table, "outer-totalistic")
    add("totalistic", 4, Table, "totalistic")
    add("threshold", 2, Threshold, "outer-sum")
    add("linear", 1, Linear)
    shift = renamed(by_shift(none.centre))
    add("shifts of states", 0.3, shift)
    add("outer-totalistic, shifts of states", 0.3, shift, "outer-totalistic")
    if states > 2:
        add("outer-sum", 5, Table, "outer-sum")
        add("names of states", 0.2, renamed(by_order))
        add("outer-totalistic, names of states", 0.2, renamed(by_order), "outer-totalistic")
    return found
