"""Gates beside a circuit that counts places, which invert what it gets wrong.

They are a decision diagram of the place's bits, laid out in layers beside those of the circuit. Its
last layer is followed by as many as the diagram needs, and then by one that joins both: a channel's
next state is inverted where the diagram says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from difflogic.circuit.gates import PASS_THROUGH, Op, fixed_logits
from difflogic.circuit.layer import Layer, levels_of, staged
from difflogic.circuit.netlist import WiredLayers
from difflogic.circuit.wiring import Wiring
from difflogic.pictures.decision_diagram import CONSTANT, DecisionDiagram
from difflogic.pictures.places import Places
from difflogic.system.array_types import Array, Ints


class _Gates(NamedTuple):
    """Gates of a layer, without counters; `a` and `b` are numbers of gates in the layer before."""

    logits: Array
    a: Ints
    b: Ints

    @property
    def places(self) -> Ints:
        return np.arange(len(self.a))

    @classmethod
    def new(cls, op: Ints, a: Ints, b: Ints) -> _Gates:
        return cls(fixed_logits(op.astype(np.uint8)), a, b)

    def beside(self, other: _Gates) -> _Gates:
        return _Gates(*map(np.concatenate, zip(self, other, strict=True)))


def add_correction(
    layers: WiredLayers, logits: Array, places: Places, diagram: DecisionDiagram
) -> tuple[WiredLayers, Array]:
    """Invert the visible outputs where `diagram` is 1. Return the circuit and its logits.

    The diagram's inputs are the place's bits, in the order of their channels; its outputs are the
    channels that are learned.
    """
    found, inputs = _learned_layers(layers, logits, places)
    own = found[-1].places
    gates = Layer(diagram.op, diagram.a, diagram.b)
    levels = levels_of(diagram.inputs, gates.a, gates.b)
    constant = diagram.outputs == CONSTANT
    depth = max(len(found), int(levels.max(initial=0)))
    passing = _Gates.new(np.full(len(own), PASS_THROUGH), own, own)
    found += [passing] * (depth - len(found))
    stages, shown = staged(diagram.inputs, gates, diagram.outputs[~constant], depth)
    before = 0
    for number, stage in enumerate(stages):
        following = len(found[number].a)
        found[number] = found[number].beside(
            _Gates.new(stage.op, before + stage.a, before + stage.b)
        )
        before = following
    op = np.where(diagram.inverted, Op.XNOR, Op.XOR)
    op = np.where(constant, np.where(diagram.inverted, Op.NOT_A, Op.A), op)
    b = own.copy()
    b[~constant] = before + shown
    found.append(_Gates.new(op, own, b))
    return _counted(layers, logits, places, found, inputs)


def _learned_layers(layers: WiredLayers, logits: Array, places: Places) -> tuple[list[_Gates], int]:
    """Return the layers without counters, and the number of their inputs."""
    sizes = layers.architecture
    inputs = places.learned_inputs(sizes.channels, sizes.update_inputs)
    _, widths = places.learned(sizes)
    found: list[_Gates] = []
    first = sizes.kernels * sizes.kernel_gates
    for layer, width in zip(layers.update, widths, strict=True):
        a: Ints = layer.a[:width]
        b: Ints = layer.b[:width]
        if not found:
            a, b = np.searchsorted(inputs, a), np.searchsorted(inputs, b)
        found.append(_Gates(logits[first : first + width], a, b))
        first += layer.gates
    return found, len(inputs)


def _counted(
    layers: WiredLayers, logits: Array, places: Places, found: list[_Gates], inputs: int
) -> tuple[WiredLayers, Array]:
    """Return the layers with their counters, which go on beside new layers, and their logits."""
    sizes = layers.architecture
    wired = []
    for layer in found:
        wired.append(Wiring(inputs, layer.a.astype(np.int32), layer.b.astype(np.int32)))
        inputs = len(layer.a)
    (looks,) = layers.perception[0]
    update = places.beside(wired, sizes.channels, looks.a.tolist())
    architecture = replace(sizes, update=tuple(layer.gates for layer in update))
    made = WiredLayers(architecture, layers.perception, update)
    changed = fixed_logits(made.first_ops, logits.dtype)
    end = sizes.kernels * sizes.kernel_gates
    changed[:end] = logits[:end]
    for layer, wiring in zip(found, update, strict=True):
        changed[end : end + len(layer.a)] = layer.logits
        end += wiring.gates
    return made, changed
