"""Verilog-2001: a module of one cell, and modules of a whole grid of them.

The grid's size is a parameter of its module. Generate loops wire each cell to its neighbours; their
indices wrap around, and a zero boundary masks them. Each channel has its own wires: Icarus Verilog
11 simulates one wide vector seven times slower.

Source: IEEE Std 1364-2001.
"""

from __future__ import annotations

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.interface import used_rows
from difflogic.formats.notation import expressions, identifier, rendered, row_names


def write_verilog(automaton: Automaton) -> str:
    """Return all modules. By default the grid is as large as in training."""
    name = identifier(automaton)
    circuit = automaton.circuit
    usage = [
        f"{name}_cell and {name}_next, the next state of HEIGHT x WIDTH cells, are combinational. "
        f"{name}_array is such a grid with its state: at a rising edge of clock it takes the state "
        "from start if reset is 1, else makes one step if enable is 1.",
        "Bit (c * HEIGHT + y) * WIDTH + x of start and state is the cell in row y and column x of "
        f"the channel listed at place c: {', '.join(map(str, circuit.labels))}.",
    ]
    if automaton.fire_rate < 1:
        usage.append(
            "Bit y * WIDTH + x of fire says whether that cell takes its new state in a step: "
            f"give it random bits that are 1 with probability {automaton.fire_rate:g}, "
            "new ones for each step."
        )
    return _rendered("formats/write_verilog", automaton, *usage)


def write_cell(automaton: Automaton) -> str:
    """Return the combinational module of one cell."""
    return _rendered("formats/write_verilog_cell", automaton)


def _rendered(template: str, automaton: Automaton, *usage: str) -> str:
    circuit = automaton.circuit
    names = row_names(automaton.circuit)
    used = used_rows(circuit)
    return rendered(
        template,
        automaton,
        *usage,
        names=names,
        used=used,
        offsets=OFFSETS,
        gates=list(expressions(circuit, names, "1'b0", "1'b1")),
        read=sorted({row % circuit.channels for row in used}),
        nexts=[f"next{label}" for label in reversed(circuit.labels)],
    )
