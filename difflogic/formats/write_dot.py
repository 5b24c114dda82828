"""A circuit as a graph for Graphviz, left to right: dot -Tsvg circuit.dot > circuit.svg."""

from __future__ import annotations

from difflogic.circuit.automaton import Automaton
from difflogic.formats.diagram.graph import Family, diagram
from difflogic.formats.templates import rendered


def write_dot(automaton: Automaton) -> str:
    """Return an automaton's circuit in the DOT language. Raises CircuitError if it is too large.

    A circle at a wire's end inverts: at a gate's input the input, at its output the result. Names
    of nodes are i, g or o and the node's number.
    """
    drawn = diagram(automaton)
    letters = {Family.INPUT: "i", Family.OUTPUT: "o"}
    names = [f"{letters.get(node.family, 'g')}{n}" for n, node in enumerate(drawn.nodes)]
    ranks = {
        rank: [name for name, node in zip(names, drawn.nodes, strict=True) if node.family is family]
        for rank, family in (("source", Family.INPUT), ("sink", Family.OUTPUT))
    }
    return rendered(
        "formats/write_dot", automaton, drawn=drawn, names=names, ranks=ranks, output=Family.OUTPUT
    )
