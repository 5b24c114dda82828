"""And-inverter graphs in binary AIGER: what abc, yosys, model checkers and SAT tools read.

One cell, combinational; see `write_blif.py` for why there is no sequential model. Inverters cost
nothing in this form, and a XOR is three ANDs.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Biere 2007, "The AIGER
And-Inverter Graph (AIG) Format".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import FALSE, TRUE, Literals
from difflogic.formats.common import Interface, head, leb128, used_interface
from difflogic.model.automaton import Automaton


class Graph(Literals):
    """ANDs after the inputs and latches, no two alike; literals as in a file.

    That is twice a variable, plus one if inverted; 0 is constant 0.
    """

    def __init__(self, variables: int) -> None:
        self.first = 1 + variables
        self.ands: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    def and_(self, x: int, y: int) -> int:
        if x < y:
            x, y = y, x
        if y == FALSE or x ^ y == 1:
            return FALSE
        if y in (TRUE, x):
            return x
        if (x, y) not in self._known:
            self._known[x, y] = 2 * (self.first + len(self.ands))
            self.ands.append((x, y))
        return self._known[x, y]

    def xor_(self, x: int, y: int) -> int:
        return self.and_(self.and_(x, y) ^ 1, self.and_(x ^ 1, y ^ 1) ^ 1)

    def all(self, literals: Iterable[int]) -> int:
        """Return their conjunction, as a tree: model checkers like it shallow."""
        row = list(literals)
        while len(row) > 1:
            row = [reduce(self.and_, row[place : place + 2]) for place in range(0, len(row), 2)]
        return row[0] if row else TRUE

    def file(
        self,
        inputs: int,
        latches: Sequence[tuple[int, int]] = (),
        outputs: Sequence[int] = (),
        bad: Sequence[int] = (),
        names: Sequence[str] = (),
        comment: str = "",
        text: bool = False,
    ) -> bytes:
        """Return an AIGER file, binary or as text; a latch is its next value and its first one.

        `names` are lines of its table of symbols.
        """
        before = inputs + len(latches)
        sizes = [before + len(self.ands), inputs, len(latches), len(outputs), len(self.ands)]
        sizes += [len(bad)] if bad else []
        lines = [" ".join(map(str, ["aag" if text else "aig", *sizes]))]
        if text:
            lines += [str(2 * place) for place in range(1, inputs + 1)]
        for place, (after, first) in enumerate(latches, inputs + 1):
            own = f"{2 * place} " if text else ""
            lines.append(f"{own}{after} {first}")
        lines += map(str, [*outputs, *bad])
        ands = b""
        for place, (x, y) in enumerate(self.ands, before + 1):
            if text:
                lines.append(f"{2 * place} {x} {y}")
            else:
                ands += leb128(2 * place - x) + leb128(x - y)
        tail = "\n".join([*names, "c", comment])
        return ("\n".join(lines) + "\n").encode() + ands + f"{tail}\n".encode()


def write_aiger(automaton: Automaton, interface: Interface | None = None) -> bytes:
    """Return one cell's circuit; `interface` as for BLIF. ANDs are differences of literals."""
    circuit = automaton.circuit
    interface = interface or used_interface(circuit)
    graph = Graph(len(interface.inputs))
    place = {name: 2 * number for number, name in enumerate(interface.inputs, 1)}
    # No output needs an input that is missing here.
    inputs = [place.get(circuit.input_name(row), 0) for row in range(circuit.inputs)]
    literals = evaluate(circuit, inputs, graph)
    comment = head(
        automaton,
        "Combinational: the next state of one cell, from its neighbourhood. It is no sequential "
        "model: a cell's neighbours are no latches of its own.",
        "Use: read_aiger FILE, in abc and in yosys.",
    )
    return graph.file(
        len(interface.inputs),
        outputs=[literals[row] for row in interface.rows(circuit)],
        names=[
            *(f"i{number} {name}" for number, name in enumerate(interface.inputs)),
            *(f"o{number} next{label}" for number, label in enumerate(interface.outputs)),
        ],
        comment="\n".join(comment),
    )
