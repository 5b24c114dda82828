"""A netlist cut into parts, for workers that share a tile's gates.

Each worker is one *part*. Forward, it computes its part of each layer into rows that all parts see.
Backward, no part adds to another's rows: the gradient of a row belongs to one part, which *pulls*
and adds up the contributions of all readers of the row. It adds them in the order, and with the
roundings, of the instructions that one worker runs for a whole tile (program.py), so that all bits
are the same.

A *stage* is the work between two meetings of the parts. A layer begins a new stage only if a part
reads what another part has written since they met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.engine.soft.program import Instruction, instructions_of, live_runs
from difflogic.system.array_types import Int32s


class Pull(NamedTuple):
    """The contribution of one reader of a row to the row's gradient."""

    grad: int  # the reader's output row
    other: int  # the row of the reader's other input
    param: int
    side: int  # 1 if the row is the reader's input a, 2 if b: index of the linear coefficient
    fused: int  # whether product and sum are rounded together


class _Runs:
    """The live runs of a netlist, with the writer and the readers of each row."""

    def __init__(self, netlist: Netlist) -> None:
        self.all = live_runs(netlist)
        self.writer: dict[int, int] = {}
        self.readers: dict[int, set[int]] = defaultdict(set)
        for index, run in enumerate(self.all):
            self.writer.update(dict.fromkeys(range(run.out, run.out + run.width), index))
            for source in self.sources(run):
                self.readers[source].add(index)

    def sources(self, run: Instruction) -> set[int]:
        """Return the indices of the runs that a run reads."""
        rows = (row + w for row in run.reads for w in range(run.width))
        return {self.writer[row] for row in rows if row in self.writer}


Duty = tuple[int, int, int]
"""A kind, and the first and the end of the numbers that it is about."""


class _Table:
    """Rows that duties number, in the order of stages and parts."""

    def __init__(self, kind: int) -> None:
        self.kind = kind
        self.rows: list[tuple[int, ...]] = []

    def add(self, rows: Iterable[tuple[int, ...]]) -> Duty:
        """Append rows; return the duty that is about them."""
        first = len(self.rows)
        self.rows += rows
        return self.kind, first, len(self.rows)


