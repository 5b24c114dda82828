"""The primitives in plain Python and NumPy, for NUMBA_DISABLE_JIT=1 and for readers."""

from __future__ import annotations

import threading
import time

import numpy as np

from difflogic.engine.kernels import structures as st


def _rows(tile, row, width, lanes):
    return tile[row * lanes : (row + width) * lanes]


def _forward_gate(tile, c, a, b, out, width, lanes):
    x, y = _rows(tile, a, width, lanes), _rows(tile, b, width, lanes)
    _rows(tile, out, width, lanes)[:] = c[0] + c[1] * x + c[2] * y + c[3] * x * y


def _add_sums(g, a, b, sums, param):
    slot = sums[4 * param : 4 * param + 4]
    slot += np.array([g.sum(), (g * a).sum(), (g * b).sum(), (g * a * b).sum()], g.dtype)


def _back(g, a, b, c, sums, param):
    _add_sums(g, a, b, sums, param)
    return g * (c[1] + c[3] * b), g * (c[2] + c[3] * a)


def _put(grad, row, width, lanes, adds, value):
    target = _rows(grad, row, width, lanes)
    target[:] = target + value if adds else value


def runs_forward(arrays, lanes):
    tile, code, coefficients = arrays
    for row in code:
        c = coefficients[4 * row[st.PARAM] : 4 * row[st.PARAM] + 4]
        _forward_gate(tile, c, row[st.A], row[st.B], row[st.OUT], row[st.WIDTH], lanes)


def gates_forward(arrays, lanes):
    tile, code, coefficients = arrays
    held = None
    for row in code:
        c = coefficients[4 * row[st.PARAM] : 4 * row[st.PARAM] + 4]
        x = held if row[st.FLAGS] & st.LINK else _rows(tile, row[st.A], 1, lanes).copy()
        held = _rows(tile, row[st.B], 1, lanes).copy()
        _rows(tile, row[st.OUT], 1, lanes)[:] = c[0] + c[1] * x + c[2] * held + c[3] * x * held


def _star_values(tile, row, c, lanes):
    """Inputs of the seven gates of a star, in the order of its params, then its value."""
    center = _rows(tile, row[st.STAR_CENTER], row[st.STAR_WIDTH], lanes)
    pairs = [
        (_rows(tile, row[st.STAR_LEAVES + k], row[st.STAR_WIDTH], lanes), center) for k in range(4)
    ]

    def value(k):
        x, y = pairs[k]
        return c[k][0] + c[k][1] * x + c[k][2] * y + c[k][3] * x * y

    pairs += [(value(0), value(1)), (value(2), value(3))]
    pairs.append((value(4), value(5)))
    return [*pairs, (value(6), value(6))]


def stars_forward(arrays, lanes):
    tile, code, coefficients = arrays
    for row in code:
        c = [coefficients[4 * p : 4 * p + 4] for p in row[st.STAR_PARAMS : st.STAR_PARAMS + 7]]
        values = _star_values(tile, row, c, lanes)
        _rows(tile, row[st.STAR_OUT], row[st.STAR_WIDTH], lanes)[:] = values[-1][0]


def runs_backward(arrays, lanes):
    tile, code, coefficients, grad, sums = arrays
    for row in code[::-1]:
        width, param, flags = row[st.WIDTH], row[st.PARAM], row[st.FLAGS]
        x, y = _rows(tile, row[st.A], width, lanes), _rows(tile, row[st.B], width, lanes)
        g = _rows(grad, row[st.GRAD_OUT], width, lanes)
        c = coefficients[4 * param : 4 * param + 4]
        to_a, to_b = _back(g, x, y, c, sums, param)
        _put(grad, row[st.GRAD_B], width, lanes, flags & st.ADD_B, to_b)
        _put(grad, row[st.GRAD_A], width, lanes, flags & st.ADD_A, to_a)


def gates_backward(arrays, lanes):
    tile, code, coefficients, grad, sums = arrays
    held_value, held_grad = None, None
    for row in code[::-1]:
        param, flags = row[st.PARAM], row[st.FLAGS]
        if not flags & st.LINKED:
            held_value, held_grad = _rows(tile, row[st.B], 1, lanes), 0.0
        x, g = _rows(tile, row[st.A], 1, lanes), _rows(grad, row[st.GRAD_OUT], 1, lanes)
        c = coefficients[4 * param : 4 * param + 4]
        if flags & st.ADD_B:
            held_grad = held_grad + _rows(grad, row[st.GRAD_B], 1, lanes)
        to_a, to_b = _back(g, x, held_value, c, sums, param)
        _put(grad, row[st.GRAD_B], 1, lanes, 0, held_grad + to_b)
        held_value, held_grad = x, to_a
        if not flags & st.LINK:
            _put(grad, row[st.GRAD_A], 1, lanes, flags & st.ADD_A, to_a)


