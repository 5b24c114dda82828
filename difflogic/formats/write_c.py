"""A C99 header without dependencies: the circuit over words of 64 cells, and a step of a grid.

The words inside a row are computed by a plain loop over neighbouring words, which compilers turn
into vectors; a row's first and last word, where the boundary and the row's odd bits are, take a
slower path of their own. Nothing is allocated, and a state needs no halo.

Source: ISO/IEC 9899:1999; also valid C++11 but for `restrict`, which a macro names.
"""

from __future__ import annotations

from string import Template

from difflogic.circuit.grid import OFFSETS
from difflogic.formats import c_text
from difflogic.formats.common import (
    expressions,
    folded,
    head,
    identifier,
    row_names,
    used_interface,
    used_rows,
)
from difflogic.model.automaton import Automaton

_SHIFTS = {
    -1: ("west", "({words}[w] << 1) | ({words}[w - 1] >> 63)"),
    0: ("own", "{words}[w]"),
    1: ("east", "({words}[w] >> 1) | ({words}[w + 1] << 63)"),
}
"""The function for a neighbour's word at a row's ends, and the expression within."""

_ROWS = {-1: ("up", "above"), 0: ("row", ""), 1: ("down", "below")}
"""Where the row of a neighbour begins, and which mask says that it is no row beyond the edge."""


def write_c(automaton: Automaton) -> str:
    """Return the header's text."""
    name = identifier(automaton)
    asynchronous = automaton.fire_rate < 1
    periodic = automaton.boundary == "periodic"
    comment = head(
        automaton,
        f"{name}_step makes a step of a grid of any size, {name}_cells the next state of any 64 "
        "cells. It is fastest with -O3 -march=native.",
    )
    parameters = [f"size_t {place}" for place in ("width", "up", "row", "down")]
    arguments = ["width", "up", "y * all", "down"]
    if asynchronous:
        parameters.append("const uint64_t *fire")
        arguments.append("fire + y * words")
    if not periodic:
        parameters += ["uint64_t above", "uint64_t below"]
        arguments += ["y > 0 ? ~(uint64_t)0 : 0", "y + 1 < height ? ~(uint64_t)0 : 0"]
    about_fire = Template(c_text.ABOUT_FIRE).substitute(rate=f"{automaton.fire_rate:g}")
    return Template(c_text.HEADER).substitute(
        name=name,
        NAME=name.upper(),
        channels=automaton.circuit.channels,
        head="\n".join(f" * {line}" for line in comment),
        example="\n".join(f" * {line}".rstrip() for line in _example(automaton).split("\n")),
        before="(row[last] >> (cells - 1)) & 1" if periodic else "0",
        after="(row[0] & 1) << (cells - 1)" if periodic else "0",
        about_fire=about_fire if asynchronous else "",
        step_parameters="const uint64_t *fire, " if asynchronous else "",
        row_parameters=_listed(parameters, 4),
        row_arguments=_listed(arguments, 12),
        **_cells(automaton),
        **_row(automaton),
    )


def _cells(automaton: Automaton) -> dict[str, str]:
    """Return the parts of the function that evaluates the circuit."""
    circuit = automaton.circuit
    names = row_names(circuit)
    interface = used_interface(circuit)
    unread = set(range(circuit.inputs, circuit.rows)) - set(circuit.outputs.tolist())
    unread -= {row for gate in range(circuit.gates) for row in circuit.reads(gate)}
    gates = expressions(circuit, names, "0", "~(uint64_t)0")
    outputs = zip(circuit.labels, circuit.outputs, strict=True)
    lines = [
        *(f"    const uint64_t {name} = {text};" for name, text in gates),
        *(f"    (void){names[row]};" for row in sorted(unread)),
        *(f"    *next{label} = {names[row]};" for label, row in outputs),
    ]
    parameters = [f"uint64_t {name}" for name in interface.inputs]
    parameters += [f"uint64_t *next{label}" for label in interface.outputs]
    return {"parameters": _listed(parameters, 4), "gates": "\n".join(lines)}


def _row(automaton: Automaton) -> dict[str, str]:
    """Return the parts of the function that computes a row."""
    circuit, name = automaton.circuit, identifier(automaton)
    asynchronous = automaton.fire_rate < 1
    edge, inner = [], []
    rows: dict[str, str] = {}
    masks = set() if automaton.boundary == "periodic" else {"above", "below"}
    unused = masks | {"now", "up", "down"}
    for row in used_rows(circuit):
        neighbor, channel = divmod(row, circuit.channels)
        dy, dx = OFFSETS[neighbor]
        begin, mask = _ROWS[dy]
        words = f"{begin}{circuit.labels[channel]}"
        rows[words] = f"now + {begin} + {channel} * words"
        unused -= {"now", begin, mask}
        masked = f" & {mask}" if mask in masks else ""
        edge.append(f"{name}_{_SHIFTS[dx][0]}({words}, w, last, cells){masked}")
        shifted = _SHIFTS[dx][1].format(words=words)
        inner.append(f"({shifted}){masked}" if masked else shifted)
    taken = "to{label}"
    if asynchronous:
        taken = "(to{label} & fire[w]) | (row{label}[w] & ~fire[w])"
        rows |= {
            f"row{label}": f"now + row + {channel} * words"
            for channel, label in enumerate(circuit.labels)
        }
        unused.discard("now")
    pointers = [
        *(f"const uint64_t *const {words} = {place};" for words, place in rows.items()),
        *(
            f"uint64_t *const next{label} = next + row + {channel} * words;"
            for channel, label in enumerate(circuit.labels)
        ),
        *(f"(void){parameter};" for parameter in sorted(unused)),
    ]
    results = [f"&to{label}" for label in circuit.labels]
    stores = [(f"next{label}[w]", taken.format(label=label)) for label in circuit.labels]
    return {
        "pointers": "\n".join(f"    {pointer}" for pointer in pointers),
        "results": _listed([f"to{label}" for label in circuit.labels], 12),
        "edge_arguments": _listed(edge + results, 12),
        "arguments": _listed(inner + results, 12),
        "edge_stores": "\n".join(f"{' ' * 8}{to} = ({text}) & valid;" for to, text in stores),
        "stores": "\n".join(f"{' ' * 8}{to} = {text};" for to, text in stores),
    }


def _listed(items: list[str], indent: int) -> str:
    """Return items with commas between, over as many lines as they take."""
    lines = folded([f"{item}," for item in items], 84)
    return f"\n{' ' * indent}".join(lines)[:-1]


def _example(automaton: Automaton) -> str:
    """Return a program that runs the automaton as it was trained, and shows the last state."""
    asynchronous = automaton.fire_rate < 1
    needs_chance = asynchronous or automaton.start == "random"
    text = c_text.EXAMPLE.replace("$chance", c_text.CHANCE if needs_chance else "")
    text = text.replace("$start", c_text.STARTS[automaton.start])
    text = text.replace("$advance", c_text.FIRE_AND_ADVANCE if asynchronous else c_text.ADVANCE)
    return Template(text).substitute(
        name=identifier(automaton),
        height=automaton.height,
        width=automaton.width,
        steps=automaton.steps,
        visible=automaton.visible_rows[0],
        rate=f"{automaton.fire_rate:g}",
        counters="" if automaton.start == "zeros" else "c, ",
    )
