"""A netlist as the tables that the shader walks, and the sizes of everything a run keeps there.

Gates are ordered by *level*: a gate stands one level above the higher of the two rows that it
reads, so that all gates of a level can be computed at once. On the way back every row pulls its
gradient from those that read it, in a fixed order, so that no two threads add to one number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD, OUTSIDE, neighbors
from difflogic.circuit.netlist import Netlist
from difflogic.engine.layout import Grid
from difflogic.system.errors import ConfigError

Words = npt.NDArray[np.uint32]

LANES = 16
"""Cells of a tile: four vectors of four."""

VECTOR = 4
"""Cells that one thread computes together."""

DEEPEST = 255
"""Levels that a circuit may have."""

JOB_WORDS = 32
"""Words of a job before its list of loss channels."""


@dataclass(frozen=True)
class Shape:
    """What a kernel is compiled for: the sizes of one run. Runs of one shape share a dispatch."""

    channels: int
    grid: Grid
    steps: int
    """Automaton steps at most."""
    batch: int
    """Samples at most."""
    loss_channels: int
    rows: int
    gates: int
    parameters: int
    numbers: int
    """What is learned of a gate: 16 logits, or four numbers."""

    @property
    def lanes(self) -> int:
        """Cells of the batch, filled up to whole tiles."""
        return -(-self.batch * self.grid.cells // LANES) * LANES

    @property
    def tiles(self) -> int:
        return self.lanes // LANES

    @property
    def net(self) -> dict[str, int]:
        """Tables of a wiring and their lengths, in words of four."""
        return {
            "LEVEL": DEEPEST + 1,
            "GATE": self.gates,
            "PULL": self.gates + NEIGHBORHOOD * self.channels,
            "READER": 2 * self.gates + self.channels,
            "COPIES": self.parameters,
            "COPY": self.gates,
            "OUTPUT": self.channels,
            "NEIGHBOR": NEIGHBORHOOD * self.lanes // VECTOR,
        }

    @property
    def state(self) -> dict[str, int]:
        """What is kept of cells, in numbers; the inputs' gradients of two steps take turns."""
        return {
            "STATE": (self.steps + 1) * self.channels * self.lanes,
            "MASK": self.steps * self.lanes,
            "TARGET": self.loss_channels * self.lanes,
            "SLOPE": self.channels * self.lanes,
            "INPUT": 2 * NEIGHBORHOOD * self.channels * self.lanes,
        }

    @property
    def learned(self) -> dict[str, int]:
        """What is kept of gates, in numbers: logits, AdamW's two means, and probabilities."""
        own = self.numbers * self.parameters
        every = 16 * self.parameters
        return {"LOGIT": every, "FIRST": own, "SECOND": own, "PROBABILITY": every}

    @property
    def sums(self) -> dict[str, int]:
        """Slots of the gates' sums, their totals, and both by parameter, in fours."""
        return {
            "SLOT": self.tiles * self.gates,
            "TOTAL": self.gates,
            "COEFFICIENT": self.parameters,
            "GRADIENT": self.parameters,
        }

    @property
    def job(self) -> dict[str, int]:
        """What the host says about a step, in words."""
        return {"HEAD": JOB_WORDS, "CHANNEL": self.channels}

    @property
    def report(self) -> dict[str, int]:
        """What the host reads after a step, in words: a loss per sample, a word per gate."""
        return {"LOSS": self.batch, "OP": self.parameters}

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes of a run in each of the device's buffers."""
        tile = self.tiles * self.rows * LANES * 4
        four = {"net": self.net, "sums": self.sums}
        one = {"jobs": self.job, "learned": self.learned, "states": self.state}
        found = {name: 16 * sum(parts.values()) for name, parts in four.items()}
        found |= {name: 4 * sum(parts.values()) for name, parts in one.items()}
        return found | {"values": tile, "gradients": tile, "report": 4 * sum(self.report.values())}


def shape_of(
    netlist: Netlist, grid: Grid, steps: int, batch: int, loss_channels: int, numbers: int
) -> Shape:
    """Return the sizes of a run."""
    return Shape(
        netlist.channels,
        grid,
        steps,
        batch,
        loss_channels,
        netlist.rows,
        netlist.gates,
        netlist.parameters,
        numbers,
    )


def levels(netlist: Netlist) -> npt.NDArray[np.int64]:
    """Return the level of each gate, from 1; 0 if no output depends on it."""
    a, b, inputs = netlist.a.tolist(), netlist.b.tolist(), netlist.inputs
    depth, needed = [0] * netlist.rows, [False] * netlist.rows
    for row in netlist.outputs.tolist():
        needed[row] = True
    for gate in reversed(range(netlist.gates)):
        if needed[inputs + gate]:
            needed[a[gate]] = needed[b[gate]] = True
    for gate in range(netlist.gates):
        depth[inputs + gate] = 1 + max(depth[a[gate]], depth[b[gate]])
    found = np.array(depth[inputs:], np.int64)
    found[~np.array(needed[inputs:], bool)] = 0
    return found


def tables(netlist: Netlist, shape: Shape) -> Words:
    """Return the words of a wiring, (words, 4), table after table as `shape.net` has them.

    LEVEL: the number of levels, then the first gate of each and the one after its last; GATE: row,
    a, b, parameter; PULL, of gates and then of input rows: row, and where its readers begin and
    end; READER: the reader's row (of an output its channel), the other row that it reads, its
    parameter, and 0 if this is its input a, 1 if b, 2 for an output; COPIES, of a parameter: where
    its gates begin and end in COPY; OUTPUT: its row; NEIGHBOR: four cells' neighbours.
    """
    inputs, level = netlist.inputs, levels(netlist)
    order = np.argsort(level, kind="stable")[np.count_nonzero(level == 0) :]
    a, b, param = netlist.a[order], netlist.b[order], netlist.param[order]
    rows = inputs + order
    found = {name: np.zeros((length, 4), np.uint32) for name, length in shape.net.items()}
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
    channel, nothing = np.arange(len(outputs)), np.zeros_like(outputs)
    of = np.full_like(a, 0), np.full_like(b, 1), np.full_like(outputs, 2)
    read = np.concatenate([a, b, outputs])
    readers = np.stack(
        [
            np.concatenate([rows, rows, channel]),
            np.concatenate([b, a, nothing]),
            np.concatenate([param, param, nothing]),
            np.concatenate(of),
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


def _neighbors(shape: Shape) -> Words:
    """Return each lane's neighbours, (9, lanes); what is outside, or fills a tile, sees none."""
    grid, samples = shape.grid, np.arange(shape.batch)
    table = neighbors(grid.height, grid.width, grid.boundary)
    stacked = np.where(
        table[:, None] == OUTSIDE, OUTSIDE, table[:, None] + grid.cells * samples[:, None]
    )
    found = np.full((NEIGHBORHOOD, shape.lanes), OUTSIDE, np.int64)
    found[:, : shape.batch * grid.cells] = stacked.reshape(NEIGHBORHOOD, -1)
    return found.astype(np.uint32)