def stars_backward(arrays, lanes):
    tile, code, coefficients, grad, sums, _scratch = arrays
    for row in code[::-1]:
        width, adds = row[st.STAR_WIDTH], row[st.STAR_ADDS]
        params = row[st.STAR_PARAMS : st.STAR_PARAMS + 7]
        c = [coefficients[4 * p : 4 * p + 4] for p in params]
        values = _star_values(tile, row, c, lanes)
        g = {6: _rows(grad, row[st.STAR_GRAD_OUT], width, lanes)}
        for gate, (left, right) in ((6, (4, 5)), (5, (2, 3)), (4, (0, 1))):
            g[left], g[right] = _back(g[gate], *values[gate], c[gate], sums, params[gate])
        for leaf in range(4):
            to_leaf, to_middle = _back(g[leaf], *values[leaf], c[leaf], sums, params[leaf])
            _put(grad, row[st.STAR_GRAD_LEAVES + leaf], width, lanes, adds & 1 << leaf, to_leaf)
            _put(grad, row[st.STAR_GRAD_CENTER], width, lanes, leaf or adds & 16, to_middle)


def pulls_backward(arrays, lanes):
    tile, targets, pulls, coefficients, grad = arrays
    for row in targets:
        target = _rows(grad, row[st.TARGET_ROW], 1, lanes)
        if not row[st.TARGET_FILLED]:
            target[:] = 0.0
        first = row[st.TARGET_PULLS]
        for pull in pulls[first : first + row[st.TARGET_COUNT]]:
            c = coefficients[4 * pull[st.PULL_PARAM] : 4 * pull[st.PULL_PARAM] + 4]
            other = _rows(tile, pull[st.PULL_OTHER], 1, lanes)
            factor = c[pull[st.PULL_SIDE]] + c[3] * other
            target[:] = target + _rows(grad, pull[st.PULL_GRAD], 1, lanes) * factor


def sums_backward(arrays, lanes):
    tile, code, grad, sums = arrays
    for row in code:
        width, param = row[st.WIDTH], row[st.PARAM]
        x, y = _rows(tile, row[st.A], width, lanes), _rows(tile, row[st.B], width, lanes)
        _add_sums(_rows(grad, row[st.OUT], width, lanes), x, y, sums, param)


def rows_seen(arrays, integers, lanes):
    tile, grid, correction_lane, correction_source = arrays
    first, correction, correction_end, count, row, rows, to = integers
    for r in range(rows):
        target = tile[(to + r) * lanes : (to + r + 1) * lanes]
        target[:] = grid[row + r, first : first + lanes]
        for m in range(correction, correction_end):
            target[correction_lane[m]] = grid[row + r, correction_source[m]]
        target[count:] = 0.0


def rows_added(arrays, integers, lanes):
    totals, parts, numbers = arrays
    first, end, count, part, apart, adds = integers
    for r in range(first, end):
        total = totals[numbers[r] * lanes : (numbers[r] + 1) * lanes]
        if not adds:
            total[:] = 0.0
        for k in range(count):
            row = part + r - first + k * apart
            total += parts[row * lanes : (row + 1) * lanes]


def rows_left(arrays, integers, lanes):
    tile, grid, numbers = arrays
    first, end, place = integers
    for r in range(first, end):
        grid[r, place : place + lanes] = tile[numbers[r] * lanes : (numbers[r] + 1) * lanes]


def _gate(c, a, b):
    return c[0] ^ (c[1] & a) ^ (b & (c[2] ^ (c[3] & a)))


def hard_gate(arrays, integers):
    values, forms = arrays
    x, y, op, place, words = integers
    flat = values.reshape(-1)
    flat[place : place + words] = _gate(forms[op], flat[x : x + words], flat[y : y + words])


