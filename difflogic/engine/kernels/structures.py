"""What the kernels are called with: columns of instructions, and the tuples that hold arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.system.jit import by_reference
from difflogic.system.jit.processor import Registers

LANES = (16, 32, 64)
"""Lanes that a tile can have; the vector loops are unrolled for each."""
MAX_LANES = max(LANES)
SCRATCH_SUMS = 28 * LANES[0]
SCRATCH = SCRATCH_SUMS + MAX_LANES
"""Numbers in a worker's scratch: the four sums of a star's seven gates, a vector each, and zeros,
which stay."""

RING = 2
"""Steps whose input gradients are kept. A tile that may read those of the step after has
neighbours that are done with that step, and so with reading what it overwrites."""

# Columns of an instruction (program.py). A star is seven gates, see STAR_GATES there.
A, B, OUT, WIDTH, PARAM, GRAD_A, GRAD_B, GRAD_OUT, FLAGS = range(9)
FIELDS = 9
LINK, LINKED, ADD_A, ADD_B = 1, 2, 4, 8
STAR_LEAVES, STAR_CENTER, STAR_OUT, STAR_WIDTH, STAR_PARAMS = 0, 4, 5, 6, 7
STAR_GRAD_LEAVES, STAR_GRAD_CENTER, STAR_GRAD_OUT, STAR_ADDS = 14, 18, 19, 20
STAR_FIELDS = 21
"""STAR_ADDS has a bit for each leaf, and one for the centre: whether to add to its gradient."""

# Where a tile's gates are split: gradient rows that are summed up, and what is added to each.
TARGET_ROW, TARGET_PULLS, TARGET_COUNT, TARGET_FILLED = range(4)
TARGET_FIELDS = 4
PULL_GRAD, PULL_OTHER, PULL_PARAM, PULL_SIDE, PULL_FUSED = range(5)
PULL_FIELDS = 5


@by_reference
class Code(NamedTuple):
    """A program's instructions, each kind a matrix; executed in the order of the fields."""

    stars: np.ndarray  # int32 (stars, STAR_FIELDS)
    runs: np.ndarray  # int32 (runs, FIELDS): gates repeated over `width` rows
    gates: np.ndarray  # int32 (gates, FIELDS): gates of one row, linked into chains
    outputs: np.ndarray  # int32 (channels,): rows of the cell's next state
    grad_outputs: np.ndarray  # int32 (channels,): rows of their gradient


@by_reference
class ProgramCode(NamedTuple):
    """A program, as far as the kernels need it."""

    forward: Code
    backward: Code
    zero_rows: np.ndarray  # int32: gradient rows to clear before the walk back
    inputs: np.ndarray  # int32 (9·C,): the inputs' rows, 0 and up


@by_reference
class SplitCode(NamedTuple):
    """A program whose gates several workers share, for one tile at a time (split.py).

    Rows are those of the netlist. A stage is what they do between two barriers; part p of it are
    the instructions bounds[stage, p] to before bounds[stage, p + 1].
    """

    parts: int
    gates: np.ndarray  # int32 (runs, FIELDS)
    gate_bounds: np.ndarray  # int32 (stages, parts + 1)
    targets: np.ndarray  # int32 (rows, TARGET_FIELDS); the last stage has the inputs' rows
    target_bounds: np.ndarray  # int32 (stages, parts + 1)
    pulls: np.ndarray  # int32 (pulls, PULL_FIELDS): in the order in which they are added
    sums: np.ndarray  # int32 (runs, FIELDS): whose gate sums are added up, in order
    sum_bounds: np.ndarray  # int32 (1, parts + 1)
    outputs: np.ndarray  # int32 (channels,): rows of the cell's next state
    grad_outputs: np.ndarray  # int32 (channels,): rows of their gradient


@by_reference
class Layout(NamedTuple):
    """Where the cells of a group of samples lie, and how they are cut into tiles and chunks.

    A state is (channels, stride); cell i stands at `lead` + i, and everything else stays zero.
    Neighbour n of most cells is `shifts[n]` further; for the lanes of a tile where it is not
    (at an edge), mend_start[tile, n : n + 2] bounds the entries that say where it is.
    """

    cells: int
    lead: int
    shifts: np.ndarray  # int32 (9,)
    mend_start: np.ndarray  # int32 (tiles, 10)
    mend_lane: np.ndarray  # int32 (mends,)
    mend_source: np.ndarray  # int32 (mends,): a place in the state
    tile_start: np.ndarray  # int32 (tiles,): first cell
    tile_lanes: np.ndarray  # int32 (tiles,): one of LANES
    chunk_start: np.ndarray  # int32 (chunks + 1,): first tile of each chunk, and the end
    seen_start: np.ndarray  # int32 (chunks + 1,): bounds each chunk's entries of `seen`
    seen: np.ndarray  # int32: the chunks that a chunk waits for, and that wait for it; itself too


@by_reference
class Team(NamedTuple):
    """How workers share the groups of samples: `whole` ones each alone, the rest together."""

    workers: int
    whole: int


@by_reference
class Problem(NamedTuple):
    """What stays the same from one training step to the next."""

    team: Team
    program: ProgramCode
    layout: Layout


