"""A netlist as tables for the shader, the sizes of a run's buffers, and the shader's text.

Gates are ordered by *level*: a gate is one level above the higher of the two rows that it reads, so
all gates of a level can be computed at once. On the way back every row pulls its gradient from its
readers, in a fixed order, so no two threads add to the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import reached
from difflogic.circuit.gates import DECIDED
from difflogic.circuit.grid import NEIGHBORHOOD, OUTSIDE, Grid, neighbors
from difflogic.circuit.layer import levels_of
from difflogic.circuit.netlist import Netlist
from difflogic.system.errors import ConfigError

Words32 = npt.NDArray[np.uint32]

TILE_CELLS = 16
"""Cells of a tile: four vectors of four."""

VECTOR = 4
"""Cells that one thread computes together."""

THREADS = 64
"""Threads of a workgroup: a power of two, for the loss's sum."""

DEEPEST = 255
"""Most levels of a circuit."""

JOB_WORDS = 32
"""Words of a job before its list of loss channels."""


@dataclass(frozen=True)
class Shape:
    """The sizes of one run, which kernels are compiled for. Runs of one shape share a dispatch."""

    channels: int
    grid: Grid
    steps: int
    """Most automaton steps."""
    batch: int
    """Most samples."""
    loss_channels: int
    rows: int
    gates: int
    parameters: int
    numbers: int
    """Learned numbers of a gate: 16 logits, or four numbers."""

    @property
    def lanes(self) -> int:
        """Cells of the batch, filled up to whole tiles."""
        return -(-self.batch * self.grid.cells // TILE_CELLS) * TILE_CELLS

    @property
    def tiles(self) -> int:
        return self.lanes // TILE_CELLS

    @property
    def parts(self) -> dict[str, dict[str, int]]:
        """The parts of a run's place in each buffer, with their lengths in elements."""
        own = self.numbers * self.parameters
        every = 16 * self.parameters
        cells = self.channels * self.lanes
        return {
            "net": {
                "LEVEL": DEEPEST + 1,
                "GATE": self.gates,
                "PULL": self.gates + NEIGHBORHOOD * self.channels,
                "READER": 2 * self.gates + self.channels,
                "COPIES": self.parameters,
                "COPY": self.gates,
                "OUTPUT": self.channels,
                "NEIGHBOR": NEIGHBORHOOD * self.lanes // VECTOR,
            },
            "jobs": {"HEAD": JOB_WORDS, "CHANNEL": self.channels},
            # What is learned: logits, AdamW's two means, and the ops' probabilities.
            "learned": {"LOGIT": every, "FIRST": own, "SECOND": own, "PROBABILITY": every},
            "states": {
                "STATE": (self.steps + 1) * cells,
                "MASK": self.steps * self.lanes,
                "TARGET": self.loss_channels * self.lanes,
                "SLOPE": cells,
                # The inputs' gradients; two steps take turns.
                "INPUT": 2 * NEIGHBORHOOD * cells,
            },
            # Slots of the gates' sums, their totals, and two arrays by parameter.
            "sums": {
                "SLOT": self.tiles * self.gates,
                "TOTAL": self.gates,
                "COEFFICIENT": self.parameters,
                "GRADIENT": self.parameters,
            },
            "report": {"LOSS": self.batch, "OP": self.parameters},
        }

    @staticmethod
    def element(buffer: str) -> int:
        """Return the bytes of an element of a buffer: four numbers of 4 bytes, or one."""
        return 16 if buffer in ("net", "sums") else 4

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes of a run in each of the device's buffers."""
        tiles = self.tiles * self.rows * TILE_CELLS * 4
        found = {name: self.element(name) * sum(each.values()) for name, each in self.parts.items()}
        return found | {"values": tiles, "gradients": tiles}


def shape_of(
    netlist: Netlist, grid: Grid, steps: int, batch: int, loss_channels: int, numbers: int
) -> Shape:
    """Return the sizes of a run."""
    return Shape(
        channels=netlist.channels,
        grid=grid,
        steps=steps,
        batch=batch,
        loss_channels=loss_channels,
        rows=netlist.rows,
        gates=netlist.gates,
        parameters=netlist.parameters,
        numbers=numbers,
    )


def tables(netlist: Netlist, shape: Shape) -> Words32:
    """Return the words of a wiring, (words, 4), in the order of `shape.parts["net"]`.

    LEVEL: the number of levels, then for each level its first gate and the one after its last.
    GATE: row, a, b, parameter. PULL, for gates and then input rows: row, where its readers begin
    and end. READER: the reader's row (an output's channel), the other row that it reads, its
    parameter, and 0 if it reads the row as input a, 1 if as b, 2 if it is an output. COPIES, for a
    parameter: where its gates begin and end in COPY. OUTPUT: row. NEIGHBOR: four cells' neighbours.
    Raises ConfigError if the circuit has more than DEEPEST levels.
    """
    inputs = netlist.inputs
    # A gate's level, from 1; 0 if no output depends on it.
    level = levels_of(inputs, netlist.a, netlist.b)[inputs:]
    read = reached(inputs, netlist.a.tolist(), netlist.b.tolist(), netlist.outputs.tolist())
    level[~read[inputs:]] = 0
    order = np.argsort(level, kind="stable")[np.count_nonzero(level == 0) :]
    a = netlist.a[order]
    b = netlist.b[order]
    param = netlist.param[order]
    rows = inputs + order
    found = {name: np.zeros((length, 4), np.uint32) for name, length in shape.parts["net"].items()}
    deepest = int(level.max())
    if deepest > DEEPEST:
        raise ConfigError(
            f"[update] gates: a GPU takes circuits of up to {DEEPEST} layers, and this has "
            f"{deepest}: use --device cpu"
        )
    edges = np.searchsorted(level[order], np.arange(1, deepest + 2))
    found["LEVEL"][0, 0] = deepest
    found["LEVEL"][1 : deepest + 1, :2] = np.stack([edges[:-1], edges[1:]], axis=1)
    found["GATE"][: len(order)] = np.stack([rows, a, b, param], axis=1)

    outputs = netlist.outputs
    channel = np.arange(len(outputs))
    nothing = np.zeros_like(outputs)
    kind = np.full_like(a, 0), np.full_like(b, 1), np.full_like(outputs, 2)
    read = np.concatenate([a, b, outputs])
    readers = np.stack(
        [
            np.concatenate([rows, rows, channel]),
            np.concatenate([b, a, nothing]),
            np.concatenate([param, param, nothing]),
            np.concatenate(kind),
        ],
        axis=1,
    )
    by_row = np.argsort(read, kind="stable")
    found["READER"][: len(by_row)] = readers[by_row]
    pulled = np.concatenate([rows, np.arange(inputs)])
    places = np.concatenate([np.arange(len(order)), shape.gates + np.arange(inputs)])
    start = np.searchsorted(read[by_row], np.arange(netlist.rows + 1))
    found["PULL"][places, :3] = np.stack([pulled, start[pulled], start[pulled + 1]], axis=1)

    by_param = np.argsort(param, kind="stable")
    edges = np.searchsorted(param[by_param], np.arange(netlist.parameters + 1))
    found["COPIES"][:, :2] = np.stack([edges[:-1], edges[1:]], axis=1)
    found["COPY"][: len(by_param), 0] = by_param
    found["OUTPUT"][:, 0] = outputs
    found["NEIGHBOR"][:] = _neighbors(shape).reshape(-1, 4)
    return np.concatenate(list(found.values()))


def _neighbors(shape: Shape) -> Words32:
    """Return each lane's neighbours, (9, lanes); OUTSIDE beyond the edge and for unused lanes."""
    grid = shape.grid
    samples = np.arange(shape.batch)
    table = neighbors(grid.height, grid.width, grid.boundary)
    stacked = np.where(
        table[:, None] == OUTSIDE, OUTSIDE, table[:, None] + grid.cells * samples[:, None]
    )
    found = np.full((NEIGHBORHOOD, shape.lanes), OUTSIDE, np.int64)
    found[:, : shape.batch * grid.cells] = stacked.reshape(NEIGHBORHOOD, -1)
    return found.astype(np.uint32)


def offsets(parts: dict[str, int]) -> dict[str, int]:
    """Return where each part begins; they follow each other."""
    return dict(zip(parts, accumulate([0, *parts.values()]), strict=False))


def shader(shape: Shape, runs: int) -> str:
    """Return the shader's text for `runs` runs of one shape: constants, then kernels.wgsl."""
    constants = {
        "CHANNELS": shape.channels,
        "LANES": shape.lanes,
        "TILES": shape.tiles,
        "TILE": TILE_CELLS,
        "GRID_CELLS": shape.grid.cells,
        "ROWS": shape.rows,
        "GATES": shape.gates,
        "PARAMETERS": shape.parameters,
        "NUMBERS": shape.numbers,
        "THREADS": THREADS,
        "RUNS_AT_MOST": runs,
    }
    for name, parts in shape.parts.items():
        constants |= offsets(parts)
        constants[f"{name.upper()}_SIZE"] = sum(parts.values())
    head = [f"const {name} = {value}u;" for name, value in constants.items()]
    kernels = Path(__file__).with_name("kernels.wgsl").read_text(encoding="utf-8")
    return "\n".join([*head, f"const DECIDED = {DECIDED};", kernels])