def hard_follow(arrays, integers):
    values, known, records, forms, flags, changed = arrays
    first, end, base, words, size = integers
    flat, flat_known = values.reshape(-1), known.reshape(-1)[base:]
    for x, y, target, form in records[first:end].tolist():
        if flags[x] or flags[y] or form & st.FORCED:
            a, b = (
                (flat if flags[slot] else flat_known)[slot * words : (slot + 1) * words]
                for slot in (x, y)
            )
            value, own = _gate(forms[form % 16], a, b), slice(target * words, (target + 1) * words)
            flat[own] = value
            flags[target] = bool(form & st.SPECIAL) or bool((value != flat_known[own]).any())
            if flags[target]:
                changed[size] = target
                size += 1
    return int(size)


def hard_differ(arrays, integers):
    x, y, words = integers
    one, other = (array.reshape(-1) for array in arrays)
    return bool((one[x : x + words] != other[y : y + words]).any())


def hard_list(arrays, integers):
    values, records, forms = arrays
    first, end, words = integers
    rows = values.reshape(-1)[: values.size // words * words].reshape(-1, words)
    for a, b, target, form in records[first:end].tolist():
        rows[target] = _gate(forms[form % 16], rows[a], rows[b])


def hard_copy(arrays, integers):
    to, place, words = integers
    first, second = (array.reshape(-1) for array in arrays)
    first[to : to + words] = second[place : place + words]


def hard_view(arrays, integers):
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


def hard_advance(arrays, integers):
    values, known_values, own_states, known, fires, keeps = (array.reshape(-1) for array in arrays)
    row, row_own, before, before_own, after, base, fire, keep, words = integers
    held = (own_states if before_own else known)[before : before + words]
    new = (values if row_own else known_values)[row : row + words]
    state = held ^ ((held ^ new) & fires[fire : fire + words])
    state &= keeps[keep : keep + words]
    own_states[after : after + words] = state
    return bool((state != known[base : base + words]).any())


def hard_count(arrays, integers):
    own_states, known, targets, counted = (array.reshape(-1) for array in arrays)
    own, place, target, first, words = integers
    state = (own_states if own else known)[place : place + words]
    differing = (state ^ targets[target : target + words]) & counted[first : first + words]
    return int(np.unpackbits(differing.view(np.uint8)).sum())


def _bits(tile, row, words):
    return np.unpackbits(tile[row, :words].astype("<u8").view(np.uint8), bitorder="little")


def slope_any(arrays, integers):
    (slopes,) = arrays
    place, words = integers
    return bool(slopes.reshape(-1)[place : place + 64 * words].any())


def slope_move(arrays, integers):
    source, target, masks = (array.reshape(-1) for array in arrays)
    start, place, mask, flip, use, words = integers
    goes = _bits(masks[None, mask:], 0, words) != flip
    g = np.where(goes, source[start : start + 64 * words], np.float32(0.0))
    handed = target[place : place + 64 * words]
    handed[:] = g if use == 1 else handed + g


def slope_back(arrays, integers):
    tile, slopes, forms, found = arrays
    row_a, row_b, op, own, a, use_a, b, use_b, words = integers
    x, y = (_bits(tile, row, words).astype(np.float32) for row in (row_a, row_b))
    g = slopes[own : own + 64 * words].copy()
    found[:] = [some.sum(dtype=np.float64) for some in (g, g * x, g * y, g * x * y)]
    c0, c1, c2, c3 = (forms[op] != 0).astype(np.int64)

    def value(one, other):
        one, other = np.asarray(one, np.int64), np.asarray(other, np.int64)
        return c0 ^ (c1 & one) ^ (other & (c2 ^ (c3 & one)))

    for place, use, slope in (
        (a, use_a, value(1, y) - value(0, y)),
        (b, use_b, value(x, 1) - value(x, 0)),
    ):
        if use:
            target = slopes[place : place + 64 * words]
            target[:] = (target if use != 1 else 0) + g * slope


def flush_denormals():
    return 0


def restore_denormals(mode):
    pass


def fma_chains(count, seed):
    x = np.full(16, seed, np.float32)
    for _ in range(count):
        x = x * seed + seed
    return x[0]


_ATOMIC = threading.Lock()


def atomic_add(array, index, value):
    with _ATOMIC:
        before = int(array[index])
        array[index] += value
    return before


def atomic_claim(array, index, value):
    with _ATOMIC:
        held = int(array[index]) == value
        if held:
            array[index] += 1
    return held


def atomic_load(array, index):
    return int(array[index])


def yield_thread():
    time.sleep(0)
    return 0


def now():
    return time.perf_counter()


def processor_clock():
    return time.thread_time()
