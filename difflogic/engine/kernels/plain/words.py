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
    tile[row] = seen | (tile[row] & join)


def hard_write(arrays: Any, integers: Any) -> None:
    tile, state, new_state, fires, keeps = arrays
    row, place, fire, keep = integers
    old, fire_words = state.ravel()[place : place + WORDS], fires[fire : fire + WORDS]
    new = old ^ ((old ^ tile[row]) & fire_words)
    new_state.reshape(-1)[place : place + WORDS] = new & keeps[keep : keep + WORDS]
