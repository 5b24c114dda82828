"""A circuit as an SVG picture, laid out without other programs. Inputs left, outputs right."""

from __future__ import annotations

from html import escape

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import NEIGHBORS
from difflogic.formats.diagram.canvas import CIRCLE_RADIUS, lay_out, node_height
from difflogic.formats.diagram.graph import NodeKind, diagram
from difflogic.formats.notation import rendered
from difflogic.system.quantities import counted

MARGIN = 16
SIDEBAR_WIDTH = 196
MOST_MAPS = 12
"""Up to this many channels get a map of the cells read. More share one map with counts."""


def write_svg(automaton: Automaton) -> str:
    """Return an automaton's circuit as an SVG picture. Raises CircuitError if it is too large."""
    drawn = diagram(automaton)
    circuit = automaton.circuit
    canvas = lay_out(drawn)
    left = MARGIN + SIDEBAR_WIDTH + MARGIN
    reads = np.zeros(circuit.inputs, np.int64)
    reads[circuit.read_inputs] = 1
    needed = circuit.needed(range(circuit.channels))[circuit.inputs :]
    return rendered(
        "formats/write_svg",
        automaton,
        canvas=canvas,
        drawn=drawn,
        nodes=drawn.nodes,
        margin=MARGIN,
        left=left,
        width=left + canvas.width + MARGIN,
        unread=circuit.gates - int(needed.sum()),
        neighbors=NEIGHBORS,
        reads=reads.reshape(len(NEIGHBORS), -1).tolist(),
        most_maps=MOST_MAPS,
        output=NodeKind.OUTPUT,
        circle=CIRCLE_RADIUS,
        box_height=node_height,
        counted=counted,
        escape=escape,
    )
