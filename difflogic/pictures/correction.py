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
from difflogic.system.array_types import Array, Bits, Ints

NEW = -1
"""Stands for the parameter of a gate that the circuit did not have."""


class _Gates(NamedTuple):
    """Gates of one layer, without counters; `a` and `b` are numbers of gates in the layer before.

    Gates with an `origin` keep their own logits, and have no `op`.
    """

    op: Ints
    a: Ints
    b: Ints
    origin: Ints

    @classmethod
    def passing(cls, places: Ints) -> _Gates:
        return cls.new(np.full(len(places), PASS_THROUGH), places, places)

    @classmethod
    def new(cls, op: Ints, a: Ints, b: Ints) -> _Gates:
        return cls(op, a, b, np.full(len(op), NEW))

    def beside(self, other: _Gates) -> _Gates:
        return _Gates(*map(np.concatenate, zip(self, other, strict=True)))


def add_correction(
    layers: WiredLayers, logits: Array, places: Places, diagram: DecisionDiagram
) -> tuple[WiredLayers, Array]:
    """Invert the visible outputs where `diagram` is 1. Return the circuit and its logits.

    The diagram's inputs are the place's bits, in the order of their channels; its outputs are the
    channels that are learned.
    """
    found, inputs = _learned_layers(layers, places)
    own = np.arange(len(found[-1].op))
    gates = Layer(diagram.op, diagram.a, diagram.b)
    levels = levels_of(diagram.inputs, gates.a, gates.b)
    constant = diagram.outputs == CONSTANT
    depth = max(len(found), int(levels.max(initial=0)))
    found += [_Gates.passing(own) for _ in range(depth - len(found))]
    stages, shown = staged(diagram.inputs, gates, diagram.outputs[~constant], depth)
    before = 0
    for number, stage in enumerate(stages):
        following = len(found[number].op)
        found[number] = found[number].beside(
            _Gates.new(stage.op, before + stage.a, before + stage.b)
        )
        before = following
    op = np.where(diagram.inverted, Op.XNOR, Op.XOR)
    op = np.where(constant, np.where(diagram.inverted, Op.NOT_A, Op.A), op)
    b = own.copy()
    b[~constant] = before + shown
    found.append(_Gates.new(op, own, b))
    made, origin, ops = _counted(layers, places, found, inputs)
    old = origin != NEW
    changed = fixed_logits(ops, logits.dtype)
    changed[old] = logits[origin[old]]
    return made, changed


def _learned_layers(layers: WiredLayers, places: Places) -> tuple[list[_Gates], int]:
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
        unused = np.full(width, PASS_THROUGH)
        found.append(_Gates(unused, a, b, np.arange(first, first + width)))
        first += layer.gates
    return found, len(inputs)


def _counted(
    layers: WiredLayers, places: Places, found: list[_Gates], inputs: int
) -> tuple[WiredLayers, Ints, Bits]:
    """Return the layers with their counters, which go on beside new layers.

    Also returns each parameter's number before, or NEW, and the ops of new gates, (parameters,).
    """
    sizes = layers.architecture
    wired = []
    for layer in found:
        wired.append(Wiring(inputs, layer.a.astype(np.int32), layer.b.astype(np.int32)))
        inputs = len(layer.op)
    (looks,) = layers.perception[0]
    update = places.beside(wired, sizes.channels, looks.a.tolist())
    architecture = replace(sizes, update=tuple(layer.gates for layer in update))
    made = WiredLayers(architecture, layers.perception, update)
    origin = np.arange(architecture.parameters)
    ops = made.first_ops
    end = sizes.kernels * sizes.kernel_gates
    for layer, wiring in zip(found, update, strict=True):
        some = slice(end, end + len(layer.op))
        origin[some] = layer.origin
        ops[some] = layer.op
        origin[some.stop : end + wiring.gates] = NEW
        end += wiring.gates
    return made, origin, ops
