"""Verilog of a whole grid for an FPGA: one clock cycle per step, and seven pins.

Random firing comes from a ring of cells of rule 30, one beside each cell of the grid. That costs
one flip-flop and one LUT per cell, where a shift register would cost sixteen of each.

Source: Wolfram 1986, "Random sequence generation by cellular automata".
"""

from __future__ import annotations

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import NEIGHBORS, OUTSIDE, neighbors
from difflogic.formats.interface import used_rows
from difflogic.formats.notation import identifier, rendered
from difflogic.formats.write_verilog import write_cell
from difflogic.system.array_types import Array

EIGHTHS = 8
"""A fire rate below 1 is rounded to eighths, at least one and at most seven."""

SHORTEST_RING = 64
"""Fewest cells of rule 30: the states of shorter rings soon repeat."""


def write_top(automaton: Automaton, start: Array, damaged: Array, seed: int = 0) -> str:
    """Return all modules of a grid as large as the automaton's.

    Reset sets the bits `start` (C, H, W), damage clears the cells `damaged` (H, W), and `seed` sets
    the random bits by which cells fire.
    """
    circuit = automaton.circuit
    table = neighbors(automaton.height, automaton.width, automaton.boundary).T
    top = rendered(
        "silicon/write_top",
        automaton,
        cells=table.tolist(),
        outside=OUTSIDE,
        neighbors=NEIGHBORS,
        kinds=_edges(automaton)[1],
        starts=start.reshape(circuit.channels, -1).T,
        damaged=damaged.ravel(),
        rows=automaton.visible_rows,
        eighths=firing_eighths(automaton.fire_rate),
        ring=first_ring(len(table), seed),
        hexadecimal=hexadecimal,
    )
    return "\n".join([write_cell(automaton), write_sites(automaton), top])


def _edges(automaton: Automaton) -> tuple[Array, Array]:
    """Return which neighbours each kind of cell lacks, (kinds, 9), and each cell's kind."""
    table = neighbors(automaton.height, automaton.width, automaton.boundary).T
    return np.unique(table == OUTSIDE, axis=0, return_inverse=True)


def write_sites(automaton: Automaton) -> str:
    """Return a module for each kind of cell, with a port for each neighbour inside the grid.

    Each is synthesised once. Their names are `site_names`.
    """
    circuit = automaton.circuit
    rows = used_rows(circuit)
    return rendered(
        "silicon/write_sites",
        automaton,
        kinds=_edges(automaton)[0].tolist(),
        neighbors=NEIGHBORS,
        read=[(circuit.input_name(row), *divmod(row, circuit.channels)) for row in rows],
    )


def site_names(automaton: Automaton) -> list[str]:
    return [f"{identifier(automaton)}_at{kind}" for kind in range(len(_edges(automaton)[0]))]


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
    ring[0] = 1
    ring[-1] = 0
    return ring


def hexadecimal(bits: Array) -> str:
    """Return bits as a hexadecimal number. The first bit is the lowest."""
    packed = np.packbits(np.asarray(bits, np.uint8).ravel(), bitorder="little")
    return packed[::-1].tobytes().hex()[-((np.size(bits) + 3) // 4) :]
