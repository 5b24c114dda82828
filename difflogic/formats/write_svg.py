"""A circuit as a picture: SVG, laid out without other programs. Inputs left, next states right."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from difflogic.formats.diagram.canvas import CIRCLE, Canvas, Segment, lay_out, node_height
from difflogic.formats.diagram.graph import diagram
from difflogic.formats.diagram.sidebar import WIDTH as SIDEBAR_WIDTH
from difflogic.formats.diagram.sidebar import Sidebar
from difflogic.model.automaton import Automaton

MARGIN = 16
STYLE = """
text{font-family:"DejaVu Sans","Segoe UI",Arial,Helvetica,sans-serif;fill:#1a1a1a}
.label{font-size:13px;text-anchor:middle}
.sign{font-size:17px;text-anchor:middle}
.wire{fill:none;stroke:#8a8a8a;stroke-width:1.3}
.circle{fill:#fff;stroke:#1a1a1a;stroke-width:1.3}
.net:hover .wire{stroke:#000;stroke-width:2.4}
.box:hover rect{stroke-width:3}
"""


def write_svg(automaton: Automaton) -> str:
    """Return an automaton's circuit as an SVG picture. Raises CircuitError if it is too large."""
    canvas = lay_out(diagram(automaton))
    side = Sidebar(canvas.diagram, MARGIN, 0)
    left = MARGIN + SIDEBAR_WIDTH + MARGIN
    width = left + canvas.width + MARGIN
    height = max(canvas.height, side.height) + 2 * MARGIN
    top = MARGIN + max(0.0, (side.height - canvas.height) / 2)
    name = escape(automaton.name)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
            f'viewBox="0 0 {_n(width)} {_n(height)}">',
            f"<title>Circuit of {name}</title>",
            f"<style>{escape(STYLE, quote=False)}</style>",
            f'<rect width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>',
            *side.parts,
            f'<g transform="translate({_n(left)} {_n(top)})">',
            *_wires(canvas),
            *_nodes(canvas),
            "</g>",
            "</svg>",
            "",
        ]
    )


def _n(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel."""
    return f"{round(value, 1):g}"


def _nodes(canvas: Canvas) -> Iterator[str]:
    for number, node in enumerate(canvas.diagram.nodes):
        x, y, width = canvas.x[number], canvas.y[number], canvas.widths[number]
        named, height = node.family.is_named, node_height(node)
        corner = 4 if named else 10
        label = escape(node.label)
        yield (
            f'<g class="box"><title>{escape(node.about)}</title>'
            f'<rect x="{_n(x - width / 2)}" y="{_n(y - height / 2)}" width="{_n(width)}" '
            f'height="{_n(height)}" rx="{_n(corner)}" fill="{node.family.fill}" '
            f'stroke="{node.family.stroke}" stroke-width="{3 if node.visible else 1.4}"/>'
            f'<text class="{"label" if named else "sign"}" x="{_n(x)}" '
            f'y="{_n(y + (4.6 if named else 6))}">{label}</text></g>'
        )
        if node.inverted:
            yield _circle(x + width / 2 + CIRCLE, y)


def _circle(x: float, y: float) -> str:
    return f'<circle class="circle" cx="{_n(x)}" cy="{_n(y)}" r="{CIRCLE}"/>'


def _wires(canvas: Canvas) -> Iterator[str]:
    """Draw the wires of each node as one group, and the circles where they end inverted."""
    nodes = canvas.diagram.nodes
    for source, segments in canvas.segments().items():
        about = escape(nodes[source].about)
        path = "".join(map(_path, segments))
        yield f'<g class="net"><title>{about}</title><path class="wire" d="{path}"/></g>'
    for x, y in canvas.circles():
        yield _circle(x, y)


def _path(segment: Segment) -> str:
    x0, y0, x1, y1 = segment.x0, segment.y0, segment.x1, segment.y1
    middle = (x0 + x1) / 2
    if abs(y0 - y1) < 0.05:
        return f"M{_n(x0)} {_n(y0)}H{_n(x1)}"
    return f"M{_n(x0)} {_n(y0)}C{_n(middle)} {_n(y0)} {_n(middle)} {_n(y1)} {_n(x1)} {_n(y1)}"
