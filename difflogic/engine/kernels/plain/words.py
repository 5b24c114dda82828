"""The hard gates' primitives in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def hard_gate(arrays: Any, integers: Any) -> bool:
    values, known, forms = arrays
    x, x_own, y, y_own, op, place, base, words = integers
    a, b = (
        (values if own else known).reshape(-1)[start : start + words]
        for start, own in ((x, x_own), (y, y_own))
    )
    c = forms[op]
    value = c[0] ^ (c[1] & a) ^ (b & (c[2] ^ (c[3] & a)))
    values.reshape(-1)[place : place + words] = value
    return bool((value != known.reshape(-1)[base : base + words]).any())


def hard_differ(arrays: Any, integers: Any) -> bool:
    x, y, words = integers
    one, other = (array.reshape(-1) for array in arrays)
    return bool((one[x : x + words] != other[y : y + words]).any())


def hard_list(arrays: Any, integers: Any) -> None:
    values, records, forms = arrays
    first, end, words = integers
    flat = values.reshape(-1)
    for a, b, target, form in records[first:end].tolist():
        c, x, y = forms[form // 4], flat[a : a + words], flat[b : b + words]
        flat[target : target + words] = c[0] ^ (c[1] & x) ^ (y & (c[2] ^ (c[3] & x)))


def hard_copy(arrays: Any, integers: Any) -> None:
    to, place, words = integers
    first, second = (array.reshape(-1) for array in arrays)
    first[to : to + words] = second[place : place + words]


def hard_view(arrays: Any, integers: Any) -> None:
    values, own_states, known, skip, shift, masks = arrays
    to, own, place, first, end, mask, stride, words = integers
    flat = (own_states if own else known).reshape(-1)
    seen = np.zeros(words, np.uint64)
    for s in range(first, end):
        word = place + int(skip[s])
        low, high = flat[word : word + words], flat[word + 1 : word + 1 + words]
        moved = (low >> shift[s]) | (high << (np.uint64(64) - shift[s])) if shift[s] else low
        under = s * stride + mask
        seen |= moved & masks.reshape(-1)[under : under + words]
    values.reshape(-1)[to : to + words] = seen


def hard_advance(arrays: Any, integers: Any) -> bool:
    values, own_states, known, fires, keeps = (array.reshape(-1) for array in arrays)
    row, own, before, after, base, fire, keep, words = integers
    held = (own_states if own else known)[before : before + words]
    state = held ^ ((held ^ values[row : row + words]) & fires[fire : fire + words])
    state &= keeps[keep : keep + words]
    own_states[after : after + words] = state
    return bool((state != known[base : base + words]).any())


def hard_count(arrays: Any, integers: Any) -> int:
    own_states, known, targets, counted = (array.reshape(-1) for array in arrays)
    own, place, target, first, words = integers
    state = (own_states if own else known)[place : place + words]
    differing = (state ^ targets[target : target + words]) & counted[first : first + words]
    return int(np.unpackbits(differing.view(np.uint8)).sum())


def lowest_one(word: Any) -> int:
    return (int(word) & -int(word)).bit_length() - 1