def split_program(netlist: Netlist, parts: int) -> k.SplitCode:
    """Cut a netlist's gates for `parts` workers. Raises ValueError for less than one.

    In a stage, no part writes what another one reads or writes.
    """
    if parts < 1:
        raise ValueError(f"a tile's gates need one worker or more, not {parts}")
    runs = _Runs(netlist)
    order = instructions_of(netlist)
    pulls = pulls_of(netlist, order)
    outputs = netlist.outputs.tolist()
    gates = _Table(k.EVALUATE)
    targets = _Table(k.PULL)
    sums = _Table(k.SUM)
    added: list[Pull] = []

    def target(row: int) -> tuple[int, ...]:
        added.extend(pulls[row])
        return row, len(added) - len(pulls[row]), len(pulls[row]), int(row in outputs)

    def pull(index: int) -> Iterator[tuple[int, ...]]:
        run = runs.all[index]
        for row in range(run.out, run.out + run.width):
            # An output row that nobody reads has only the gradient from the loss.
            if pulls[row] or row not in outputs:
                yield target(row)

    def ahead(index: int) -> Iterable[int]:
        return runs.sources(runs.all[index])

    back = runs.readers.__getitem__
    forward = _depths(runs, ahead, range(len(runs.all)))
    backward = _depths(runs, back, range(len(runs.all) - 1, -1, -1))
    owner = _owners(runs, forward, parts)
    cuts = [part * netlist.channels // parts for part in range(parts + 1)]
    channels = list(pairwise(cuts))
    gather = [[(k.GATHER, *some)] for some in channels]
    evaluate = [
        [[gates.add(_encoded(runs.all[index]) for index in part)] for part in stage]
        for stage in _stages(forward, owner, ahead, parts)
    ]
    follow = [
        [[targets.add(row for index in part for row in pull(index))] for part in stage]
        for stage in _stages(backward, owner, back, parts)
    ]
    inputs = _even([1 + len(pulls[row]) for row in range(netlist.inputs)], parts)
    last = [
        [
            (k.PASS_ON, *some),
            targets.add(map(target, range(*some))),
            (k.LEAVE, *some),
            sums.add(own),
        ]
        for some, own in zip(inputs, _sums(runs, order, parts), strict=True)
    ]
    receive = [[*first, (k.RECEIVE, *some)] for first, some in zip(gather, channels, strict=True)]
    dead = (row for row in range(netlist.inputs, netlist.rows) if row not in runs.writer)
    there, there_bounds = _laid_out([gather, *evaluate, [[(k.UPDATE, *some)] for some in channels]])
    way_back, back_bounds = _laid_out([receive, *evaluate, *follow, last])
    return k.SplitCode(
        parts=parts,
        forward=there,
        forward_bounds=there_bounds,
        backward=way_back,
        backward_bounds=back_bounds,
        gates=np.array(gates.rows, np.int32).reshape(-1, k.FIELDS),
        targets=np.array(targets.rows, np.int32).reshape(-1, k.TARGET_FIELDS),
        pulls=np.array(added, np.int32).reshape(-1, k.PULL_FIELDS),
        sums=np.array(sums.rows, np.int32).reshape(-1, k.FIELDS),
        outputs=netlist.outputs.astype(np.int32),
        grad_outputs=np.array(
            [next(dead) if row < netlist.inputs else row for row in outputs], np.int32
        ),
    )


def pulls_of(netlist: Netlist, order: Sequence[Instruction]) -> dict[int, list[Pull]]:
    """Return the contributions to the gradient of each netlist row, in the order of one worker.

    The walk back takes the instructions in reverse. A run rounds its products before it adds them,
    b first; so do the inner gates of a star. A gate fuses what it adds to b, and rounds what it
    adds to a, whether or not that stays in a register for the gate before. A star's leaves fuse
    both.
    """
    writer = {run.out: run for run in live_runs(netlist)}
    found: dict[int, list[Pull]] = defaultdict(list)

    def pull(run: Instruction, w: int, side: int, fused: bool) -> None:
        own, other = run.reads if side == 1 else run.reads[::-1]
        found[own + w].append(Pull(run.out + w, other + w, run.params[0], side, int(fused)))

    for instruction in reversed(order):
        if instruction.is_star:
            *leaves, left, right, root = star_runs(writer, instruction)
            for run, fused in [(r, False) for r in (root, left, right)] + [
                (r, True) for r in leaves
            ]:
                for w in range(instruction.width):
                    pull(run, w, 1, fused)
                    pull(run, w, 2, fused)
            continue
        for w in range(instruction.width):
            pull(instruction, w, 2, fused=instruction.width == 1)
            pull(instruction, w, 1, fused=False)
    return found


def star_runs(writer: dict[int, Instruction], star: Instruction) -> list[Instruction]:
    """Return the seven runs that became a star, in the order of its params."""
    root = writer[star.out]
    left, right = (writer[row] for row in root.reads)
    leaves = [writer[row] for branch in (left, right) for row in branch.reads]
    return [*leaves, left, right, root]


def _depths(runs: _Runs, before: Any, order: Iterable[int]) -> list[int]:
    """Return for each run the length of the longest chain of runs before it."""
    depths = [0] * len(runs.all)
    for index in order:
        depths[index] = 1 + max((depths[other] for other in before(index)), default=-1)
    return depths


def _owners(runs: _Runs, depths: list[int], parts: int) -> list[int]:
    """Choose a part for each run: that of its only reader, unless it has enough of the layer."""
    layers: dict[int, list[int]] = defaultdict(list)
    for index, depth in enumerate(depths):
        layers[depth].append(index)
    owner = [0] * len(runs.all)
    for depth in sorted(layers, reverse=True):
        layer = layers[depth]
        most = -(-sum(runs.all[index].width for index in layer) // parts)
        load = [0] * parts
        for index in layer:
            wanted = {owner[reader] for reader in runs.readers[index]}
            part = wanted.pop() if len(wanted) == 1 else -1
            if part < 0 or load[part] >= most:
                part = load.index(min(load))
            owner[index] = part
            load[part] += runs.all[index].width
    return owner


def _stages(depths: list[int], owner: list[int], before: Any, parts: int) -> list[list[list[int]]]:
    """Return the runs of each stage and part, in the order of their depth."""
    stages: list[list[list[int]]] = []
    stage_of: dict[int, int] = {}
    by_depth = sorted(range(len(depths)), key=lambda index: depths[index])
    for depth in sorted(set(depths)):
        layer = [index for index in by_depth if depths[index] == depth]
        now = len(stages) - 1
        foreign = any(
            owner[other] != owner[index] and stage_of[other] == now
            for index in layer
            for other in before(index)
        )
        if foreign or not stages:
            stages.append([[] for _ in range(parts)])
        for index in layer:
            stages[-1][owner[index]].append(index)
            stage_of[index] = len(stages) - 1
    return stages


def _sums(runs: _Runs, order: Sequence[Instruction], parts: int) -> Iterator[list[tuple[int, ...]]]:
    """Share out the gate sums: one part adds up all sums of a parameter, in order."""
    writer = {run.out: run for run in runs.all}
    by_param: dict[int, list[Instruction]] = defaultdict(list)
    for instruction in reversed(order):
        inner = star_runs(writer, instruction) if instruction.is_star else [instruction]
        for run in inner:
            by_param[run.params[0]].append(run)
    params = sorted(by_param)
    for first, end in _even([sum(run.width for run in by_param[param]) for param in params], parts):
        yield [_encoded(run) for param in params[first:end] for run in by_param[param]]


def _even(weights: Sequence[int], parts: int) -> list[tuple[int, int]]:
    """Cut items into consecutive slices of about the same weight: the first and the end of each."""
    ends = np.cumsum([0, *weights])
    marks = [ends[-1] * part / parts for part in range(1, parts)]
    return list(pairwise([0, *np.searchsorted(ends, marks).tolist(), len(weights)]))


def _encoded(run: Instruction) -> tuple[int, ...]:
    row = [0] * k.FIELDS
    row[k.A], row[k.B] = run.reads
    row[k.OUT] = run.out
    row[k.WIDTH] = run.width
    row[k.PARAM] = run.params[0]
    return tuple(row)


def _laid_out(stages: list[list[list[Duty]]]) -> tuple[Int32s, Int32s]:
    """Lay out the duties of each stage and part, with their bounds."""
    duties: list[Duty] = []
    bounds = []
    for stage in stages:
        ends = [len(duties)]
        for part in stage:
            duties += [duty for duty in part if duty[k.DUTY_FIRST] < duty[k.DUTY_END]]
            ends.append(len(duties))
        if ends[0] < ends[-1]:  # nobody meets for nothing
            bounds.append(ends)
    return np.array(duties, np.int32), np.array(bounds, np.int32)
