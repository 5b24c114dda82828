"""What the kernels are called with: columns of instructions, and tuples that hold arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.system.jit import by_reference
from difflogic.system.jit.processor import Registers

LANES = (16, 32, 64)
"""Lanes that a tile can have; the vector loops are unrolled for each."""
MAX_LANES = max(LANES)
PIECE = 256
"""Lanes of adjacent rows that a star's gates walk back over before the next gate's turn: their
values and gradients stay in the first-level cache."""
SCRATCH_SUMS = 28 * LANES[0]
SCRATCH = SCRATCH_SUMS + 7 * PIECE
"""Numbers in a worker's scratch: the four sums of a star's seven gates, a vector each, then zeros,
which are never written, and the inner values of a star."""

RING = 2
"""Steps whose input gradients are kept. When a tile may read the gradients of step s + 1, its
neighbours are done with that step, so nobody reads the gradients of step s + 2 any more, which it
overwrites."""

# Columns of an instruction (program.py). A star is a tree of seven gates.
A, B, OUT, WIDTH, PARAM, GRAD_A, GRAD_B, GRAD_OUT, FLAGS = range(9)
FIELDS = 9
LINK = 1
LINKED = 2
ADD_A = 4
ADD_B = 8
STAR_LEAVES = 0
STAR_CENTER = 4
STAR_OUT = 5
STAR_WIDTH = 6
STAR_PARAMS = 7
STAR_GRAD_LEAVES = 14
STAR_GRAD_CENTER = 18
STAR_GRAD_OUT = 19
STAR_ADDS = 20
STAR_FIELDS = 21
"""STAR_ADDS has a bit for each leaf, and one for the centre: whether to add to its gradient."""


@by_reference
class Instructions(NamedTuple):
    """A program's instructions, each kind a matrix; executed in the order of the fields."""

    stars: np.ndarray  # int32 (stars, STAR_FIELDS)
    runs: np.ndarray  # int32 (runs, FIELDS): gates repeated over `width` rows
    gates: np.ndarray  # int32 (gates, FIELDS): gates of one row, linked into chains
    outputs: np.ndarray  # int32 (channels,): rows of the cell's next state
    grad_outputs: np.ndarray  # int32 (channels,): rows of their gradient


@by_reference
class ProgramCode(NamedTuple):
    """A program's instructions in both directions."""

    forward: Instructions
    backward: Instructions
    zero_rows: np.ndarray  # int32: gradient rows to clear: no instruction stores to them first
    inputs: np.ndarray  # int32 (9·C,): the inputs' rows, 0 and up


@by_reference
class Layout(NamedTuple):
    """Where the cells of a group of samples lie, and how they are cut into tiles and chunks.

    A state is (channels, stride). Cell i stands at `lead` + i; everything else stays zero.
    Neighbour n of most cells is `shifts[n]` further on. For the other lanes of a tile, at an edge,
    corrections correction_start[tile, n] to before correction_start[tile, n + 1] say where it is.
    """

    cells: int
    lead: int
    shifts: np.ndarray  # int32 (9,)
    correction_start: np.ndarray  # int32 (tiles, 10)
    correction_lane: np.ndarray  # int32 (corrections,)
    correction_source: np.ndarray  # int32 (corrections,): a place in the state
    tile_start: np.ndarray  # int32 (tiles,): first cell
    tile_lanes: np.ndarray  # int32 (tiles,): one of LANES
    chunk_start: np.ndarray  # int32 (chunks + 1,): first tile of each chunk, and the end
    seen_start: np.ndarray  # int32 (chunks + 1,): bounds each chunk's entries of `seen`
    seen: np.ndarray  # int32: chunks that a chunk waits for, and that wait for it; includes itself


@by_reference
class Team(NamedTuple):
    """How workers share the groups of samples: `groups_alone` by one worker each, others
    by all together.
    """

    workers: int
    groups_alone: int


@by_reference
class Setup(NamedTuple):
    """What stays the same from one training step to the next."""

    team: Team
    program: ProgramCode
    layout: Layout


@by_reference
class Batch(NamedTuple):
    """A batch of samples, in groups, and all results of a training step; workers share it.

    The rollout ends with the last of `loss_steps`. The state is supervised after each of them.
    """

    coefficients: np.ndarray  # (parameters · 4,)
    states: np.ndarray  # (groups, steps + 1 or more, C, stride): the starts, then each step's state
    masks: np.ndarray  # uint8 (groups, steps, cells): 1 where updated; (groups, …, 0): all updated
    targets: np.ndarray  # (groups, loss channels, stride)
    loss_channels: np.ndarray  # int64 (loss channels,)
    loss_steps: np.ndarray  # int64 (losses,): ascending
    losses: np.ndarray  # float64 (groups, samples of a group)
    loss_gradients: np.ndarray  # (groups, losses, C, stride): dL/d(states after loss_steps)
    input_gradients: np.ndarray  # (groups, RING, 9·C, stride): of the last steps' inputs
    sums: np.ndarray  # (groups, chunks, parameters · 4): Σg, Σga, Σgb, Σgab per gate
    clock: np.ndarray  # float64 (workers, CLOCK_FIELDS): seconds by phase, see teams.py


@by_reference
class Span(NamedTuple):
    """The part of a training step that one call of the workers does."""

    parts: int  # sum of FORWARD, LOSS and BACKWARD
    first: int  # first automaton step
    end: int  # after the last automaton step
    in_use: int  # samples that count; the others of the last group leave no gradient


FORWARD = 1
LOSS = 2
BACKWARD = 4
"""Parts of a training step."""


