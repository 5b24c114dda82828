"""From logits to coefficients, and the optimizer's step back to the logits.

Arrays are transposed, (16, parameters), so that every loop runs over parameters and fills whole
vectors.
"""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.primitives import flush_denormals, restore_denormals
from difflogic.system.jit import borrowing_kernel, part
from difflogic.system.jit.arithmetic import exponential

PARAMETERS_AT_ONCE = 256
"""Their 16 rows stay in the first-level cache. `space` (ROOM, PARAMETERS_AT_ONCE) is scratch for
sums, in the logits' type."""

ROOM = 30
"""Rows of `space` that `adamw_step` uses."""


@borrowing_kernel
def weigh_and_harden(logits, weights, ops, space):
    """Write e^(logit - its column's maximum) to `weights`, and the maximum's row to `ops`.

    `logits` and `weights` are (16, parameters), `ops` (parameters,). The lowest row wins a tie.
    """
    parameters = logits.shape[1]
    best = space[0]
    for first in range(0, parameters, PARAMETERS_AT_ONCE):
        count = min(PARAMETERS_AT_ONCE, parameters - first)
        place = ops[first : first + count]
        row = logits[0, first : first + count]
        for p in range(count):
            best[p], place[p] = row[p], 0
        for i in range(1, 16):
            row = logits[i, first : first + count]
            for p in range(count):
                larger = row[p] > best[p]
                best[p] = row[p] if larger else best[p]
                place[p] = np.uint8(i) if larger else place[p]
        for i in range(16):
            row = logits[i, first : first + count]
            out = weights[i, first : first + count]
            for p in range(count):
                out[p] = exponential(row[p] - best[p])


@borrowing_kernel
def normalize_and_mix(weights, basis, coefficients, space):
    """Divide each column of `weights` (16, parameters) by its sum, and mix the ops' coefficients.

    `basis` (16, 4) holds the ops' coefficients; `coefficients` (parameters, 4) receives the
    mixtures.
    """
    parameters = weights.shape[1]
    total = space[0]
    c0 = space[1]
    c1 = space[2]
    c2 = space[3]
    c3 = space[4]
    for first in range(0, parameters, PARAMETERS_AT_ONCE):
        count = min(PARAMETERS_AT_ONCE, parameters - first)
        space[:5] = 0.0
        for i in range(16):
            row = weights[i, first : first + count]
            b0 = basis[i, 0]
            b1 = basis[i, 1]
            b2 = basis[i, 2]
            b3 = basis[i, 3]
            for p in range(count):
                total[p] += row[p]
                c0[p] += row[p] * b0
                c1[p] += row[p] * b1
                c2[p] += row[p] * b2
                c3[p] += row[p] * b3
        for i in range(16):
            row = weights[i, first : first + count]
            for p in range(count):
                row[p] /= total[p]
        for p in range(count):
            for j in range(4):
                coefficients[first + p, j] = space[1 + j, p] / total[p]


@part
def _pull(pulls, start, count, space):
    """Write M·s of `count` gates from `start` on to 16 rows of `space`, and ⟨p, M·s⟩ to the row
    before these.
    """
    probabilities, basis, gradients = pulls
    c0 = space[0]
    c1 = space[1]
    c2 = space[2]
    c3 = space[3]
    mean = space[4]
    for p in range(count):
        c0[p], c1[p] = gradients[start + p, 0], gradients[start + p, 1]
        c2[p], c3[p] = gradients[start + p, 2], gradients[start + p, 3]
        mean[p] = 0.0
    for i in range(16):
        weights = probabilities[i, start : start + count]
        b0 = basis[i, 0]
        b1 = basis[i, 1]
        b2 = basis[i, 2]
        b3 = basis[i, 3]
        pull = space[5 + i]
        for p in range(count):
            pull[p] = c0[p] * b0 + c1[p] * b1 + c2[p] * b2 + c3[p] * b3
            mean[p] += weights[p] * pull[p]


@part
def _descend(numbers, slopes, m, v, rates):
    """Take one AdamW step of a row of numbers, with their two moments, in place."""
    clip = rates[0]
    beta1 = rates[1]
    rest1 = rates[2]
    beta2 = rates[3]
    rest2 = rates[4]
    unbias1 = rates[5]
    unbias2 = rates[6]
    epsilon = rates[7]
    rate = rates[8]
    keep = rates[9]
    for p in range(len(numbers)):
        g = min(max(slopes[p], -clip), clip)
        m[p] = beta1 * m[p] + rest1 * g
        v[p] = beta2 * v[p] + rest2 * g * g
        change = m[p] * unbias1 / (np.sqrt(v[p] * unbias2) + epsilon)
        numbers[p] = keep * numbers[p] - rate * change


@borrowing_kernel
def adamw_step(logits, moments, pulls, form, rates, space):
    """Turn dL/d(coefficients) into dL/dlogits, clip it, and take one AdamW step in place.

    The arrays are (16, parameters). `pulls` are the probabilities of the same shape, the ops'
    coefficients (16, 4), and dL/d(coefficients) (parameters, 4). `rates` is
    (clip, β1, 1 - β1, β2, 1 - β2, 1 / (1 - β1^t), 1 / (1 - β2^t), ε, learning rate, 1 - rate ·
    decay), in the logits' type; `space` is (ROOM, PARAMETERS_AT_ONCE).

    With a `form`, four numbers θ of a gate are learned, and its logits are B·θ. It is B (16, 4)
    and, for each of the four numbers, a row of the logits that only this number contributes to.
    The moments are then (4, parameters).
    """
    probabilities = pulls[0]
    parameters = logits.shape[1]
    mode = flush_denormals()  # the second moments of settled gates are denormal
    first, second = moments
    mean = space[4]
    slope = space[21]
    slopes = space[22:26]
    numbers = space[26:30]
    if form is not None:
        (adds, readers) = form
    for start in range(0, parameters, PARAMETERS_AT_ONCE):
        count = min(PARAMETERS_AT_ONCE, parameters - start)
        end = start + count
        slopes[:] = 0.0
        _pull(pulls, start, count, space)
        # dL/dz = p ⊙ (M·s - ⟨p, M·s⟩), and dL/dθ is Bᵀ times that.
        for i in range(16):
            weights = probabilities[i, start:end]
            pull = space[5 + i]
            for p in range(count):
                slope[p] = weights[p] * (pull[p] - mean[p])
            if form is None:
                _descend(
                    logits[i, start:end], slope, first[i, start:end], second[i, start:end], rates
                )
            else:
                for j in range(4):
                    for p in range(count):
                        slopes[j, p] += adds[i, j] * slope[p]
        if form is not None:
            for j in range(4):
                z = logits[readers[j], start:end]
                own = numbers[j, :count]
                for p in range(count):
                    own[p] = z[p] / adds[readers[j], j]
                _descend(own, slopes[j], first[j, start:end], second[j, start:end], rates)
            for i in range(16):
                z = logits[i, start:end]
                w0 = adds[i, 0]
                w1 = adds[i, 1]
                w2 = adds[i, 2]
                w3 = adds[i, 3]
                for p in range(count):
                    total = w0 * numbers[0, p] + w1 * numbers[1, p]
                    z[p] = total + w2 * numbers[2, p] + w3 * numbers[3, p]
    restore_denormals(mode)
