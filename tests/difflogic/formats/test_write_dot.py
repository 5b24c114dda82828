"""The graph for Graphviz, evaluated from its text, and drawn by Graphviz."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import NEIGHBORS
from difflogic.formats import FORMATS
from difflogic.formats.diagram import graph
from difflogic.formats.write_dot import write_dot
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import circuits, random_circuit

NODE = re.compile(r'^  (\w+) \[label="([^"]*)", .*tooltip="([^"]*)"')
WIRE = re.compile(r"^  (\w+) -> (\w+)(?: \[(.*)\])?$")


def evaluate(text: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a graph, computed from its labels, wires and circles."""
    labels = {m[1]: m[2] for line in text.splitlines() if (m := NODE.match(line))}
    arriving: dict[str, list[np.ndarray]] = {}
    wires = [m for line in text.splitlines() if (m := WIRE.match(line))]
    values: dict[str, np.ndarray] = {}
    size = len(next(iter(inputs.values())))
    for name, label in labels.items():  # in topological order
        if name[0] == "i":
            values[name] = inputs[label]
        else:
            coming = arriving.get(name, [])
            values[name] = compute(label, coming, size)
        for wire in wires:
            if wire[1] == name:
                marks = wire[3] or ""
                flips = ("arrowhead=odot" in marks) + ("arrowtail=odot" in marks)
                arriving.setdefault(wire[2], []).append(values[name] ^ (flips == 1))
    return {label: values[name] for name, label in labels.items() if name[0] == "o"}


def compute(label: str, coming: list[np.ndarray], size: int) -> np.ndarray:
    if label in "01":
        assert not coming
        return np.full(size, label == "1")
    if label in "∧∨⊕":
        a, b = coming
        return {"∧": a & b, "∨": a | b, "⊕": a ^ b}[label]
    (only,) = coming
    return ~only if label == "¬" else only


@settings(max_examples=30)
@given(circuits(gates=30))
def test_the_graph_computes_the_circuit(circuit: Circuit) -> None:
    bits = np.random.default_rng(0).integers(0, 2, (circuit.inputs, 128)).astype(bool)
    names = {
        f"{neighbor}{label}": bits[n * circuit.channels + c]
        for n, neighbor in enumerate(NEIGHBORS)
        for c, label in enumerate(circuit.labels)
    }
    text = write_dot(automaton(circuit, visible=circuit.labels[:1]))
    found = evaluate(text, names)
    expected = circuit.next_state(bits)
    assert list(found) == [f"n{label}'" for label in circuit.labels]
    for label, row in zip(circuit.labels, expected, strict=True):
        assert (found[f"n{label}'"] == row).all()
    thick = re.findall(r'label="(.*?)".*, penwidth=3', text)
    assert thick == [f"n{circuit.labels[0]}'"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["example", 'a "b" \\ <c> & d'])
def test_graphviz_draws_it(name: str) -> None:
    circuit = random_circuit(np.random.default_rng(1), channels=3, gates=60)
    text = write_dot(automaton(circuit, name=name))
    nodes = sum(bool(NODE.match(line)) for line in text.splitlines())
    wires = sum(bool(WIRE.match(line)) for line in text.splitlines())
    done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    kinds = [line.split(" ")[0] for line in done.stdout.splitlines()]
    assert (kinds.count("node"), kinds.count("edge")) == (nodes + 1, wires)  # and the legend


@pytest.mark.parametrize("name", ["dot", "svg"])
def test_too_large_pictures_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = random_circuit(np.random.default_rng(1), channels=3, gates=60)
    monkeypatch.setattr(graph, "MOST_NODES", 20)
    with pytest.raises(CircuitError, match=r"example: a picture of \d+ inputs.* simplify the"):
        FORMATS[name].render(automaton(circuit))
