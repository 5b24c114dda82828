"""A Python module that needs only NumPy: the circuit of one cell, and a step of a grid.

Variables are deleted after their last read, so a large grid needs memory for the live signals only,
not for every gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.interface import used_rows
from difflogic.formats.notation import expressions, folded, identifier, rendered, row_names


def write_python(automaton: Automaton) -> str:
    circuit = automaton.circuit
    names = row_names(circuit)
    used = used_rows(circuit)
    return rendered(
        "formats/write_python",
        automaton,
        "step(state) is one step of a grid of any size; save this text as "
        f"{identifier(automaton)}.py and import it.",
        items=_items,
        inputs=[names[row] for row in used],
        gates=list(expressions(circuit, names, "np.False_", "np.True_")),
        last_reads=_last_reads(circuit, names),
        outputs=[names[row] for row in circuit.outputs],
        arguments=[_seen(row, circuit.channels) for row in used],
    )


def _items(items: Iterable[object], indent: int = 0) -> str:
    """Return the items of a list, on one line if that is short."""
    words = [f"{item}," for item in items]
    if len(" ".join(words)) < 60:
        return " ".join(words).removesuffix("," if len(words) > 1 else "")
    lines = folded(words, 90)
    return "".join(f"\n{' ' * indent}    {line}" for line in lines) + f"\n{' ' * indent}"


def _seen(row: int, channels: int) -> str:
    neighbor, channel = divmod(row, channels)
    return "seen({}, {}, {})".format(channel, *OFFSETS[neighbor])


def _last_reads(circuit: Circuit, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the gates whose value no later gate needs, by that of the last reader."""
    last = {row: row for row in range(circuit.inputs, circuit.rows)}
    for row in range(circuit.inputs, circuit.rows):
        for read in circuit.reads(row - circuit.inputs):
            if read in last:
                last[read] = row
    found: dict[str, list[str]] = {}
    for read in last.keys() - {*circuit.outputs.tolist()}:
        found.setdefault(names[last[read]], []).append(names[read])
    return {reader: sorted(read) for reader, read in found.items()}
