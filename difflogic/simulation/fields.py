"""What compiled code is told about a grid and its steps: one array of 64-bit numbers."""

from __future__ import annotations

from enum import IntEnum


class Field(IntEnum):
    """Places in the parameters of `run`, 64 bits each.

    Steps are taken in blocks of DEPTH: of all steps of a block but the last a worker keeps three
    rows, in its scratch, which its caches hold. So a block reads one grid once and writes the
    other once. Around a band of rows, DEPTH - 1 rows more are computed by its neighbours, too.

    A ticket t is band t mod BANDS of block t // BANDS. Worker threads draw tickets in order, and
    a band waits until it and its two neighbours have done the block before: no barrier, and a
    thread that starts late, or never, keeps nobody waiting.
    """

    SOURCE = 0  # address of the grid before block 0; odd blocks read the other
    TARGET = 1
    TICKET = 2  # address of the next ticket
    DONE = 3  # address of the bands' finished blocks, one per cache line
    TICKETS = 4  # blocks · bands
    BANDS = 5
    DEPTH = 6  # at most the height
    HEIGHT = 7
    ROW_STRIDE = 8  # words from a row to the next
    CHANNEL_STRIDE = 9  # words from a channel to the next
    VECTORS = 10  # of a channel's row
    RING = 11  # where the kept rows begin in the scratch, in words; the fire mask lies before
    LAST_WORD = 12
    LAST_MASK = 13  # the bits of the last word that are cells
    LAST_BIT = 14  # place of the last cell in the last word
    GHOST_WORD = 15  # where the cell right of the last one lies
    GHOST_BIT = 16
    PERIODIC = 17  # 1 or 0
    ENDS = 18  # 1 if something lies beyond a row's ends that is not always 0
    ASYNCHRONOUS = 19  # 1 or 0
    SEED = 20  # key of the fire masks' stream
    FIRST_STEP = 21  # the step that block 0 begins with
    THRESHOLD = 22  # the fire rate's binary digits
    DIGITS = 23  # how many of them matter
    YIELD = 24  # address of the system's function that offers the core to others
