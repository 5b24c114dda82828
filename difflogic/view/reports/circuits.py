"""Circuits as data for the page: to run, and to draw."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.formats.diagram.canvas import Canvas, lay_out
from difflogic.formats.diagram.graph import Node, NodeKind, diagram
from difflogic.model.model import Model
from difflogic.simulation.run_function import Field
from difflogic.system.errors import CircuitError
from difflogic.system.json_values import chosen
from difflogic.view.webassembly import VECTOR_WORDS, compile_module

MOST_PAGE_NODES = 3000
"""Larger drawings would be illegible and large: they become tiles, without wires."""

LOGIT_STEP = 0.01
"""Rounding of logits. Those of a circuit of tiles are rounded to 8 bits."""


def interpreted(automaton: Automaton) -> dict[str, Any]:
    """Return an automaton to interpret, since its circuit changes too often to be compiled."""
    names = "height width boundary steps start blocks held parts"
    return chosen(automaton, *names.split()) | {
        "circuit": chosen(automaton.circuit, "channels", "labels", "op", "a", "b", "outputs"),
        "fireRate": automaton.fire_rate,
        "visible": list(automaton.visible_rows),
        "palette": [list(color) for color in automaton.palette],
    }


def running(automaton: Automaton) -> dict[str, Any]:
    """Return an automaton to run: as a list of gates, and as WebAssembly."""
    return interpreted(automaton) | {
        "wasm": {
            "code": base64.b64encode(compile_module(automaton.circuit)).decode(),
            "vectorWords": VECTOR_WORDS,
            "fields": {field.name: int(field) for field in Field},
        }
    }


def drawing(automaton: Automaton, channels: Sequence[int] | None = None) -> dict[str, Any] | None:
    """Return a circuit's picture as numbers; None if it has too many nodes even for tiles.

    `kinds[n]` is the kind of node n: a gate's op in hexadecimal, i for an input, o for a next
    state, v for that of a visible channel. `a[n]` and `b[n]` are the two nodes that a gate reads;
    the neighbour and label of an input; the node and label of a next state. `names[n]` is a gate's
    number in the circuit. Coordinates are whole pixels. `nets`, packed with `netBits` bits, are for
    each source its node, its number of pieces of wire, and four coordinates per piece.

    Beyond MOST_PAGE_NODES the picture is `tiled` and the page itself places the nodes: there are
    no places and nets, and the lists are base64, of 16 bits, or `nameBits` for names. `channels`
    are the labels of the next states to draw, by default all.
    """
    circuit = automaton.circuit
    try:
        drawn = diagram(automaton, channels)
    except CircuitError:
        return None
    nodes = []
    places: dict[int, int] = {}
    for number, node in enumerate(drawn.nodes):
        nodes.append(_node(circuit, node, places))
        if node.kind is not NodeKind.OUTPUT:
            places[node.row] = number
    kinds, first, second, names = zip(*nodes, strict=True)
    found = chosen(circuit, "gates", "depth", "channels") | {"kinds": "".join(kinds)}
    if len(kinds) > MOST_PAGE_NODES:
        bits = 16 if max(names) < 2**16 else 32
        return found | {
            "tiled": True,
            "a": packed(first, "<u2"),
            "b": packed(second, "<u2"),
            "names": packed(names, f"<u{bits // 8}"),
            "nameBits": bits,
        }
    canvas = lay_out(drawn)
    found |= {"width": round(canvas.width), "height": round(canvas.height)}
    return found | {"a": first, "b": second, "names": names, **_places(canvas)}


def drawn_gates(drawn: Mapping[str, Any]) -> list[int]:
    """Return the numbers of a `drawing`'s gates, in its order."""
    names = drawn["names"]
    if isinstance(names, str):
        kind = f"<u{drawn['nameBits'] // 8}"
        names = np.frombuffer(base64.b64decode(names), kind).tolist()
    return [name for name, kind in zip(names, drawn["kinds"], strict=True) if kind not in "iov"]


def _node(circuit: Circuit, node: Node, places: dict[int, int]) -> tuple[str, int, int, int]:
    if node.kind is NodeKind.INPUT:
        neighbor, channel = divmod(node.row, circuit.channels)
        return "i", neighbor, circuit.labels[channel], 0
    if node.kind is NodeKind.OUTPUT:
        label = int(node.label[1:-1])
        return ("v" if node.visible else "o"), places[node.row], label, 0
    gate = node.row - circuit.inputs
    # An ignored input may be a row that is not drawn.
    a, b = (places.get(int(wires[gate]), 0) for wires in (circuit.a, circuit.b))
    return f"{int(circuit.op[gate]):x}", a, b, gate


def _places(canvas: Canvas) -> dict[str, Any]:
    nodes = range(len(canvas.diagram.nodes))
    nets: list[int] = []
    for source, segments in canvas.segments().items():
        nets += [source, len(segments)]
        nets += [round(n) for s in segments for n in (s.x0, s.y0, s.x1, s.y1)]
    bits = 16 if max(nets, default=0) < 2**16 else 32
    return {
        "x": [round(canvas.x[n]) for n in nodes],
        "y": [round(canvas.y[n]) for n in nodes],
        "widths": [round(canvas.widths[n]) for n in nodes],
        "nets": packed(nets, f"<u{bits // 8}"),
        "netBits": bits,
        "circles": [round(n) for circle in canvas.circles() for n in circle],
    }


def logits(model: Model, gates: Sequence[int], bits: int = 16) -> dict[str, Any]:
    """Return the logits of `gates`, numbered as in the trained circuit.

    `of[k]` is the k-th gate's row in `table`, which has 16 numbers of `bits` bits per row, in units
    of `step`. Gates with shared logits share a row. Both are base64; `of` has 16 bits.
    """
    parameters = model.netlist.param[list(gates)]
    rows, places = np.unique(parameters, return_inverse=True)
    values = model.logits[rows]
    most = 2 ** (bits - 1) - 1
    step = LOGIT_STEP if bits == 16 else max(float(np.abs(values).max(initial=0)) / most, 1e-9)
    table = np.rint(values / step).clip(-most, most)
    return {
        "of": packed(places, "<u2"),
        "step": step,
        "bits": bits,
        "table": packed(table, f"<i{bits // 8}"),
    }


def packed(numbers: npt.ArrayLike, kind: str) -> str:
    """Return numbers of a NumPy type as base64, for the page's `decode`."""
    return base64.b64encode(np.asarray(numbers).astype(kind).tobytes()).decode()
