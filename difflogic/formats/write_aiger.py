"""And-inverter graphs in binary AIGER, for abc and yosys.

One cell, combinational; `write_blif.py` says why the model is not sequential. Inverters cost
nothing here, and a XOR is three ANDs.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Biere 2007, "The AIGER
And-Inverter Graph (AIG) Format".
"""

from __future__ import annotations

from collections.abc import Sequence

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import Xag
from difflogic.formats.interface import Interface, used_interface
from difflogic.formats.notation import head, leb128


class AndGraph(Xag):
    """ANDs without equal gates, after the inputs.

    Literals are those of the file: twice a variable, plus one if inverted; 0 is constant 0.
    """

    def xor_(self, x: int, y: int) -> int:
        return self.and_(self.and_(x, y) ^ 1, self.and_(x ^ 1, y ^ 1) ^ 1)

    def file(self, outputs: Sequence[int], names: Sequence[str], comment: str) -> bytes:
        """Return a binary AIGER file. `names` are the lines of the symbol table."""
        before = self.inputs
        gates = len(self.kind)
        lines = [f"aig {before + gates} {before} 0 {len(outputs)} {gates}", *map(str, outputs)]
        ands = b""
        # In a Xag, the second literal is the larger one.
        for place, (x, y) in enumerate(zip(self.y, self.x, strict=True), before + 1):
            ands += leb128(2 * place - x) + leb128(x - y)
        tail = "\n".join([*names, "c", comment])
        return ("\n".join(lines) + "\n").encode() + ands + f"{tail}\n".encode()


def write_aiger(automaton: Automaton, interface: Interface | None = None) -> bytes:
    """Return one cell's circuit. `interface` is as in `write_blif`."""
    circuit = automaton.circuit
    interface = interface or used_interface(circuit)
    graph = AndGraph(len(interface.inputs))
    place = {name: 2 * number for number, name in enumerate(interface.inputs, 1)}
    # Inputs missing from the interface are 0; `interface.rows` checks that no output needs them.
    inputs = [place.get(circuit.input_name(row), 0) for row in range(circuit.inputs)]
    literals = evaluate(circuit, inputs, graph)
    comment = head(
        automaton,
        "Combinational: the next state of one cell, from its neighbourhood. Not a sequential "
        "model: none of the cell's latches holds its neighbours' states.",
        "Use: read_aiger FILE, in abc and in yosys.",
    )
    return graph.file(
        outputs=[literals[row] for row in interface.rows(circuit)],
        names=[
            *(f"i{number} {name}" for number, name in enumerate(interface.inputs)),
            *(f"o{number} next{label}" for number, label in enumerate(interface.outputs)),
        ],
        comment="\n".join(comment),
    )
