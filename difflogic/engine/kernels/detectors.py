"""Detectors of one point, a cell at a step, grown from gates that do nothing.

A set of points is a bit mask over all cells and steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import ABSENT
from difflogic.engine.kernels.llvm.words import ones
from difflogic.system.jit import borrowing_kernel, by_reference, part

NOTHING = -1
LOW = 0
HIGH = 1
"""What a row tells about the point to detect: nothing, or that it is 0 or 1 there."""


@by_reference
class Signals(NamedTuple):
    """A netlist by rows, and the values that detectors can use."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    spare: np.ndarray  # bool (rows,): gates that do nothing
    place: np.ndarray  # int32 (rows,): a row's place in `values`, or ABSENT
    values: np.ndarray  # uint64 (…, words)


@by_reference
class Sites(NamedTuple):
    """Gates whose value should change at some points."""

    place: np.ndarray  # int32 (gates,): their places in the signals' values
    harm: np.ndarray  # uint64 (gates, 2, words): points of value 0, and 1, where it should not
    points: np.ndarray  # int32 (gates, most): points where it should, most useful first
    change: np.ndarray  # float32 (gates, most): change in wrong cells, below 0; 0 for no point


@by_reference
class DetectorSites(NamedTuple):
    """Sites with the spare gates where a detector for them may grow."""

    roots: np.ndarray  # int32 (…, 3): site, number of its point, row of a spare gate that feeds it
    skipped: np.ndarray  # bool (…,): to be passed over
    harms: np.ndarray  # int64 (…,): points of harm that remain, or -1 without a detector


@by_reference
class Detector(NamedTuple):
    """A detector that grows, and its scratch."""

    harm_left: np.ndarray  # uint64 (words,): points of harm that it cannot yet tell from its own
    rows: np.ndarray  # int32 (rows,): its gates, the first count[0] of them
    count: np.ndarray  # int64 (1,)
    evidence: np.ndarray  # int8 (rows, 2): what each gate's inputs tell: NOTHING, LOW or HIGH
    taken: np.ndarray  # bool (rows,)
    stack: np.ndarray  # int32 (layers + 1, 3): a row, its next input, gates before that


@borrowing_kernel
def survey(values, slopes, sites):
    """Find where other values of gates would leave fewer cells wrong, and where more.

    `values` are those of the signals, `slopes` (gates, points) the derivatives by the gates'
    values.
    """
    gates, points = slopes.shape
    most = sites.points.shape[1]
    for g in range(gates):
        for p in range(points):
            slope = slopes[g, p]
            if slope == 0:
                continue
            bit = np.uint64(p & 63)
            value = (values[sites.place[g], p >> 6] >> bit) & np.uint64(1)
            change = -slope if value else slope
            if change > 0:
                sites.harm[g, value, p >> 6] |= np.uint64(1) << bit
                continue
            place = most
            while place and sites.change[g, place - 1] > change:
                place -= 1
                if place + 1 < most:
                    sites.change[g, place + 1] = sites.change[g, place]
                    sites.points[g, place + 1] = sites.points[g, place]
            if place < most:
                sites.change[g, place] = change
                sites.points[g, place] = p


@part
def use_row(signals, growth, row, word, bit):
    """Use a row that is not part of the detector; return what it tells."""
    place = signals.place[row]
    if place == ABSENT:
        return NOTHING
    true = (signals.values[place, word] >> bit) & np.uint64(1)
    narrows = False
    for w in range(len(growth.harm_left)):
        value = signals.values[place, w]
        left = growth.harm_left[w] & (value if true else ~value)
        if left != growth.harm_left[w]:
            growth.harm_left[w] = left
            narrows = True
    if not narrows:
        return NOTHING
    return HIGH if true else LOW


@part
def is_harmful(growth):
    """Return whether the detector cannot tell some point of harm from its own."""
    left = np.uint64(0)
    for w in range(len(growth.harm_left)):
        left |= growth.harm_left[w]
    return left != 0


@part
def begin(growth, depth, row):
    """Add a gate to the detector; its inputs come next."""
    growth.stack[depth, 0] = row
    growth.stack[depth, 1] = 0
    growth.rows[growth.count[0]] = row
    growth.count[0] += 1
    growth.stack[depth, 2] = growth.count[0]
    growth.taken[row] = True
    growth.evidence[row, 0] = growth.evidence[row, 1] = NOTHING


@part
def drop(growth, count):
    """Remove the gates after the first `count`."""
    while growth.count[0] > count:
        growth.count[0] -= 1
        growth.taken[growth.rows[growth.count[0]]] = False


@part
def grow(signals, growth, root, point, layers):
    """Grow a detector of a point at a gate that does nothing; return what that gate tells."""
    word = point >> 6
    bit = np.uint64(point & 63)
    drop(growth, 0)
    begin(growth, 0, root)
    depth = 0
    while True:
        row = growth.stack[depth, 0]
        side = growth.stack[depth, 1]
        if side < 2 and is_harmful(growth):
            growth.stack[depth, 2] = growth.count[0]
            child = signals.b[row] if side else signals.a[row]
            if not signals.spare[child]:
                growth.evidence[row, side] = use_row(signals, growth, child, word, bit)
            elif depth + 1 < layers and not growth.taken[child]:
                depth += 1
                begin(growth, depth, child)
                continue
            growth.stack[depth, 1] += 1
            continue
        tells = growth.evidence[row, 0] != NOTHING or growth.evidence[row, 1] != NOTHING
        if depth == 0:
            return HIGH if tells else NOTHING
        depth -= 1
        parent = growth.stack[depth, 0]
        side = growth.stack[depth, 1]
        if tells:
            growth.evidence[parent, side] = HIGH
        else:
            drop(growth, growth.stack[depth, 2])
        growth.stack[depth, 1] += 1


@borrowing_kernel
def detect(signals, sites, growth, attempts, layers, first):
    """Return the place of the first attempt from `first` on with a detector that does no harm.

    The detector is left in `growth`. The attempts' `harms` are set as far as they are made.
    """
    for i in range(first, len(attempts.roots)):
        if attempts.skipped[i]:
            continue
        attempts.harms[i] = prepare(signals, sites, growth, attempts.roots[i], layers)
        if attempts.harms[i] == 0:
            return i
    return len(attempts.roots)


@part
def prepare(signals, sites, growth, attempt, layers):
    """Grow a detector for a site; return the number of points of harm that remain, or -1."""
    site = attempt[0]
    root = attempt[2]
    point = sites.points[site, attempt[1]]
    place = sites.place[site]
    value = (signals.values[place, point >> 6] >> np.uint64(point & 63)) & np.uint64(1)
    for w in range(len(growth.harm_left)):
        growth.harm_left[w] = sites.harm[site, value, w]
    if grow(signals, growth, root, point, layers) == NOTHING:
        return np.int64(-1)
    left = np.int64(0)
    for w in range(len(growth.harm_left)):
        left += ones(growth.harm_left[w])
    return left
