"""And-inverter graphs in binary AIGER: what abc, yosys, model checkers and SAT tools read.

One cell, combinational; see `write_blif.py` for why there is no sequential model. Inverters cost
nothing in this form, and a XOR is three ANDs.

Source: Biere, Heljanko and Wieringa 2011, "AIGER 1.9 And Beyond"; Biere 2007, "The AIGER
And-Inverter Graph (AIG) Format".
"""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.xag import Literals
from difflogic.formats.common import Interface, head, leb128, used_interface
from difflogic.model.automaton import Automaton


@dataclass(frozen=True)
class Graph(Literals):
    """Literals are as in a file: twice a variable, plus one if inverted; 0 is constant 0.

    Variables 1 to `inputs` are the inputs. AND number i writes the variable after those and reads
    `ands[i]`, two lower literals, the higher one first.
    """

    inputs: int
    ands: list[tuple[int, int]]
    outputs: list[int]

    def and_(self, x: int, y: int) -> int:
        self.ands.append((max(x, y), min(x, y)))
        return 2 * (self.inputs + len(self.ands))

    def xor_(self, x: int, y: int) -> int:
        return self.and_(self.and_(x, y) ^ 1, self.and_(x ^ 1, y ^ 1) ^ 1)

    @property
    def sizes(self) -> str:
        """Variables, inputs, latches, outputs and ANDs, as a file's first line has them."""
        return (
            f"{self.inputs + len(self.ands)} {self.inputs} 0 {len(self.outputs)} {len(self.ands)}"
        )


def write_aiger(automaton: Automaton, interface: Interface | None = None) -> bytes:
    """Return one cell's circuit; `interface` as for BLIF. ANDs are differences of literals."""
    interface = interface or used_interface(automaton.circuit)
    graph = _graph_of(automaton, interface)
    ands = bytearray()
    for i, (x, y) in enumerate(graph.ands):
        own = 2 * (1 + graph.inputs + i)
        ands += leb128(own - x) + leb128(x - y)
    lines = "\n".join([f"aig {graph.sizes}", *map(str, graph.outputs)]) + "\n"
    return lines.encode() + ands + _symbols(automaton, interface).encode()


def _graph_of(automaton: Automaton, interface: Interface) -> Graph:
    """Return one cell's circuit as a graph."""
    circuit = automaton.circuit
    outputs = interface.rows(circuit)
    graph = Graph(len(interface.inputs), [], [])
    place = {name: 2 * number for number, name in enumerate(interface.inputs, 1)}
    # No output needs an input that is missing here.
    inputs = [place.get(circuit.input_name(row), 0) for row in range(circuit.inputs)]
    literals = evaluate(circuit, inputs, graph)
    graph.outputs.extend(literals[row] for row in outputs)
    return graph


def _symbols(automaton: Automaton, interface: Interface) -> str:
    """Return the names of inputs and outputs, and the comment that ends a file."""
    comment = head(
        automaton,
        "Combinational: the next state of one cell, from its neighbourhood. It is no sequential "
        "model: a cell's neighbours are no latches of its own.",
        "Use: read_aiger FILE, in abc and in yosys.",
    )
    lines = [
        *(f"i{number} {name}" for number, name in enumerate(interface.inputs)),
        *(f"o{number} next{label}" for number, label in enumerate(interface.outputs)),
        "c",
        *comment,
    ]
    return "\n".join(lines) + "\n"
