"""A C99 header without dependencies: the circuit over words of 64 cells, and a step of a grid.

A plain loop computes the words inside a row, and compilers vectorise it. A row's first and last
word, with the boundary and the odd bits, take a slower path. Nothing is allocated, and a state
needs no halo.

Source: ISO/IEC 9899:1999; also valid C++11, with a macro for `restrict`.
"""

from __future__ import annotations

from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.common import expressions, identifier, row_names
from difflogic.formats.interface import used_interface, used_rows
from difflogic.formats.templates import rendered

_SHIFTS = {
    -1: ("west", "({words}[w] << 1) | ({words}[w - 1] >> 63)"),
    0: ("own", "{words}[w]"),
    1: ("east", "({words}[w] >> 1) | ({words}[w + 1] << 63)"),
}
"""For each column offset: the function for words at a row's ends, the expression within a row."""

_ROWS = {-1: ("up", "above"), 0: ("row", ""), 1: ("down", "below")}
"""For each row offset: where that row begins, and the mask that is 0 beyond the edge."""


def write_c(automaton: Automaton) -> str:
    circuit, name = automaton.circuit, identifier(automaton)
    names, interface = row_names(circuit), used_interface(circuit)
    unread = set(range(circuit.inputs, circuit.rows)) - set(circuit.outputs.tolist())
    unread -= {row for gate in range(circuit.gates) for row in circuit.reads(gate)}
    parameters = [f"uint64_t {name}" for name in interface.inputs]
    return rendered(
        "formats/write_c",
        automaton,
        f"{name}_step makes a step of a grid of any size, {name}_cells the next state of any 64 "
        "cells. It is fastest with -O3 -march=native.",
        names=names,
        parameters=parameters + [f"uint64_t *next{label}" for label in interface.outputs],
        gates=expressions(circuit, names, "0", "~(uint64_t)0"),
        unread_gates=[names[row] for row in sorted(unread)],
        **_reads(automaton),
    )


def _reads(automaton: Automaton) -> dict[str, Any]:
    """Return what a row of cells reads: at its ends, inside, and by which pointers."""
    circuit, name = automaton.circuit, identifier(automaton)
    edge, inner, pointers = [], [], {}
    results = [f"to{label}" for label in circuit.labels]
    addresses = [f"&{result}" for result in results]
    masks = set() if automaton.boundary == "periodic" else {"above", "below"}
    unused = masks | {"now", "up", "down"}
    for row in used_rows(circuit):
        neighbor, channel = divmod(row, circuit.channels)
        dy, dx = OFFSETS[neighbor]
        begin, mask = _ROWS[dy]
        words = f"{begin}{circuit.labels[channel]}"
        pointers[words] = f"now + {begin} + {channel} * words"
        unused -= {"now", begin, mask}
        masked = f" & {mask}" if mask in masks else ""
        function, shifted = _SHIFTS[dx]
        edge.append(f"{name}_{function}({words}, w, last, cells){masked}")
        inside = shifted.format(words=words)
        inner.append(f"({inside}){masked}" if masked else inside)
    if automaton.fire_rate < 1:
        unused.discard("now")
        for channel, label in enumerate(circuit.labels):
            pointers[f"row{label}"] = f"now + row + {channel} * words"
    return {
        "edge": edge + addresses,
        "inner": inner + addresses,
        "results": results,
        "pointers": pointers,
        "unused": sorted(unused),
    }
