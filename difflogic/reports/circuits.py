"""Circuits as the page gets them: to run, and to draw with every node where the layout puts it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from difflogic.formats.diagram.canvas import Canvas, lay_out, node_height
from difflogic.formats.diagram.graph import Family, Node, diagram
from difflogic.logic.automaton import Automaton
from difflogic.logic.circuit import LogicCircuit
from difflogic.model import Model
from difflogic.simulation.fields import Field
from difflogic.webassembly import VECTOR_WORDS, compile_module

MOST_NODES = 3000
"""Of a drawing in the page; more could neither be read nor kept small."""

LOGIT_STEP = 0.01
"""Logits are rounded to it."""


def running(automaton: Automaton) -> dict[str, Any]:
    """Return what it takes to run an automaton: as a list of gates, and as WebAssembly."""
    circuit = automaton.circuit
    return {
        "height": automaton.height, "width": automaton.width, "boundary": automaton.boundary,
        "steps": automaton.steps, "fireRate": automaton.fire_rate, "start": automaton.start,
        "visible": list(automaton.visible_rows),
        "circuit": {
            "channels": circuit.channels, "labels": list(circuit.labels),
            "op": circuit.op.tolist(), "a": circuit.a.tolist(), "b": circuit.b.tolist(),
            "outputs": circuit.outputs.tolist(),
        },
        "wasm": {
            "code": base64.b64encode(compile_module(circuit)).decode(),
            "vectorWords": VECTOR_WORDS,
            "fields": {field.name: int(field) for field in Field},
        },
    }  # fmt: skip


def drawing(automaton: Automaton, channels: Sequence[int] | None = None) -> dict[str, Any] | None:
    """Return a circuit's picture as numbers, whole pixels; None if it has too many nodes.

    Node n is a gate if `kinds[n]` is its op in hexadecimal, an input at i, a next state at o, of a
    visible channel at v. `a[n]` and `b[n]` are the nodes that a gate reads; of an input, neighbour
    and label; of a next state, its node and label. `names[n]` is a gate's number in the circuit.
    `nets` are lists: a source, and four coordinates per piece of wire. `channels` are the labels of
    those whose next states are drawn, by default all.
    """
    drawn = diagram(automaton, channels)
    if len(drawn.nodes) > MOST_NODES:
        return None
    canvas = lay_out(drawn)
    circuit = automaton.circuit
    kinds, first, second, names = [], [], [], []
    places: dict[int, int] = {}
    for number, node in enumerate(drawn.nodes):
        kind, a, b, name = _node(circuit, node, places)
        if node.family is not Family.OUTPUT:
            places[node.row] = number
        kinds.append(kind)
        first.append(a)
        second.append(b)
        names.append(name)
    return {
        "gates": circuit.gates, "depth": circuit.depth, "channels": circuit.channels,
        "width": _whole(canvas.width), "height": _whole(canvas.height),
        "kinds": "".join(kinds), "a": first, "b": second, "names": names,
        **_places(canvas),
    }  # fmt: skip


def _node(circuit: LogicCircuit, node: Node, places: dict[int, int]) -> tuple[str, int, int, int]:
    if node.family is Family.INPUT:
        neighbor, channel = divmod(node.row, circuit.channels)
        return "i", neighbor, circuit.labels[channel], 0
    if node.family is Family.OUTPUT:
        label = int(node.label[1:-1])
        return ("v" if node.visible else "o"), places[node.row], label, 0
    gate = node.row - circuit.inputs
    # An op that ignores an input may name a row there that is not drawn.
    a, b = (places.get(int(wires[gate]), 0) for wires in (circuit.a, circuit.b))
    return f"{int(circuit.op[gate]):x}", a, b, gate


def _places(canvas: Canvas) -> dict[str, Any]:
    nodes = range(len(canvas.diagram.nodes))
    return {
        "x": [_whole(canvas.x[n]) for n in nodes],
        "y": [_whole(canvas.y[n]) for n in nodes],
        "widths": [_whole(canvas.widths[n]) for n in nodes],
        "heights": sorted({node_height(node) for node in canvas.diagram.nodes}),
        "nets": [
            [source, *(_whole(n) for s in segments for n in (s.x0, s.y0, s.x1, s.y1))]
            for source, segments in canvas.segments().items()
        ],
        "circles": [_whole(n) for circle in canvas.circles() for n in circle],
    }


def _whole(value: float) -> int:
    return round(value)


def logits(model: Model, gates: Sequence[int]) -> dict[str, Any]:
    """Return the logits of gates of the trained circuit, by their numbers.

    `of[k]` is the row of gate `gates[k]` in `table`, 16 numbers of 16 bits per row, in units of
    `step`, base64. Gates that share their logits share a row.
    """
    parameters = model.netlist.param[list(gates)]
    rows, places = np.unique(parameters, return_inverse=True)
    table = np.rint(model.logits[rows] / LOGIT_STEP).clip(-(2**15), 2**15 - 1)
    return {
        "gates": list(gates), "of": places.tolist(), "step": LOGIT_STEP,
        "table": base64.b64encode(table.astype("<i2").tobytes()).decode(),
    }  # fmt: skip
