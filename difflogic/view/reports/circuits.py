"""Circuits as the page gets them: to run, and to draw with every node where the layout puts it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.formats.diagram.canvas import Canvas, lay_out
from difflogic.formats.diagram.graph import Family, Node, diagram
from difflogic.model.automaton import Automaton
from difflogic.model.model import Model
from difflogic.simulation.running import Field
from difflogic.system.errors import CircuitError
from difflogic.view.webassembly import VECTOR_WORDS, compile_module

MOST_NODES = 3000
"""Of a drawing with all its wires; more could neither be read nor kept small, and become tiles."""

LOGIT_STEP = 0.01
"""Logits are rounded to it; those of a circuit of tiles to what 8 bits tell apart."""


def running(automaton: Automaton) -> dict[str, Any]:
    """Return what it takes to run an automaton: as a list of gates, and as WebAssembly."""
    circuit = automaton.circuit
    return {
        "height": automaton.height,
        "width": automaton.width,
        "boundary": automaton.boundary,
        "steps": automaton.steps,
        "fireRate": automaton.fire_rate,
        "start": automaton.start,
        "visible": list(automaton.visible_rows),
        "circuit": {
            "channels": circuit.channels,
            "labels": list(circuit.labels),
            "op": circuit.op.tolist(),
            "a": circuit.a.tolist(),
            "b": circuit.b.tolist(),
            "outputs": circuit.outputs.tolist(),
        },
        "wasm": {
            "code": base64.b64encode(compile_module(circuit)).decode(),
            "vectorWords": VECTOR_WORDS,
            "fields": {field.name: int(field) for field in Field},
        },
    }


def drawing(automaton: Automaton, channels: Sequence[int] | None = None) -> dict[str, Any] | None:
    """Return a circuit's picture as numbers, whole pixels; None if it has far too many nodes.

    Node n is a gate if `kinds[n]` is its op in hexadecimal, an input at i, a next state at o, of a
    visible channel at v. `a[n]` and `b[n]` are the nodes that a gate reads; of an input, neighbour
    and label; of a next state, its node and label. `names[n]` is a gate's number in the circuit.
    `nets` are packed in numbers of `netBits`: for each a source, how many pieces of wire it has,
    and four coordinates per piece. Of more than MOST_NODES the page makes `tiled` layers itself:
    there are no places and nets then, and the lists are base64 of 16 bits each, names of
    `nameBits`. `channels` are the labels of those whose next states are drawn, by default all.
    """
    circuit = automaton.circuit
    try:
        drawn = diagram(automaton, channels)
    except CircuitError:
        return None
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
    about = {"gates": circuit.gates, "depth": circuit.depth, "channels": circuit.channels}
    if len(kinds) > MOST_NODES:
        bits = 16 if max(names) < 2**16 else 32
        return about | {
            "tiled": True,
            "kinds": "".join(kinds),
            "a": packed(first, "<u2"),
            "b": packed(second, "<u2"),
            "names": packed(names, f"<u{bits // 8}"),
            "nameBits": bits,
        }
    canvas = lay_out(drawn)
    return about | {
        "width": _whole(canvas.width),
        "height": _whole(canvas.height),
        "kinds": "".join(kinds),
        "a": first,
        "b": second,
        "names": names,
        **_places(canvas),
    }


def drawn_gates(drawn: Mapping[str, Any]) -> list[int]:
    """Return the numbers of the gates of a `drawing`, in its order."""
    names = drawn["names"]
    if isinstance(names, str):
        kind = f"<u{drawn['nameBits'] // 8}"
        names = np.frombuffer(base64.b64decode(names), kind).tolist()
    return [name for name, kind in zip(names, drawn["kinds"], strict=True) if kind not in "iov"]


def _node(circuit: Circuit, node: Node, places: dict[int, int]) -> tuple[str, int, int, int]:
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
    nets: list[int] = []
    for source, segments in canvas.segments().items():
        nets += [source, len(segments)]
        nets += [_whole(n) for s in segments for n in (s.x0, s.y0, s.x1, s.y1)]
    bits = 16 if max(nets, default=0) < 2**16 else 32
    return {
        "x": [_whole(canvas.x[n]) for n in nodes],
        "y": [_whole(canvas.y[n]) for n in nodes],
        "widths": [_whole(canvas.widths[n]) for n in nodes],
        "nets": packed(nets, f"<u{bits // 8}"),
        "netBits": bits,
        "circles": [_whole(n) for circle in canvas.circles() for n in circle],
    }


def _whole(value: float) -> int:
    return round(value)


def logits(model: Model, gates: Sequence[int], bits: int = 16) -> dict[str, Any]:
    """Return the logits of `gates` of the trained circuit, which are given by their numbers.

    `of[k]` is the row of the k-th of them in `table`, 16 numbers of `bits` bits per row, in
    units of `step`. Gates that share their logits share a row. Both are base64, `of` of 16 bits.
    """
    parameters = model.netlist.param[list(gates)]
    rows, places = np.unique(parameters, return_inverse=True)
    values, most = model.logits[rows], 2 ** (bits - 1) - 1
    step = LOGIT_STEP if bits == 16 else max(float(np.abs(values).max(initial=0)) / most, 1e-9)
    table = np.rint(values / step).clip(-most, most)
    return {
        "of": packed(places, "<u2"),
        "step": step,
        "bits": bits,
        "table": packed(table, f"<i{bits // 8}"),
    }


def packed(numbers: npt.ArrayLike, kind: str) -> str:
    """Return numbers as base64 of this type of NumPy's, which the page's `decode` reads."""
    return base64.b64encode(np.asarray(numbers).astype(kind).tobytes()).decode()
