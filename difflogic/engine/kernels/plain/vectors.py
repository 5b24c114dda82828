"""The vectors' primitives in NumPy, one row at a time.

They serve coverage, and say plainly what the vectors compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from difflogic.engine.kernels.structures import (
    ADD_A,
    ADD_B,
    FLAGS,
    GRAD_A,
    GRAD_B,
    GRAD_OUT,
    LINK,
    LINKED,
    OUT,
    PARAM,
    PULL_GRAD,
    PULL_OTHER,
    PULL_PARAM,
    PULL_SIDE,
    STAR_ADDS,
    STAR_CENTER,
    STAR_GRAD_CENTER,
    STAR_GRAD_LEAVES,
    STAR_GRAD_OUT,
    STAR_LEAVES,
    STAR_OUT,
    STAR_PARAMS,
    STAR_WIDTH,
    TARGET_COUNT,
    TARGET_FILLED,
    TARGET_PULLS,
    TARGET_ROW,
    WIDTH,
    A,
    B,
)


def _rows(tile: Any, row: int, width: int, lanes: int) -> Any:
    return tile[row * lanes : (row + width) * lanes]


def _forward_gate(tile: Any, c: Any, a: int, b: int, out: int, width: int, lanes: int) -> None:
    x, y = _rows(tile, a, width, lanes), _rows(tile, b, width, lanes)
    _rows(tile, out, width, lanes)[:] = c[0] + c[1] * x + c[2] * y + c[3] * x * y


def _add_sums(g: Any, a: Any, b: Any, sums: Any, param: int) -> None:
    slot = sums[4 * param : 4 * param + 4]
    slot += np.array([g.sum(), (g * a).sum(), (g * b).sum(), (g * a * b).sum()], g.dtype)


def _back(g: Any, a: Any, b: Any, c: Any, sums: Any, param: int) -> tuple[Any, Any]:
    _add_sums(g, a, b, sums, param)
    return g * (c[1] + c[3] * b), g * (c[2] + c[3] * a)


def _put(grad: Any, row: int, width: int, lanes: int, adds: int, value: Any) -> None:
    target = _rows(grad, row, width, lanes)
    target[:] = target + value if adds else value


def runs_forward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients = arrays
    for row in code:
        c = coefficients[4 * row[PARAM] : 4 * row[PARAM] + 4]
        _forward_gate(tile, c, row[A], row[B], row[OUT], row[WIDTH], lanes)


def gates_forward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients = arrays
    held = None
    for row in code:
        c = coefficients[4 * row[PARAM] : 4 * row[PARAM] + 4]
        x = held if row[FLAGS] & LINK else _rows(tile, row[A], 1, lanes).copy()
        held = _rows(tile, row[B], 1, lanes).copy()
        _rows(tile, row[OUT], 1, lanes)[:] = c[0] + c[1] * x + c[2] * held + c[3] * x * held


def _star_values(tile: Any, row: Any, c: Any, lanes: int) -> list[tuple[Any, Any]]:
    """Inputs of the seven gates of a star, in the order of its params, then its value."""
    center = _rows(tile, row[STAR_CENTER], row[STAR_WIDTH], lanes)
    pairs = [(_rows(tile, row[STAR_LEAVES + k], row[STAR_WIDTH], lanes), center) for k in range(4)]

    def value(k: int) -> Any:
        x, y = pairs[k]
        return c[k][0] + c[k][1] * x + c[k][2] * y + c[k][3] * x * y

    pairs += [(value(0), value(1)), (value(2), value(3))]
    pairs.append((value(4), value(5)))
    return [*pairs, (value(6), value(6))]


def stars_forward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients = arrays
    for row in code:
        c = [coefficients[4 * p : 4 * p + 4] for p in row[STAR_PARAMS : STAR_PARAMS + 7]]
        values = _star_values(tile, row, c, lanes)
        _rows(tile, row[STAR_OUT], row[STAR_WIDTH], lanes)[:] = values[-1][0]


def runs_backward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients, grad, sums = arrays
    for row in code[::-1]:
        width, param, flags = row[WIDTH], row[PARAM], row[FLAGS]
        x, y = _rows(tile, row[A], width, lanes), _rows(tile, row[B], width, lanes)
        g = _rows(grad, row[GRAD_OUT], width, lanes)
        c = coefficients[4 * param : 4 * param + 4]
        to_a, to_b = _back(g, x, y, c, sums, param)
        _put(grad, row[GRAD_B], width, lanes, flags & ADD_B, to_b)
        _put(grad, row[GRAD_A], width, lanes, flags & ADD_A, to_a)


def gates_backward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients, grad, sums = arrays
    held_value, held_grad = None, None
    for row in code[::-1]:
        param, flags = row[PARAM], row[FLAGS]
        if not flags & LINKED:
            held_value, held_grad = _rows(tile, row[B], 1, lanes), 0.0
        x, g = _rows(tile, row[A], 1, lanes), _rows(grad, row[GRAD_OUT], 1, lanes)
        c = coefficients[4 * param : 4 * param + 4]
        if flags & ADD_B:
            held_grad = held_grad + _rows(grad, row[GRAD_B], 1, lanes)
        to_a, to_b = _back(g, x, held_value, c, sums, param)
        _put(grad, row[GRAD_B], 1, lanes, 0, held_grad + to_b)
        held_value, held_grad = x, to_a
        if not flags & LINK:
            _put(grad, row[GRAD_A], 1, lanes, flags & ADD_A, to_a)


def stars_backward(arrays: Any, lanes: int) -> None:
    tile, code, coefficients, grad, sums, _scratch = arrays
    for row in code[::-1]:
        width, adds = row[STAR_WIDTH], row[STAR_ADDS]
        params = row[STAR_PARAMS : STAR_PARAMS + 7]
        c = [coefficients[4 * p : 4 * p + 4] for p in params]
        values = _star_values(tile, row, c, lanes)
        g: dict[int, Any] = {6: _rows(grad, row[STAR_GRAD_OUT], width, lanes)}
        for gate, (left, right) in ((6, (4, 5)), (5, (2, 3)), (4, (0, 1))):
            g[left], g[right] = _back(g[gate], *values[gate], c[gate], sums, params[gate])
        for leaf in range(4):
            to_leaf, to_middle = _back(g[leaf], *values[leaf], c[leaf], sums, params[leaf])
            _put(grad, row[STAR_GRAD_LEAVES + leaf], width, lanes, adds & 1 << leaf, to_leaf)
            _put(grad, row[STAR_GRAD_CENTER], width, lanes, leaf or adds & 16, to_middle)


def pulls_backward(arrays: Any, lanes: int) -> None:
    tile, targets, pulls, coefficients, grad = arrays
    for row in targets:
        target = _rows(grad, row[TARGET_ROW], 1, lanes)
        if not row[TARGET_FILLED]:
            target[:] = 0.0
        first = row[TARGET_PULLS]
        for pull in pulls[first : first + row[TARGET_COUNT]]:
            c = coefficients[4 * pull[PULL_PARAM] : 4 * pull[PULL_PARAM] + 4]
            other = _rows(tile, pull[PULL_OTHER], 1, lanes)
            factor = c[pull[PULL_SIDE]] + c[3] * other
            target[:] = target + _rows(grad, pull[PULL_GRAD], 1, lanes) * factor


def sums_backward(arrays: Any, lanes: int) -> None:
    tile, code, grad, sums = arrays
    for row in code:
        width, param = row[WIDTH], row[PARAM]
        x, y = _rows(tile, row[A], width, lanes), _rows(tile, row[B], width, lanes)
        _add_sums(_rows(grad, row[OUT], width, lanes), x, y, sums, param)
