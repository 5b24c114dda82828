"""Berkeley's logic interchange format: what abc, yosys, SIS and mapping tools read.

One cell, combinational. A sequential model, with a latch for each channel, would say something
false: what a cell reads of its neighbours is not its own next state, so no latch feeds it.

Source: "Berkeley Logic Interchange Format (BLIF)", University of California, Berkeley, 1992.
"""

from __future__ import annotations

from difflogic.circuit.gates import TRUTH_TABLES, Op
from difflogic.formats.common import Interface, folded, head, identifier, row_names, used_interface
from difflogic.model.automaton import Automaton


def write_blif(automaton: Automaton, interface: Interface | None = None) -> str:
    """Return one cell's circuit; its inputs are those that it reads, unless `interface` says."""
    circuit = automaton.circuit
    interface = interface or used_interface(circuit)
    outputs = interface.rows(circuit)
    names = row_names(circuit)
    lines = [
        f"# {line}"
        for line in head(
            automaton,
            "Combinational: the next state of one cell, from its neighbourhood. It is no sequential "
            "model: a cell's neighbours are no latches of its own.",
            "Use: berkeley-abc -c 'read_blif FILE; strash; print_stats' or yosys -p 'read_blif FILE'.",
        )
    ]
    lines.append(f".model {identifier(automaton)}")
    lines += _list(".inputs", interface.inputs)
    lines += _list(".outputs", tuple(f"next{label}" for label in interface.outputs))
    for gate, name in enumerate(names[circuit.inputs :]):
        rows, ones = _table(Op(circuit.op[gate]), circuit.reads(gate))
        lines.append(" ".join((".names", *(names[row] for row in rows), name)))
        lines += ones
    for label, row in zip(interface.outputs, outputs, strict=True):
        lines += [f".names {names[row]} next{label}", "1 1"]
    return "\n".join([*lines, ".end", ""])


def _list(keyword: str, words: tuple[str, ...]) -> list[str]:
    """A backslash at a line's end joins the next line to it."""
    lines = folded([keyword, *words])
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


def _table(op: Op, reads: tuple[int, ...]) -> tuple[tuple[int, ...], list[str]]:
    """Return the different rows that a gate's value depends on, and its cases of value 1.

    A constant has no rows: Yosys 0.23 takes a table with rows and no cases for undefined.
    """
    if len(reads) == 2 and reads[0] != reads[1]:
        ones = [corner for corner in range(4) if TRUTH_TABLES[op, corner]]
        return reads, [f"{corner:02b} 1" for corner in ones]
    # What is read, if anything, stands for both inputs: an op's value then is its first or last.
    zero, one = TRUTH_TABLES[op, 0], TRUTH_TABLES[op, 3]
    if zero == one:
        return (), ["1"] if one else []
    return reads[:1], ["1 1" if one else "0 1"]