@by_reference
class Call(NamedTuple):
    """What one call of the workers does; they share it."""

    problem: Setup
    batch: Batch
    span: Span
    control: np.ndarray  # int64: places where workers take tasks and meet, see teams.py


class TilePlace(NamedTuple):
    """Where a tile's cells lie."""

    layout: Layout
    index: int
    start: int  # its first cell
    lanes: int
    count: int  # lanes that hold cells
    place: int  # place of the first cell in a row of a state


class StepForward(NamedTuple):
    """One automaton step of one group."""

    coefficients: np.ndarray  # (parameters · 4,)
    state: np.ndarray  # (C, stride), before the step
    mask: np.ndarray  # (cells,): 1 where a cell takes its new state; (0,) if all do
    new_state: np.ndarray  # (C, stride)


class StepBack(NamedTuple):
    """One automaton step of one group, on the way back."""

    coefficients: np.ndarray  # (parameters · 4,)
    state: np.ndarray  # (C, stride), before the step
    mask: np.ndarray  # (cells,) or (0,)
    last: bool  # whether this is the last step
    supervised: bool  # whether the new state has a loss of its own
    loss_gradient: np.ndarray  # (C, stride): dL/d(new state) by that loss alone
    upstream: np.ndarray  # (9·C, stride): input gradients of the next step
    downstream: np.ndarray  # (9·C, stride): where to write this step's


@by_reference
class Workspace(NamedTuple):
    """One worker's buffers, aligned to a cache line."""

    values: np.ndarray  # rows · MAX_LANES
    gradients: np.ndarray  # gradient rows · MAX_LANES
    kept: np.ndarray  # channels · MAX_LANES
    scratch: np.ndarray  # SCRATCH
    cursor: np.ndarray  # int64 (CURSOR_FIELDS,), see teams.py


def chains_of(registers: Registers) -> int:
    """Return how many chains of fused multiply-adds fit the registers and hide their latency.

    Two units with a latency of 4 need 8 chains, four units 16. One register holds the factor.
    """
    return 3 * registers.number // 4


WORDS = 8
"""Words of 64 cells that a hard tile holds: one vector per row."""

HARD_FIELDS = 3
"""Columns of a hard gate: the rows of its two inputs, and its op. Gate i writes the i-th row after
the inputs."""


FORCED = 16
SPECIAL = 32
"""Added to the op of a gate that `hard_follow` always evaluates, or whose result it always
flags."""


@by_reference
class NetlistArrays(NamedTuple):
    """The wires of a netlist by rows, the inputs first."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int


@by_reference
class Marks(NamedTuple):
    """What some channels and rows depend on."""

    live: np.ndarray  # bool (rows,)
    channels: np.ndarray  # bool (channels,)
    stack: np.ndarray  # int32 (rows,): scratch


@by_reference
class Pruning(NamedTuple):
    """What pruning finds. Kernels allocate nothing: code for allocation errors takes seconds to
    compile.
    """

    source: np.ndarray  # int32 (rows,): the row whose value a row has
    number: np.ndarray  # int64 (rows,): the row of a needed source in the pruned circuit
    marks: Marks  # sources that are needed, and channels
    gates: np.ndarray  # int32 (gates, HARD_FIELDS): the remaining gates come first
    origin: np.ndarray  # int32 (gates,): each remaining gate's number in the netlist
    outputs: np.ndarray  # int32 (channels,): rows of the channels' next states


@by_reference
class HardCode(NamedTuple):
    """A pruned hard circuit. Rows: all inputs, then `gates`."""

    gates: np.ndarray  # int32 (gates, HARD_FIELDS)
    inputs: np.ndarray  # int32 (inputs, 3): rows that are read, with neighbour and channel
    channels: np.ndarray  # int32: channels that are computed
    outputs: np.ndarray  # int32: rows of their next states


@by_reference
class HardCells(NamedTuple):
    """How bit-packed cells find their neighbours, and what their gates' ops mean.

    Bit i of word `pad` + w is cell 64·w + i of the batch. Neighbour n is the state from word `skip`
    on, shifted right by `shift` bits and masked by `masks`. The shifts from start[n] to before
    start[n + 1] are joined; there are several where a boundary wraps.
    """

    pad: int
    cells: int  # of one sample
    start: np.ndarray  # int64 (10,)
    skip: np.ndarray  # int64 (shifts,)
    shift: np.ndarray  # uint64 (shifts,): below 64
    masks: np.ndarray  # uint64 (shifts, words)
    forms: np.ndarray  # uint64 (16, 4): each op's algebraic normal form, as words of zeros or ones


@by_reference
class HardScript(NamedTuple):
    """What happens to a batch of bit-packed samples during a rollout, and what is counted."""

    steps: int
    fires: np.ndarray  # uint64 (1 or steps, words): bits of cells that take their new state
    keeps: np.ndarray  # uint64 (1 or steps, words): bits of cells that are not zeroed then
    at: np.ndarray  # int64 (counts,): steps after which wrong bits are counted, ascending, from 1
    channels: np.ndarray  # int32 (loss channels,)
    targets: np.ndarray  # uint64 (1 or counts, loss channels, words)
    counted: np.ndarray  # uint64 (1 or counts, words): bits of cells that count
    by_cell: bool  # whether a cell counts once, however many of its bits are wrong


@by_reference
class HardRun(NamedTuple):
    """A hard circuit at work on a batch."""

    code: HardCode
    cells: HardCells
    states: np.ndarray  # uint64 (…, C, pad + words + pad): before step t, states[t % len(states)]
    tile: np.ndarray  # uint64 (rows, WORDS): scratch, a row for each input and each gate
