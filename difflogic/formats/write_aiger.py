"""And-inverter graphs in binary AIGER, for abc, yosys, model checkers and SAT tools.

One cell, combinational; `write_blif.py` says why the model is not sequential. Inverters cost
nothing here, and a XOR is three ANDs.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Biere 2007, "The AIGER
And-Inverter Graph (AIG) Format".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import TRUE, Xag
from difflogic.formats.common import head, leb128
from difflogic.formats.interface import Interface, used_interface


class Graph(Xag):
    """ANDs without equal gates, after the inputs and latches.

    Literals are those of the file: twice a variable, plus one if inverted; 0 is constant 0.
    """

    def xor_(self, x: int, y: int) -> int:
        return self.and_(self.and_(x, y) ^ 1, self.and_(x ^ 1, y ^ 1) ^ 1)

    def all(self, literals: Iterable[int]) -> int:
        """Return the AND of all literals, as a tree: model checkers prefer shallow graphs."""
        row = list(literals)
        while len(row) > 1:
            row = [reduce(self.and_, row[place : place + 2]) for place in range(0, len(row), 2)]
        return row[0] if row else TRUE

    def is_number(self, number: int, bits: Sequence[int]) -> int:
        """Return a literal for whether `bits`, lowest first, are those of `number`."""
        return self.all(bit ^ 1 ^ number >> place & 1 for place, bit in enumerate(bits))

    def file(
        self,
        latches: Sequence[tuple[int, int]] = (),
        outputs: Sequence[int] = (),
        bad: Sequence[int] = (),
        names: Sequence[str] = (),
        comment: str = "",
        text: bool = False,
    ) -> bytes:
        """Return an AIGER file, binary or as text.

        A latch is its next value and its initial value. `names` are the lines of the symbol table.
        """
        before, gates = self.inputs, len(self.kind)
        inputs = before - len(latches)
        sizes = [before + gates, inputs, len(latches), len(outputs), gates]
        sizes += [len(bad)] if bad else []
        lines = [" ".join(map(str, ["aag" if text else "aig", *sizes]))]
        if text:
            lines += [str(2 * place) for place in range(1, inputs + 1)]
        for place, (after, first) in enumerate(latches, inputs + 1):
            own = f"{2 * place} " if text else ""
            lines.append(f"{own}{after} {first}")
        lines += map(str, [*outputs, *bad])
        ands = b""
        # In a Xag, the second literal is the larger one.
        for place, (x, y) in enumerate(zip(self.y, self.x, strict=True), before + 1):
            if text:
                lines.append(f"{2 * place} {x} {y}")
            else:
                ands += leb128(2 * place - x) + leb128(x - y)
        tail = "\n".join([*names, "c", comment])
        return ("\n".join(lines) + "\n").encode() + ands + f"{tail}\n".encode()


def write_aiger(automaton: Automaton, interface: Interface | None = None) -> bytes:
    """Return one cell's circuit. `interface` is as in `write_blif`."""
    circuit = automaton.circuit
    interface = interface or used_interface(circuit)
    graph = Graph(len(interface.inputs))
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
