"""Verilog of a whole grid that an FPGA can hold: one clock per step, and six pins.

A cell that fires at random asks a ring of cells of rule 30, one beside each cell of the grid, which
costs a flip-flop and a LUT where a shift register of its own would cost sixteen of each.

Source: Wolfram 1986, "Random sequence generation by cellular automata".
"""

from __future__ import annotations

from string import Template

import numpy as np
import numpy.typing as npt

from difflogic.formats.common import identifier
from difflogic.formats.write_verilog import write_verilog
from difflogic.model.automaton import Automaton

EIGHTHS = 8
"""A fire rate is rounded to so many parts of one, and kept from 0 and 1."""

SHORTEST_RING = 64
"""Of cells of rule 30, so that the states of a small grid's do not soon repeat."""

PORTS = ("clock", "reset", "run", "damage", "shift", "serial_in", "serial_out")

_TOP = """\
// $name, whole: at a rising edge of clock the first of these that is 1 acts.
//   reset   every channel takes its start
//   damage  the cells that DAMAGED names become 0
//   shift   the visible channels move by one place, channel by channel and row by row: the first
//           leaves at serial_out, serial_in enters; all of them, $shown shifts, are a picture
//   run     one step
module ${name}_top (
    input wire clock,
    input wire reset,
    input wire run,
    input wire damage,
    input wire shift,
    input wire serial_in,
    output wire serial_out
);
    localparam CELLS = $cells;
    localparam [$bits - 1:0] START = $bits'h$start;
    localparam [CELLS - 1:0] DAMAGED = $cells'h$damaged;

    reg [$bits - 1:0] state;
    wire [$bits - 1:0] next;
    ${name}_next #(.HEIGHT($height), .WIDTH($width)) grid (.state(state), .next(next));
$random
    wire [$shown:0] chain = {serial_in, $chain};
    assign serial_out = chain[0];

    always @(posedge clock)
        if (reset)
            state <= START;
        else if (damage)
            state <= state & ~{$channels{DAMAGED}};
        else if (shift) begin
$shifts
        end else if (run)
            state <= $taken;
endmodule
"""

_RANDOM = """
    // Rule 30 on a ring: three places of it are a number from 0 to 7, below RATE to fire.
    localparam RATE = $rate;
    localparam RING = $ring;
    reg [RING - 1:0] ring;
    wire [RING - 1:0] left = {ring[RING - 2:0], ring[RING - 1]};
    wire [RING - 1:0] right = {ring[0], ring[RING - 1:1]};
    wire [CELLS - 1:0] fire;

    always @(posedge clock)
        if (reset)
            ring <= $ring'h$seed;
        else if (run)
            ring <= left ^ (ring | right);

    genvar n;
    generate
        for (n = 0; n < CELLS; n = n + 1) begin : firing
            wire [2:0] number = {ring[n], ring[(n + RING / 3) % RING],
                ring[(n + 2 * RING / 3) % RING]};
            assign fire[n] = number < RATE;
        end
    endgenerate
"""


def write_top(automaton: Automaton, start: npt.NDArray, damaged: npt.NDArray, seed: int = 0) -> str:
    """Return all modules of a grid as large as the automaton's.

    `start` are the bits (C, H, W) that reset sets, `damaged` the cells (H, W) that damage clears;
    `seed` is of the random bits by which cells fire.
    """
    height, width, circuit = automaton.height, automaton.width, automaton.circuit
    cells, rows = height * width, automaton.visible_rows
    chain = [f"state[{row * cells} +: CELLS]" for row in rows]
    rate = firing_eighths(automaton.fire_rate)
    values = {
        "name": identifier(automaton),
        "height": height,
        "width": width,
        "cells": cells,
        "channels": circuit.channels,
        "bits": circuit.channels * cells,
        "shown": len(rows) * cells,
        "start": hexadecimal(start),
        "damaged": hexadecimal(damaged),
        "chain": ", ".join(reversed(chain)),
        "shifts": "\n".join(
            f"            {part} <= chain[{number * cells + 1} +: CELLS];"
            for number, part in enumerate(chain)
        ),
        "taken": "next",
        "random": "",
    }
    if rate < EIGHTHS:
        ring = first_ring(cells, seed)
        fire = f"{{{circuit.channels}{{fire}}}}"
        values["taken"] = f"(next & {fire}) | (state & ~{fire})"
        values["random"] = Template(_RANDOM).substitute(
            ring=len(ring), rate=rate, seed=hexadecimal(ring)
        )
    return write_verilog(automaton) + "\n" + Template(_TOP).substitute(values)


def firing_eighths(fire_rate: float) -> int:
    """Return how many of eight random numbers let a cell fire; all eight if it always does."""
    return EIGHTHS if fire_rate == 1 else min(max(round(EIGHTHS * fire_rate), 1), EIGHTHS - 1)


def first_ring(cells: int, seed: int) -> npt.NDArray:
    """Return the random bits that reset sets, at least one for each cell.

    They never end in zeros for good: only ones everywhere lead there, and to these only 001001…,
    which no ring has whose length is no multiple of three.
    """
    length = max(cells, SHORTEST_RING)
    ring = np.random.default_rng(seed).integers(0, 2, length + (length % 3 == 0), np.uint8)
    ring[0], ring[-1] = 1, 0
    return ring


def hexadecimal(bits: npt.NDArray) -> str:
    """Return bits as the digits of a number whose lowest bit is the first of them."""
    packed = np.packbits(np.asarray(bits, np.uint8).ravel(), bitorder="little")
    return packed[::-1].tobytes().hex()
