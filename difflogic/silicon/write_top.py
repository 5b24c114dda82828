"""Verilog of a whole grid for an FPGA: one clock cycle per step, and seven pins.

Random firing comes from a ring of cells of rule 30, one beside each cell of the grid. That costs
one flip-flop and one LUT per cell, where a shift register would cost sixteen of each.

Source: Wolfram 1986, "Random sequence generation by cellular automata".
"""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import NEIGHBORS, OUTSIDE, neighbors
from difflogic.formats.common import folded, identifier, used_rows
from difflogic.formats.write_verilog import write_cell

Array = npt.NDArray[Any]

EIGHTHS = 8
"""A fire rate below 1 is rounded to eighths, at least one and at most seven."""

SHORTEST_RING = 64
"""Fewest cells of rule 30: the states of shorter rings soon repeat."""

_TOP = """\
// $name, whole: at a rising edge of clock the first of these that is 1 acts.
//   reset   every channel takes its start
//   damage  the cells of a rectangle become 0
//   shift   the visible channels move by one place, channel by channel and row by row: the first
//           leaves at serial_out, serial_in enters; all of them, $shown shifts, are a picture
//   run     one step
// Bit c of s0, s1, ... is the channel at place c of this list: $labels.
module ${name}_top (
    input wire clock,
    input wire reset,
    input wire run,
    input wire damage,
    input wire shift,
    input wire serial_in,
    output wire serial_out
);
$random
$grid

    assign serial_out = s0[$first];
endmodule
"""

_RANDOM = """
    // Rule 30 on a ring: three places of it are a number from 0 to 7, below RATE to fire.
    localparam CELLS = $cells;
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


def write_top(automaton: Automaton, start: Array, damaged: Array, seed: int = 0) -> str:
    """Return all modules of a grid as large as the automaton's.

    Reset sets the bits `start` (C, H, W), damage clears the cells `damaged` (H, W), and `seed` sets
    the random bits by which cells fire.
    """
    circuit, name = automaton.circuit, identifier(automaton)
    table = neighbors(automaton.height, automaton.width, automaton.boundary).T
    kinds = _edges(automaton)[1]
    rate = firing_eighths(automaton.fire_rate)
    bits, rows, cells = start.reshape(circuit.channels, -1).T, automaton.visible_rows, len(table)
    after = [*(f"s0[{row}]" for row in rows[1:]), "serial_in"]
    grid = [
        *folded([f"    reg [{circuit.channels - 1}:0]", *named("s", cells)]),
        *folded([f"    wire [{circuit.channels - 1}:0]", *named("n", cells)]),
    ]
    for cell in range(cells):
        enters = [f"s{cell + 1}[{row}]" for row in rows] if cell < cells - 1 else after
        shifts = (f"s{cell}[{row}] <= {bit};" for row, bit in zip(rows, enters, strict=True))
        takes = {
            "reset": f"s{cell} <= {circuit.channels}'h{hexadecimal(bits[cell])};",
            "damage": f"s{cell} <= {'0' if damaged.flat[cell] else f's{cell}'};",
            "shift": f"begin {' '.join(shifts)} end",
            f"run && fire[{cell}]" if rate < EIGHTHS else "run": f"s{cell} <= n{cell};",
        }
        seen = ", ".join(
            f".{at}(s{place})"
            for at, place in zip(NEIGHBORS, table[cell].tolist(), strict=True)
            if place != OUTSIDE
        )
        grid += [
            f"    {name}_at{kinds[cell]} cell{cell} ({seen}, .next(n{cell}));",
            "    always @(posedge clock)",
            "        " + "        else ".join(f"if ({pin}) {act}\n" for pin, act in takes.items()),
        ]
    values = {
        "name": name,
        "shown": len(rows) * cells,
        "labels": ", ".join(map(str, circuit.labels)),
        "first": rows[0],
        "random": "",
        "grid": "\n".join(grid),
    }
    if rate < EIGHTHS:
        ring = first_ring(cells, seed)
        values["random"] = Template(_RANDOM).substitute(
            cells=cells, ring=len(ring), rate=rate, seed=hexadecimal(ring)
        )
    top = Template(_TOP).substitute(values)
    return "\n".join([write_cell(automaton), *write_sites(automaton), top])


def named(letter: str, count: int) -> list[str]:
    """Return numbered names that end a declaration."""
    return [f"{letter}{number}," for number in range(count - 1)] + [f"{letter}{count - 1};"]


def _edges(automaton: Automaton) -> tuple[Array, Array]:
    """Return which neighbours each kind of cell lacks, (kinds, 9), and each cell's kind."""
    table = neighbors(automaton.height, automaton.width, automaton.boundary).T
    return np.unique(table == OUTSIDE, axis=0, return_inverse=True)


def write_sites(automaton: Automaton) -> list[str]:
    """Return a module for each kind of cell, with a port for each neighbour inside the grid.

    Each is synthesised once. Their names are `site_names`.
    """
    return [
        _site(automaton, name, outside)
        for name, outside in zip(site_names(automaton), _edges(automaton)[0], strict=True)
    ]


def site_names(automaton: Automaton) -> list[str]:
    return [f"{identifier(automaton)}_at{kind}" for kind in range(len(_edges(automaton)[0]))]


def _site(automaton: Automaton, name: str, outside: Array) -> str:
    circuit = automaton.circuit
    ports = [
        f"    input wire [{circuit.channels - 1}:0] {at},\n"
        for at, beyond in zip(NEIGHBORS, outside, strict=True)
        if not beyond
    ]
    read = []
    for row in used_rows(circuit):
        place, channel = divmod(row, circuit.channels)
        bit = "1'b0" if outside[place] else f"{NEIGHBORS[place]}[{channel}]"
        read.append(f".{circuit.input_name(row)}({bit})")
    read += [f".next{label}(next[{place}])" for place, label in enumerate(circuit.labels)]
    between = ",\n        "
    return f"""\
module {name} (
{"".join(ports)}    output wire [{circuit.channels - 1}:0] next
);
    {identifier(automaton)}_cell update (
        {between.join(read)}
    );
endmodule
"""


def firing_eighths(fire_rate: float) -> int:
    """Return how many of eight random numbers let a cell fire; 8 if it always fires."""
    return EIGHTHS if fire_rate == 1 else min(max(round(EIGHTHS * fire_rate), 1), EIGHTHS - 1)


def first_ring(cells: int, seed: int) -> Array:
    """Return the random bits that reset sets, at least one for each cell.

    The ring never becomes all zeros, where it would stay. Only all ones lead there, and only
    001001… leads to all ones, so the length is never a multiple of three.
    """
    length = max(cells, SHORTEST_RING)
    ring = np.random.default_rng(seed).integers(0, 2, length + (length % 3 == 0), np.uint8)
    ring[0], ring[-1] = 1, 0
    return ring


def hexadecimal(bits: Array) -> str:
    """Return bits as a hexadecimal number. The first bit is the lowest."""
    packed = np.packbits(np.asarray(bits, np.uint8).ravel(), bitorder="little")
    return packed[::-1].tobytes().hex()[-((np.size(bits) + 3) // 4) :]
