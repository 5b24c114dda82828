"""A C99 header without dependencies: the circuit over words of 64 cells, and a step of a grid.

A plain loop computes the words inside a row, and compilers vectorise it. A row's first and last
word, with the boundary and the odd bits, take a slower path. Nothing is allocated, and a state
needs no halo.

Source: ISO/IEC 9899:1999; also valid C++11, with a macro for `restrict`.
"""

from __future__ import annotations

import re

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.interface import used_interface, used_rows
from difflogic.formats.notation import expressions, identifier, rendered, row_names

SHOWN_FILE = r"[\w. +-]+"
"""File names that end neither a comment nor an #include line."""

LEAST_SIDE = 5
EXAMPLE_SIDE = 32
EXAMPLE_STEPS = 20
"""The example has the sides and steps of training, or these if there would be little to see."""


def write_c(automaton: Automaton, file: str | None = None) -> str:
    """Return a header; its example names `file`, if a comment can, or else the automaton."""
    circuit = automaton.circuit
    name = identifier(automaton)
    small = 1 < max(automaton.height, automaton.width) < LEAST_SIDE
    names = row_names(circuit)
    interface = used_interface(circuit)
    used = used_rows(circuit)
    unread = set(range(circuit.inputs, circuit.rows)) - set(circuit.outputs.tolist())
    unread -= {row for gate in range(circuit.gates) for row in circuit.reads(gate)}
    if file is None or not re.fullmatch(SHOWN_FILE, file):
        file = f"{name}.h"
    parameters = [f"uint64_t {name}" for name in interface.inputs]
    return rendered(
        "formats/write_c",
        automaton,
        f"{name}_step makes a step of a grid of any size, {name}_cells the next state of any 64 "
        "cells. It is fastest with -O3 -march=native.",
        file=file,
        height=EXAMPLE_SIDE if small else automaton.height,
        width=EXAMPLE_SIDE if small else automaton.width,
        steps=automaton.steps if automaton.steps > 1 else EXAMPLE_STEPS,
        names=names,
        parameters=parameters + [f"uint64_t *next{label}" for label in interface.outputs],
        gates=expressions(circuit, names, "0", "~(uint64_t)0"),
        unread_gates=[names[row] for row in sorted(unread)],
        used=used,
        offsets=OFFSETS,
        rows_read={OFFSETS[row // circuit.channels][0] for row in used},
    )