@by_reference
class Batch(NamedTuple):
    """A batch of samples, in groups, and all that a training step leaves of it; workers share it.

    The rollout ends with the last of `loss_steps`, after each of which the state is supervised.
    """

    coefficients: np.ndarray  # (parameters · 4,)
    states: np.ndarray  # (groups, steps + 1 or more, C, stride): the starts, then every step
    masks: np.ndarray  # uint8 (groups, steps, cells), 1 where updated; (groups, …, 0): everywhere
    targets: np.ndarray  # (groups, loss channels, stride)
    loss_channels: np.ndarray  # int64 (loss channels,)
    loss_steps: np.ndarray  # int64 (losses,): ascending
    losses: np.ndarray  # float64 (groups, samples of a group)
    loss_gradients: np.ndarray  # (groups, losses, C, stride): dL/d(states after loss_steps)
    input_gradients: np.ndarray  # (groups, RING, 9·C, stride): of the last steps' inputs
    sums: np.ndarray  # (groups, chunks, parameters · 4): slots of Σg, Σga, Σgb, Σgab per gate
    clock: np.ndarray  # float64 (workers, CLOCK_FIELDS): seconds by phase, see teams.py


@by_reference
class Span(NamedTuple):
    """What one call of the workers does of a training step."""

    parts: int  # FORWARD, LOSS and BACKWARD, added up
    first: int  # of the automaton's steps, from here
    end: int  # to before here
    in_use: int  # samples that count; the others of the last group leave no gradient


FORWARD, LOSS, BACKWARD = 1, 2, 4
"""Parts of a training step that workers can be asked for."""


class StepBack(NamedTuple):
    """One automaton step of one group, on the way back."""

    state: np.ndarray  # (C, stride), before the step
    mask: np.ndarray  # (cells,) or (0,)
    last: bool  # whether no step follows
    supervised: bool  # whether the new state has a loss of its own
    loss_gradient: np.ndarray  # (C, stride): dL/d(new state), as far as that loss goes
    upstream: np.ndarray  # (9·C, stride): what the step after left at its cells' inputs
    downstream: np.ndarray  # (9·C, stride): where this one leaves its own


@by_reference
class Workspace(NamedTuple):
    """One worker's buffers, aligned to a cache line."""

    values: np.ndarray  # rows · MAX_LANES
    gradients: np.ndarray  # gradient rows · MAX_LANES
    kept: np.ndarray  # channels · MAX_LANES
    scratch: np.ndarray  # SCRATCH
    cursor: np.ndarray  # int64 (CURSOR_FIELDS,), see teams.py
    trace: np.ndarray  # float64 (events, TRACE_FIELDS), see tracing.py; (0, …): none is wanted


@by_reference
class Seat(NamedTuple):
    """Where one of the workers who share a tile's gates stands among them; see split.py."""

    part: int
    split: SplitCode
    leader: Workspace
    control: np.ndarray  # int64
    place: int  # of their barrier in the control array


def chains_of(registers: Registers) -> int:
    """Return how many chains of fused multiply-adds fit the registers, and hide their latency.

    Two units with a latency of 4 take 8 of them, four units 16; one register holds the factor.
    """
    return 3 * registers.number // 4


WORDS = 8
"""Words of 64 cells that a hard tile holds: one vector per row."""

HARD_FIELDS = 3
"""Columns of a hard gate: rows of its two inputs, and its op. It writes the row of its number."""


FORCED, SPECIAL = 16, 32
"""Added to the op of a gate that `hard_follow` always evaluates, or compares with nothing."""


@by_reference
class Wires(NamedTuple):
    """A netlist, as far as the kernels need it."""

    a: np.ndarray  # int32 (gates,): rows that they read
    b: np.ndarray  # int32 (gates,)
    param: np.ndarray  # int32 (gates,): whose op they have
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int


@by_reference
class Space(NamedTuple):
    """Room to work in, by rows of a netlist. Kernels allocate nothing: that takes seconds to
    compile, for the messages of errors that cannot happen.
    """

    source: np.ndarray  # int64 (rows,)
    number: np.ndarray  # int64 (rows,)
    needed: np.ndarray  # bool (rows,)


@by_reference
class HardCode(NamedTuple):
    """A hardened circuit without what does not matter. Rows: all inputs, then `gates`."""

    gates: np.ndarray  # int32 (gates, HARD_FIELDS)
    inputs: np.ndarray  # int32 (inputs, 3): rows that are read, their neighbours and channels
    channels: np.ndarray  # int32: channels that are computed
    outputs: np.ndarray  # int32: their next state's rows


@by_reference
class HardCells(NamedTuple):
    """How bit-packed cells find their neighbours.

    Bit i of word `pad` + w is cell 64·w + i of the batch. Neighbour n is the state from word
    `skip` on, shifted right by `shift` bits, under `masks`, joined over start[n : n + 2] (several
    where a boundary wraps).
    """

    pad: int
    cells: int  # of one sample
    start: np.ndarray  # int64 (10,)
    skip: np.ndarray  # int64 (shifts,)
    shift: np.ndarray  # uint64 (shifts,): below 64
    masks: np.ndarray  # uint64 (shifts, words)


@by_reference
class HardScript(NamedTuple):
    """What happens to a batch of bit-packed samples during a rollout, and what is counted.

    Each of the first two is empty, or has one row of words for all steps, or one per step.
    """

    fires: np.ndarray  # uint64 (… , words): bits of cells that take their new state
    keeps: np.ndarray  # uint64 (… , words): bits of cells that are not zeroed after the step
    at: np.ndarray  # int64 (counts,): steps after which wrong bits are counted, ascending, from 1
    channels: np.ndarray  # int32 (loss channels,)
    targets: np.ndarray  # uint64 (1 or counts, loss channels, words)
    counted: np.ndarray  # uint64 (1 or counts, words): bits of cells that count
    every: np.ndarray  # uint64 (WORDS,): all ones, where nothing else is given
