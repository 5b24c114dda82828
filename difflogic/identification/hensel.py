"""Names of isotropic rules of two states on the Moore neighbourhood: B2-a/S12, as Golly reads them.

A letter after a number of neighbours says how they lie, up to rotation and reflection; a minus
means all but those. Source: Alan Hensel's notation; https://conwaylife.com/wiki/Isotropic.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from difflogic.circuit.life_like import notation
from difflogic.system.array_types import Flags, Int64s

StateArray = Int64s
CIRCLE = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_PLACES = (
    "c1 e0",
    "a01 c13 e02 i04 k03 n15",
    "a067 c157 e026 i017 j016 k025 n167 q015 r267 y257",
    "a0167 c1357 e0246 i1267 j0256 k0257 n0157 q0125 r0267 t2567 w0156 y1257 z1256",
)
LETTERS = ({"": ""}, *({word[0]: word[1:] for word in places.split()} for places in _PLACES))
"""For up to four neighbours, the letters, each with places in CIRCLE. For n > 4 neighbours a letter
says where the 8 - n others lie."""


@cache
def _classes() -> dict[tuple[bool, ...], tuple[int, str]]:
    """Return the number and letter of each set of neighbours, given as flags by place in CIRCLE."""
    found = {}
    for count, letters in enumerate(LETTERS):
        for letter, places in letters.items():
            ring = np.isin(np.arange(8), [int(place) for place in places])
            for mirrored in (ring, np.roll(ring[::-1], 1)):
                for quarter in range(4):
                    turned = np.roll(mirrored, 2 * quarter)
                    found[tuple(turned.tolist())] = count, letter
                    if count < 4:
                        found[tuple((~turned).tolist())] = 8 - count, letter
    return found


def name(ring: Flags, centre: Flags, after: StateArray) -> str | None:
    """Return the name of the rule with these next states; None if it is not isotropic.

    `ring` has the neighbours by place in CIRCLE, shape (8, patterns); `centre` and the next state,
    `after`, have the shape (patterns,).
    """
    seen: dict[tuple[bool, int, str], int] = {}
    for around, alive, state in zip(ring.T.tolist(), centre.tolist(), after.tolist(), strict=True):
        if seen.setdefault((alive, *_classes()[tuple(around)]), state) != state:
            return None
    parts = []
    for alive in (False, True):
        text = ""
        for count in range(9):
            letters = sorted(LETTERS[min(count, 8 - count)])
            have = [letter for letter in letters if seen[alive, count, letter]]
            lack = [letter for letter in letters if letter not in have]
            if have:
                short = "".join(have) if len(have) <= len(lack) else "-" + "".join(lack)
                text += str(count) + (short if lack else "")
        parts.append(text)
    return notation(*parts)
