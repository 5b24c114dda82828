"""The binary form of AIGER, the one that abc reads; see `aiger.py`."""

from __future__ import annotations

from difflogic.formats.common import Interface, used_interface
from difflogic.formats.write_aiger import graph_of, symbols
from difflogic.model.automaton import Automaton


def write_aiger_binary(automaton: Automaton, interface: Interface | None = None) -> bytes:
    """Return the binary form: the ANDs as differences of literals, seven bits to a byte."""
    interface = interface or used_interface(automaton.circuit)
    graph = graph_of(automaton, interface)
    ands = bytearray()
    for i, (x, y) in enumerate(graph.ands):
        own = 2 * (1 + graph.inputs + i)
        ands += _number(own - x) + _number(x - y)
    lines = "\n".join([f"aig {graph.sizes}", *map(str, graph.outputs)]) + "\n"
    return lines.encode() + ands + symbols(automaton, interface).encode()


def _number(value: int) -> bytes:
    """Seven bits to a byte, the lowest first; the eighth says that more follow."""
    low = bytearray()
    while value >= 0x80:
        low.append(0x80 | value & 0x7F)
        value >>= 7
    return bytes([*low, value])
