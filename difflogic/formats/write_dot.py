"""A circuit as a graph for Graphviz, left to right: dot -Tsvg circuit.dot > circuit.svg."""

from __future__ import annotations

from collections.abc import Iterator

from difflogic.circuit.automaton import Automaton
from difflogic.formats.diagram.graph import Diagram, Family, Node, Wire, diagram


def write_dot(automaton: Automaton) -> str:
    """Return an automaton's circuit in the DOT language. Raises CircuitError if it is too large.

    A circle at a wire's end inverts: at a gate's input the input, at its output the result. Names
    of nodes are i, g or o and the node's number.
    """
    drawn = diagram(automaton)
    circuit = automaton.circuit
    title = (
        f"{automaton.name}: {circuit.gates} gates, depth {circuit.depth}, "
        f"{circuit.channels} channels"
    )
    return "\n".join(
        [
            f"digraph {_quoted(automaton.name)} {{",
            '  graph [rankdir=LR, ranksep=0.5, nodesep=0.12, bgcolor=white, fontname="Helvetica", '
            f"fontsize=16, labelloc=t, labeljust=l, label={_quoted(title)}]",
            '  node [fontname="Helvetica", fontsize=12, style="filled,rounded", shape=box, '
            "margin=0.06, width=0.45, height=0.32]",
            '  edge [color="#666666", arrowsize=0.7, arrowhead=none, headport=w, tailport=e]',
            *_legend(drawn),
            *(
                f"  {_name(drawn, number)} [{_attributes(node)}]"
                for number, node in enumerate(drawn.nodes)
            ),
            *_ranks(drawn),
            *(f"  {_wire(drawn, wire)}" for wire in drawn.wires),
            "}",
            "",
        ]
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _name(drawn: Diagram, number: int) -> str:
    family = drawn.nodes[number].family
    kind = {Family.INPUT: "i", Family.OUTPUT: "o"}.get(family, "g")
    return f"{kind}{number}"


def _attributes(node: Node) -> str:
    width = ", penwidth=3" if node.visible else ""
    return (
        f'label={_quoted(node.label)}, fillcolor="{node.family.fill}", '
        f'color="{node.family.stroke}", tooltip={_quoted(node.about)}{width}'
    )


def _wire(drawn: Diagram, wire: Wire) -> str:
    marks = []
    if wire.inverted:
        marks.append("arrowhead=odot")
    if drawn.nodes[wire.source].inverted:
        marks.append("dir=both, arrowtail=odot" if wire.inverted else "dir=back, arrowtail=odot")
    text = f"{_name(drawn, wire.source)} -> {_name(drawn, wire.target)}"
    return f"{text} [{', '.join(marks)}]" if marks else text


def _ranks(drawn: Diagram) -> Iterator[str]:
    for rank, family in (("source", Family.INPUT), ("sink", Family.OUTPUT)):
        names = [
            _name(drawn, number) for number, node in enumerate(drawn.nodes) if node.family is family
        ]
        if names:
            yield f"  {{rank={rank}; {'; '.join(names)}}}"


def _legend(drawn: Diagram) -> Iterator[str]:
    """Yield the legend of colours and signs."""
    rows = []
    for family in drawn.families:
        more = " (thick frame: visible)" if family is Family.OUTPUT else ""
        rows.append(
            f'<tr><td border="1" color="{family.stroke}" bgcolor="{family.fill}">{family.sign}</td>'
            f'<td align="left">{family.title}{more}</td></tr>'
        )
    if drawn.inverts:
        rows.append('<tr><td>○</td><td align="left">inverts</td></tr>')
    yield (
        '  legend [shape=plain, style="", label=<<table border="0" cellborder="0" '
        f'cellspacing="3">{"".join(rows)}</table>>]'
    )
