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
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.engine.program import Instruction, instructions_of, live_runs


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


def split_program(netlist: Netlist, parts: int) -> k.SplitCode:
    """Cut a netlist's gates for `parts` workers. Raises ValueError for less than one."""
    if parts < 1:
        raise ValueError(f"a tile's gates need one worker or more, not {parts}")
    runs = _Runs(netlist)
    order = instructions_of(netlist)
    pulls = pulls_of(netlist, order)
    forward = _depths(runs, lambda index: runs.sources(runs.all[index]), range(len(runs.all)))
    backward = _depths(runs, lambda index: runs.readers[index], range(len(runs.all) - 1, -1, -1))
    owner = _owners(runs, forward, parts)

    gates = _stages(forward, owner, lambda index: runs.sources(runs.all[index]), parts)
    gradients = _stages(backward, owner, lambda index: runs.readers[index], parts)
    outputs = set(netlist.outputs.tolist())
    dead = (row for row in range(netlist.inputs, netlist.rows) if row not in runs.writer)
    grad_outputs = [next(dead) if row < netlist.inputs else row for row in netlist.outputs.tolist()]
    targets: list[list[int]] = []
    added: list[Pull] = []

    def add_targets(rows: Iterable[int]) -> None:
        for row in rows:
            targets.append([row, len(added), len(pulls[row]), int(row in outputs)])
            added.extend(pulls[row])

    target_bounds = []
    for stage in gradients:
        bounds = [len(targets)]
        for part in stage:
            for index in part:
                run = runs.all[index]
                rows = range(run.out, run.out + run.width)
                # An output row that nobody reads has only the gradient from the loss.
                add_targets(row for row in rows if pulls[row] or row not in outputs)
            bounds.append(len(targets))
        target_bounds.append(bounds)
    last = [len(targets)]
    weights = [1 + len(pulls[row]) for row in range(netlist.inputs)]
    for share in _even(range(netlist.inputs), weights, parts):
        add_targets(share)
        last.append(len(targets))
    target_bounds.append(last)

    gate_code, gate_bounds = _rows_of([[[runs.all[i] for i in p] for p in s] for s in gates], parts)
    sum_code, sum_bounds = _rows_of([_sums(runs, order, parts)], parts)
    return k.SplitCode(
        parts=parts,
        gates=gate_code,
        gate_bounds=gate_bounds,
        targets=np.array(targets, np.int32).reshape(-1, k.TARGET_FIELDS),
        target_bounds=np.array(target_bounds, np.int32),
        pulls=np.array(added, np.int32).reshape(-1, k.PULL_FIELDS),
        sums=sum_code,
        sum_bounds=sum_bounds,
        outputs=netlist.outputs.astype(np.int32),
        grad_outputs=np.array(grad_outputs, np.int32),
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


def _sums(runs: _Runs, order: Sequence[Instruction], parts: int) -> list[list[Instruction]]:
    """Share out the gate sums: one part adds up all sums of a parameter, in order."""
    writer = {run.out: run for run in runs.all}
    by_param: dict[int, list[Instruction]] = defaultdict(list)
    for instruction in reversed(order):
        inner = star_runs(writer, instruction) if instruction.is_star else [instruction]
        for run in inner:
            by_param[run.params[0]].append(run)
    params = sorted(by_param)
    weights = [sum(run.width for run in by_param[param]) for param in params]
    return [
        [run for param in share for run in by_param[param]]
        for share in _even(params, weights, parts)
    ]


def _even(items: Sequence[int], weights: Sequence[int], parts: int) -> list[Sequence[int]]:
    """Cut items into consecutive slices of about the same weight."""
    ends = np.concatenate([[0], np.cumsum(weights)])
    marks = [ends[-1] * part / parts for part in range(1, parts)]
    cuts = [0, *np.searchsorted(ends, marks).tolist(), len(items)]
    return [items[cuts[part] : cuts[part + 1]] for part in range(parts)]


def _rows_of(
    stages: list[list[list[Instruction]]], parts: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Encode the runs of each stage and part, with their bounds."""
    rows: list[list[int]] = []
    bounds = []
    for stage in stages:
        ends = [len(rows)]
        for part in stage:
            for run in part:
                row = [0] * k.FIELDS
                row[k.A], row[k.B], row[k.OUT] = *run.reads, run.out
                row[k.WIDTH], row[k.PARAM] = run.width, run.params[0]
                rows.append(row)
            ends.append(len(rows))
        bounds.append(ends)
    encoded = np.array(rows, np.int32).reshape(-1, k.FIELDS)
    return encoded, np.array(bounds, np.int32).reshape(-1, parts + 1)
