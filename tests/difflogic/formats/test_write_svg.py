"""The picture, read back from its coordinates: nodes, wires, circles, and distances."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, permutations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats.diagram import graph
from difflogic.formats.diagram.graph import NodeKind, diagram
from difflogic.formats.write_svg import write_svg
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.circuit.rules import circuits, random_circuit

SVG = "{http://www.w3.org/2000/svg}"
SEGMENT = re.compile(
    r"M(\S+) ([^CHh]+)(?:C(\S+) (\S+) (\S+) (\S+) (\S+) ([^M]+)|H([^M]+)|h([^M]+))"
)
TOUCH = 0.31
"""Coordinates are rounded to a tenth."""

CLEARANCE = 7
"""Between a wire and a node that it passes, in pixels, above and below."""

Point = tuple[float, float]


@dataclass
class Box:
    label: str
    about: str
    left: float
    top: float
    right: float
    bottom: float
    frame: str

    def is_near(self, x: float, y: float) -> bool:
        """Whether a point of a wire is inside, or close above or below."""
        inside_x = self.left + TOUCH < x < self.right - TOUCH
        return inside_x and self.top - CLEARANCE < y < self.bottom + CLEARANCE


@dataclass
class Picture:
    boxes: list[Box] = field(default_factory=list)
    circles: list[Point] = field(default_factory=list)
    nets: dict[str, list[list[Point]]] = field(default_factory=dict)
    """Curves of each source, by its tooltip, as points along them."""


def points(match: re.Match) -> list[Point]:
    x0 = float(match[1])
    y0 = float(match[2])
    if match[9] or match[10]:
        end = float(match[9]) if match[9] else x0 + float(match[10])
        return [(x0, y0), ((x0 + end) / 2, y0), (end, y0)]
    corners = np.array(match.group(*range(1, 9)), float).reshape(4, 2)
    t = np.linspace(0, 1, 33)
    weights = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return [(x, y) for x, y in (weights.T @ corners).tolist()]


def read(text: str) -> Picture:
    root = ElementTree.fromstring(text.encode())
    picture = Picture()
    for element in root.iterfind(f"{SVG}g[1]/*"):
        title = element.findtext(f"{SVG}title", "")
        if element.get("class") == "box":
            rect = element.find(f"{SVG}rect")
            assert rect is not None
            x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
            label = element.findtext(f"{SVG}text", "")
            frame = rect.attrib["stroke-width"]
            picture.boxes.append(Box(label, title, x, y, x + width, y + height, frame))
        elif element.get("class") == "net":
            path = element.find(f"{SVG}path")
            assert path is not None
            picture.nets[title] = [points(m) for m in SEGMENT.finditer(path.attrib["d"])]
        else:
            assert element.get("class") == "circle"
            picture.circles.append((float(element.attrib["cx"]), float(element.attrib["cy"])))
    return picture


def near(a: Point, b: Point, distance: float = TOUCH) -> bool:
    return abs(a[0] - b[0]) <= distance and abs(a[1] - b[1]) <= distance


def wires(picture: Picture) -> Counter[tuple[str, str, bool]]:
    """The source and target of each wire, and whether it ends in a circle."""
    found: Counter[tuple[str, str, bool]] = Counter()
    for about, curves in picture.nets.items():
        (source,) = (box for box in picture.boxes if box.about == about)
        starts = [curve[0] for curve in curves]
        middle = (source.top + source.bottom) / 2
        circled = any(near((source.right + 3.6, middle), circle) for circle in picture.circles)
        assert any(near(start, (source.right + 7.2 * circled, middle)) for start in starts)
        for curve in curves:
            end = curve[-1]
            if any(near(end, start) for start in starts):
                continue  # the wire continues
            circle = any(near(end, (x - 3.6, y)) for x, y in picture.circles)
            stop = (end[0] + (7.2 if circle else 0.0), end[1])
            (target,) = (
                box
                for box in picture.boxes
                if abs(box.left - stop[0]) <= TOUCH and box.top < stop[1] < box.bottom
            )
            found[about, target.about, circle] += 1
    return found


@example(circuit_of([(Op.A_AND_NOT_B, 0, 1)], [9]))
@given(circuits(gates=24))
@settings(max_examples=20)
def test_the_picture_shows_the_circuit(circuit: Circuit) -> None:
    example = automaton(circuit, visible=circuit.labels[:1])
    picture = read(write_svg(example))
    drawn = diagram(example)
    assert [(b.label, b.about) for b in picture.boxes] == [(n.label, n.about) for n in drawn.nodes]
    assert wires(picture) == Counter(
        (drawn.nodes[wire.source].about, drawn.nodes[wire.target].about, wire.inverted)
        for wire in drawn.wires
    )
    assert drawn.inverts == bool(picture.circles)
    pairs = list(zip(picture.boxes, drawn.nodes, strict=True))
    for box, node in pairs:
        out = (box.right + 3.6, (box.top + box.bottom) / 2)
        assert any(near(circle, out) for circle in picture.circles) == node.inverted
        assert box.frame == ("3" if node.visible else "1.4")
    for (a, one), (b, other) in permutations(pairs, 2):
        # Inputs are left of all, next states right of all.
        first = one.kind is NodeKind.INPUT and other.kind not in (NodeKind.INPUT, NodeKind.CONSTANT)
        last = one.kind is not NodeKind.OUTPUT and other.kind is NodeKind.OUTPUT
        if first or last:
            assert a.right < b.left
        assert a.right < b.left or b.right < a.left or a.bottom < b.top or b.bottom < a.top
    for curve in chain.from_iterable(picture.nets.values()):
        for point in curve:
            assert not any(box.is_near(*point) for box in picture.boxes)


@pytest.mark.parametrize("channels", [1, 12, 13])
def test_the_map_of_cells_read(channels: int) -> None:
    """Only the last input is read: its channel's map has one filled cell, or a count of 1."""
    circuit = Circuit(
        np.array([Op.NOT_A]),
        [9 * channels - 1],
        [0],
        [9 * channels] * channels,
        tuple(range(channels)),
    )  # type: ignore[arg-type]
    root = ElementTree.fromstring(write_svg(automaton(circuit)).encode())
    cells = [e for e in root.iter(f"{SVG}rect") if e.get("stroke") == "#8a8a8a"]
    filled = [e for e in cells if e.get("fill") != "#ffffff"]
    assert len(cells) == 9 * (channels if channels < 13 else 1)
    assert filled == [cells[-1]]


def test_names_are_escaped() -> None:
    example = automaton(random_circuit(np.random.default_rng(0)), name='<a> & "b"')
    root = ElementTree.fromstring(write_svg(example).encode())
    assert root.findtext(f"{SVG}title") == 'Circuit of <a> & "b"'


def test_too_large_pictures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = random_circuit(np.random.default_rng(1), channels=3, gates=60)
    monkeypatch.setattr(graph, "MOST_DRAWN_NODES", 20)
    with pytest.raises(CircuitError, match=r"example: a picture of \d+ inputs.* simplify the"):
        write_svg(automaton(circuit))
