"""The hard gates' primitives in NumPy."""

from __future__ import annotations

from typing import Any

from difflogic.engine.kernels.hard_structures import WORDS


def hard_gates(arrays: Any, integers: Any) -> None:
    tile, gates, forms = arrays
    first = len(tile) - len(gates)
    for g, (a, b, op) in enumerate(gates):
        c, x, y = forms[op], tile[a], tile[b]
        tile[first + g] = c[0] ^ (c[1] & x) ^ (y & (c[2] ^ (c[3] & x)))


def hard_see(arrays: Any, integers: Any) -> None:
    tile, state, masks = arrays
    row, place, right, left, high, mask, join = integers
    low = state.ravel()[place : place + WORDS] >> right
    moved = (state.ravel()[place + 1 : place + 1 + WORDS] << left) & high
    seen = (low | moved) & masks.ravel()[mask : mask + WORDS]
    own = tile.reshape(-1, WORDS)[row]
    own[:] = seen | (own & join)


def hard_write(arrays: Any, integers: Any) -> None:
    tile, state, new_state, fires, keeps = arrays
    row, old_place, place, fire, keep = integers
    old, fired = state.ravel()[old_place : old_place + WORDS], fires.ravel()[fire : fire + WORDS]
    new = old ^ ((old ^ tile.reshape(-1, WORDS)[row]) & fired)
    new_state.reshape(-1)[place : place + WORDS] = new & keeps.ravel()[keep : keep + WORDS]


def hard_gate(arrays: Any, integers: Any) -> None:
    values, known, forms = arrays
    x, x_own, y, y_own, op, place, words = integers
    flat = values.reshape(-1)
    a, b = (
        (flat if own else known.reshape(-1))[start : start + words]
        for start, own in ((x, x_own), (y, y_own))
    )
    c = forms[op]
    flat[place : place + words] = c[0] ^ (c[1] & a) ^ (b & (c[2] ^ (c[3] & a)))


def hard_differ(arrays: Any, integers: Any) -> bool:
    x, y, words = integers
    one, other = (array.reshape(-1) for array in arrays)
    return bool((one[x : x + words] != other[y : y + words]).any())


def lowest_one(word: Any) -> int:
    return (int(word) & -int(word)).bit_length() - 1
