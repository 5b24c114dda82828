"""The hard gates' primitives in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from difflogic.engine.kernels.hard_structures import FORCED, SPECIAL, WORDS


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


def _gate(c: Any, a: Any, b: Any) -> Any:
    return c[0] ^ (c[1] & a) ^ (b & (c[2] ^ (c[3] & a)))


def hard_gate(arrays: Any, integers: Any) -> None:
    values, forms = arrays
    x, y, op, place, words = integers
    flat = values.reshape(-1)
    flat[place : place + words] = _gate(forms[op], flat[x : x + words], flat[y : y + words])


def hard_follow(arrays: Any, integers: Any) -> int:
    values, known, records, forms, flags, changed = arrays
    first, end, base, words, size = integers
    flat, flat_known = values.reshape(-1), known.reshape(-1)[base:]
    for x, y, target, form in records[first:end].tolist():
        if flags[x] or flags[y] or form & FORCED:
            a, b = (
                (flat if flags[slot] else flat_known)[slot * words : (slot + 1) * words]
                for slot in (x, y)
            )
            value, own = _gate(forms[form % 16], a, b), slice(target * words, (target + 1) * words)
            flat[own] = value
            flags[target] = bool(form & SPECIAL) or bool((value != flat_known[own]).any())
            if flags[target]:
                changed[size] = target
                size += 1
    return int(size)


def hard_differ(arrays: Any, integers: Any) -> bool:
    x, y, words = integers
    one, other = (array.reshape(-1) for array in arrays)
    return bool((one[x : x + words] != other[y : y + words]).any())


def hard_list(arrays: Any, integers: Any) -> None:
    values, records, forms = arrays
    first, end, words = integers
    rows = values.reshape(-1)[: values.size // words * words].reshape(-1, words)
    for a, b, target, form in records[first:end].tolist():
        rows[target] = _gate(forms[form % 16], rows[a], rows[b])


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
    values, known_values, own_states, known, fires, keeps = (array.reshape(-1) for array in arrays)
    row, row_own, before, before_own, after, base, fire, keep, words = integers
    held = (own_states if before_own else known)[before : before + words]
    new = (values if row_own else known_values)[row : row + words]
    state = held ^ ((held ^ new) & fires[fire : fire + words])
    state &= keeps[keep : keep + words]
    own_states[after : after + words] = state
    return bool((state != known[base : base + words]).any())


def hard_count(arrays: Any, integers: Any) -> int:
    own_states, known, targets, counted = (array.reshape(-1) for array in arrays)
    own, place, target, first, words = integers
    state = (own_states if own else known)[place : place + words]
    differing = (state ^ targets[target : target + words]) & counted[first : first + words]
    return int(np.unpackbits(differing.view(np.uint8)).sum())
