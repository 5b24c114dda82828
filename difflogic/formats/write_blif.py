"""Berkeley's logic interchange format, for abc, yosys, SIS and mapping tools.

One cell, combinational. A sequential model with a latch for each channel would be wrong: a cell
reads its neighbours' states, and none of its own latches holds those.

Source: "Berkeley Logic Interchange Format (BLIF)", University of California, Berkeley, 1992.
"""

from __future__ import annotations

from difflogic.circuit.automaton import Automaton, places
from difflogic.circuit.gates import TRUTH_TABLES, Op
from difflogic.formats.interface import Interface, used_interface
from difflogic.formats.notation import rendered, row_names


def write_blif(automaton: Automaton, interface: Interface | None = None) -> str:
    """Return one cell's circuit. By default its inputs are those that it reads."""
    circuit = automaton.circuit
    interface = interface or used_interface(circuit)
    return rendered(
        "formats/write_blif",
        automaton,
        "Combinational: the next state of one cell, from its neighbourhood. Not a sequential "
        "model: none of the cell's latches holds its neighbours' states.",
        "Use: berkeley-abc -c 'read_blif FILE; strash; print_stats' or yosys -p 'read_blif FILE'.",
        names=row_names(circuit),
        interface=interface,
        outputs=[circuit.outputs[place] for place in places(circuit, interface.outputs)],
        tables=[_table(Op(op), circuit.reads(gate)) for gate, op in enumerate(circuit.op)],
    )


def _table(op: Op, reads: tuple[int, ...]) -> tuple[tuple[int, ...], list[str]]:
    """Return the distinct rows that a gate's value depends on, and its on-set.

    A constant has no rows: Yosys 0.23 treats a table with rows and no cases as undefined.
    """
    if len(reads) == 2 and reads[0] != reads[1]:
        ones = [corner for corner in range(4) if TRUTH_TABLES[op, corner]]
        return reads, [f"{corner:02b} 1" for corner in ones]
    # One row, or none, is both inputs: only the first and last entries of the op's table count.
    zero = TRUTH_TABLES[op, 0]
    one = TRUTH_TABLES[op, 3]
    if zero == one:
        return (), ["1"] if one else []
    return reads[:1], ["1 1" if one else "0 1"]
