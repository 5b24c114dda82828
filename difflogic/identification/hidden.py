"""States that are not seen: what they may look like, and how they are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product

import numpy as np

from difflogic.identification.recording import Recording
from difflogic.identification.rules import UNKNOWN, Space, Table, spread_states
from difflogic.system.errors import ConfigError


def spaces(space: Space, hidden: int) -> Iterator[Space]:
    """Yield spaces with up to `hidden` more states, those of fewer entries first.

    First come all in which neighbours cannot tell states that look alike, as for cells that rest
    after they were active.
    """
    found = []
    for count in range(1, hidden + 1):
        for looks in combinations_with_replacement(range(space.states), count):
            for symmetry in dict.fromkeys(("outer-totalistic", space.symmetry)):
                for private in (True, False):
                    try:
                        found.append(
                            replace(
                                space,
                                symmetry=symmetry,
                                states=space.states + count,
                                looks=(*range(space.states), *looks),
                                private=private,
                            )
                        )
                    except ConfigError:
                        if private and count == 1:
                            raise
    yield from sorted(found, key=lambda each: (not each.private, each.entries))


def describe(space: Space) -> str:
    """Say what hidden states look like."""
    seen = len(set(space.looks))
    looks = [
        f"{state} looks like {look}" for state, look in enumerate(space.looks) if state >= seen
    ]
    who = "only the cell itself can tell" if space.private else "its neighbours can tell, too"
    return f"state {', '.join(looks)}; {who}"


def renamed(space: Space, table: Table) -> Table:
    """Return the same rule with names of states by which fewest entries lead to hidden ones."""
    groups = [
        [s for s, each in enumerate(space.looks) if each == look] for look in set(space.looks)
    ]
    digits, cells = space.digits[:, space.examples], np.arange(space.cells)[:, None]
    best = table
    for orders in product(*map(permutations, groups)):
        names = np.empty(space.states, np.int64)
        for group, order in zip(groups, orders, strict=True):
            names[group] = order
        patterns = space.weights[cells, names[digits]].sum(axis=0)
        found = np.empty_like(table)
        found[space.entry_of[patterns]] = np.where(table == UNKNOWN, UNKNOWN, names[table])
        if _hidden(space, found) < _hidden(space, best):
            best = found
    return best


def _hidden(space: Space, table: Table) -> int:
    return int((table >= len(set(space.looks))).sum())


def pins(recording: Recording, space: Space, gap: int, table: Table) -> Iterator[int]:
    """Yield entries that may keep their states, as any other name would do as well.

    One for each two states that look alike: it is seen, and what is seen of the next state. So in
    every rule that explains the recording the next state is one of these two. The boundary is
    periodic.
    """
    looks = np.array(space.looks)
    alone = np.array([space.looks.count(look) == 1 for look in range(recording.states)])
    frames, following = recording.frames[:, :-1], recording.frames[:, 1:]
    clear = (frames != UNKNOWN) & alone[frames]
    around = frames if space.private else np.where(clear, frames, UNKNOWN)
    patterns = spread_states(around, space, "periodic")
    seen = space.entry_of[patterns[clear & (patterns != UNKNOWN) & (following != UNKNOWN)]]
    groups = set()
    for entry in np.unique(seen if gap == 1 else []).astype(int).tolist():
        look = space.looks[table[entry]]
        if (looks == look).sum() == 2 and look not in groups:
            groups.add(look)
            yield entry
