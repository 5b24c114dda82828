"""The soft circuit: an architecture, its wiring, and one flat list of gates in topological order.

Soft kernels, the NumPy oracle, search and statistics all work on this netlist of one cell's update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import PASS_THROUGH
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.circuit.layer import Layer
from difflogic.circuit.wiring import (
    FIRST_TOPOLOGIES,
    Wiring,
    WiringRule,
    carrying,
    first_ops,
    spread_directions,
    unique,
    wired_to_see,
)
from difflogic.system.array_types import Bits, Flags, Int32s, Int64s, Ints
from difflogic.system.errors import ConfigError


class FixedGates(Protocol):
    """Gates of an update circuit that are wired before training, and never change.

    They are the last gates of each layer. All others learn.
    """

    def layers(self, depth: int) -> Sequence[Layer]:
        """Return them for a circuit of `depth` layers. Raises ConfigError for too few."""

    def learned(self, sizes: Architecture) -> tuple[int, tuple[int, ...]]:
        """Return the number of inputs of the other gates, and of these gates in each layer."""

    def beside(
        self, layers: Sequence[Wiring], channels: int, looks: Sequence[int]
    ) -> tuple[Wiring, ...]:
        """Return the whole wiring, from that of the other gates.

        `looks` are the neighbours that perception passes on.
        """


@dataclass(frozen=True)
class Architecture:
    """Sizes of the circuit that updates one cell.

    A perception kernel maps the 3×3 neighbourhood of one channel to `perception[-1]` bits, and is
    applied to every channel. The update circuit maps the centre's channels and all
    perceived bits to the cell's next state.
    """

    channels: int
    kernels: int
    perception: tuple[int, ...]
    """Gates per layer of one kernel."""
    update: tuple[int, ...]
    """Gates per layer of the update circuit; the last layer has `channels` gates."""
    perception_first: str = "moore"
    distinct_wiring: bool = False
    """Whether each kernel has its own wiring, or all share one."""
    all_directions: bool = False
    """Whether untrained kernels see all directions, by `wiring.spread_directions`."""
    carry: float = 0.0
    """Steps for which `wiring.carrying` lets a signal keep its direction; 0 leaves it to chance."""
    held: tuple[int, ...] = ()
    """Channels that never change, whatever their gates compute."""
    moving: tuple[tuple[int, int, int], ...] = ()
    """Channels that are copied, whatever their gates compute: (channel, neighbour, its channel)."""
    fixed: FixedGates | None = None
    """Gates that do not learn, if there are any."""

    @property
    def update_inputs(self) -> int:
        return self.channels + self.channels * self.kernels * self.perception[-1]

    @property
    def kernel_wirings(self) -> int:
        """Number of different wirings of kernels: one, or one per kernel."""
        return self.kernels if self.distinct_wiring else 1

    @property
    def kernel_gates(self) -> int:
        return sum(self.perception)

    @property
    def parameters(self) -> int:
        """Number of gates with logits. All channels share a kernel's."""
        return self.kernels * self.kernel_gates + sum(self.update)

    @property
    def first_directions(self) -> list[list[tuple[int, ...]]]:
        """The neighbours that each kernel's outputs see before training, with all directions."""
        outputs = self.perception[-1]
        seen = spread_directions(self.kernels * outputs)
        return [seen[kernel * outputs :][:outputs] for kernel in range(self.kernels)]

    @property
    def gates(self) -> int:
        """Gates evaluated per cell and step."""
        return self.kernels * self.kernel_gates * self.channels + sum(self.update)


@dataclass(frozen=True)
class WiredLayers:
    """An architecture and the wiring of its layers: a soft circuit without its logits.

    `perception` has one wiring per layer for each kernel, or once for all kernels that share it;
    `update` has one per layer. Raises ConfigError if they do not fit the architecture.
    """

    architecture: Architecture
    perception: tuple[tuple[Wiring, ...], ...]
    update: tuple[Wiring, ...]

    def __post_init__(self) -> None:
        architecture = self.architecture
        if len(self.perception) != architecture.kernel_wirings:
            raise ConfigError(
                f"perception: {architecture.kernel_wirings} wirings of a kernel expected, "
                f"{len(self.perception)} given"
            )
        for layers in self.perception:
            _check_layers("perception", layers, NEIGHBORHOOD, architecture.perception)
        _check_layers("update", self.update, architecture.update_inputs, architecture.update)

    def kernel(self, index: int) -> tuple[Wiring, ...]:
        """Return the wiring of one perception kernel, layer by layer."""
        return self.perception[index if self.architecture.distinct_wiring else 0]

    @cached_property
    def netlist(self) -> Netlist:
        """The layers as a flat list of gates, one for all circuits that are wired so."""
        return flatten(self)

    @property
    def first_ops(self) -> Bits:
        """The op of each untrained gate, (parameters,)."""
        architecture = self.architecture
        kernels = [self.kernel(index) for index in range(architecture.kernels)]
        seen = architecture.first_directions if architecture.all_directions else [()] * len(kernels)
        ops = first_ops(architecture.parameters, kernels, seen)
        ops[self.fixed] = self._fixed_ops[self.fixed]
        return ops

    @property
    def fixed(self) -> Flags:
        """Which gates never change, (parameters,)."""
        return self._fixed_ops >= 0

    @property
    def _fixed_ops(self) -> npt.NDArray[np.int8]:
        """The op of each gate that never changes, (parameters,); -1 for the others."""
        architecture = self.architecture
        found = np.full(architecture.parameters, -1, np.int8)
        if architecture.fixed is not None:
            end = architecture.kernels * architecture.kernel_gates
            found[:end] = PASS_THROUGH
            layers = architecture.fixed.layers(len(architecture.update))
            for gates, layer in zip(architecture.update, layers, strict=True):
                end += gates
                found[end - len(layer.op) : end] = layer.op
        return found


def wire(architecture: Architecture, rng: np.random.Generator) -> WiredLayers:
    """Draw the wiring of all layers. Raises ConfigError if a layer cannot be wired."""
    first = FIRST_TOPOLOGIES[architecture.perception_first]
    perception = tuple(
        _wire_layers("perception", NEIGHBORHOOD, architecture.perception, rng, first)
        for _ in range(architecture.kernel_wirings)
    )
    if architecture.all_directions:
        perception = tuple(map(wired_to_see, perception, architecture.first_directions))
    inputs = architecture.update_inputs
    sizes = architecture.update
    fixed = architecture.fixed
    if fixed is not None:
        inputs, sizes = fixed.learned(architecture)
    update = _wire_layers("update", inputs, sizes, rng)
    if fixed is not None:
        (looks,) = perception[0]
        update = fixed.beside(update, architecture.channels, looks.a.tolist())
    elif architecture.carry:
        update = carrying(update, architecture.channels, architecture.carry, rng)
    return WiredLayers(architecture, perception, update)


Wires = Sequence[npt.ArrayLike]
"""One array per layer, (gates, 2): the inputs a and b of each gate."""


def rewire(
    layers: WiredLayers, perception: Sequence[Wires] | None = None, update: Wires | None = None
) -> WiredLayers:
    """Return layers with the given wires. A part that is None keeps its own.

    `perception` has the wires of each kernel, or once those that all share. Raises ConfigError if
    they do not fit.
    """
    sizes = layers.architecture
    if perception is not None:
        kernels = [
            _stack("perception", wires, NEIGHBORHOOD, sizes.perception) for wires in perception
        ]
        layers = replace(layers, perception=tuple(kernels))
    if update is not None:
        stack = _stack("update", update, sizes.update_inputs, sizes.update)
        layers = replace(layers, update=stack)
    return layers


def _stack(part: str, layers: Wires, inputs: int, sizes: tuple[int, ...]) -> tuple[Wiring, ...]:
    found = []
    for index, (wires, read) in enumerate(zip(layers, (inputs, *sizes), strict=False)):
        try:
            array = np.asarray(wires)
        except ValueError:  # rows of several lengths
            array = np.empty(0)
        if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
            raise ConfigError(
                f"{part} layer {index}: wires of shape {array.shape} and type {array.dtype}: give "
                "whole numbers of shape (gates, 2), the inputs a and b of each gate"
            )
        a, b = array.astype(np.int64).clip(-1, 2**31 - 1).astype(np.int32).T
        found.append(Wiring(read, a.copy(), b.copy()))
    return tuple(found)


@dataclass(frozen=True)
class Netlist:
    """One cell's update as a flat list of gates in topological order.

    Rows 0 to 9·C - 1 are the inputs, neighbour by neighbour: row n·C + c is channel c of
    neighbour n (row-major, 4 is the centre). Gate g reads rows `a[g]` and `b[g]`, writes row
    9·C + g, and has the logits `param[g]`. `outputs[c]` is the row of channel c's next state; for a
    held channel that is the centre's input row.
    """

    channels: int
    a: Int32s
    b: Int32s
    param: Int32s
    outputs: Int32s
    parameters: int

    @property
    def inputs(self) -> int:
        return NEIGHBORHOOD * self.channels

    @property
    def gates(self) -> int:
        return len(self.a)

    @property
    def rows(self) -> int:
        return self.inputs + self.gates

    @cached_property
    def wires(self) -> Int32s:
        """Rows a and b, and the parameter, of each row, (3, rows); 0 for inputs."""
        of_gates = np.stack([self.a, self.b, self.param]).astype(np.int32)
        return np.pad(of_gates, ((0, 0), (self.inputs, 0)))

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Each gate's parameter and the two rows that it reads, as `evaluate` needs."""
        return self.param.tolist(), self.a.tolist(), self.b.tolist()


def flatten(layers: WiredLayers) -> Netlist:
    """Lay wired layers out as a netlist, in an order that suits caches and vector units.

    Parameters are numbered kernel by kernel and layer by layer, then the update circuit's layer by
    layer. A perception gate's C copies, one per channel, are adjacent, and so are their inputs.
    Adjacent gates of an update layer share an input where possible.
    """
    architecture = layers.architecture
    channels = architecture.channels
    channel = np.arange(channels, dtype=np.int32)
    parts: list[tuple[Ints, Ints, Ints]] = []
    next_row = NEIGHBORHOOD * channels

    def add(a: Ints, b: Ints, param: Ints) -> Int32s:
        nonlocal next_row
        parts.append((a, b, param))
        next_row += len(a)
        return np.arange(next_row - len(a), next_row, dtype=np.int32)

    perceived = np.empty((channels, architecture.perception[-1], architecture.kernels), np.int32)
    parameter = 0
    for kernel in range(architecture.kernels):
        inputs = np.arange(NEIGHBORHOOD * channels, dtype=np.int32)
        seen: Int32s = inputs.reshape(-1, channels)
        for layer in layers.kernel(kernel):
            copies = np.empty((layer.gates, channels), np.int32)
            for gate in range(layer.gates):
                a = seen[layer.a[gate]]
                b = seen[layer.b[gate]]
                copies[gate] = add(a, b, np.full(channels, parameter + gate))
            parameter += layer.gates
            seen = copies
        perceived[:, :, kernel] = seen.T

    center = CENTER * channels + channel
    rows: Int32s = np.concatenate([center, perceived.ravel()])
    for layer in layers.update:
        order = _walk(layer)
        out = np.empty(layer.gates, np.int32)
        out[order] = add(rows[layer.a[order]], rows[layer.b[order]], parameter + order)
        parameter += layer.gates
        rows = out
    held = list(architecture.held)
    rows[held] = center[held]
    for copy, neighbor, original in architecture.moving:
        rows[copy] = neighbor * channels + original

    a, b, param = (np.concatenate(part).astype(np.int32) for part in zip(*parts, strict=True))
    return Netlist(channels, a, b, param, rows, parameter)


def _walk(layer: Wiring) -> Int64s:
    """Order a layer's gates so that each shares an input with the one before, where possible.

    Half of the rows that a gate reads are then still in the nearest cache. Unique wiring is one
    path through the inputs, so a walk from one of its ends never jumps.
    """
    readers: list[list[int]] = [[] for _ in range(layer.inputs)]
    for gate in range(layer.gates):
        readers[layer.a[gate]].append(gate)
        readers[layer.b[gate]].append(gate)
    # Ends of paths first: no other gate reads their input.
    seeds = sorted(range(layer.gates), key=lambda g: len(readers[layer.a[g]]))
    visited = np.zeros(layer.gates, dtype=bool)
    order = []
    for seed in seeds:
        at: int | None = seed
        while at is not None and not visited[at]:
            visited[at] = True
            order.append(at)
            nearby = readers[layer.b[at]] + readers[layer.a[at]]
            at = next((other for other in nearby if not visited[other]), None)
    return np.array(order, dtype=np.int64)


def _wire_layers(
    part: str,
    inputs: int,
    sizes: tuple[int, ...],
    rng: np.random.Generator,
    first: WiringRule = unique,
) -> tuple[Wiring, ...]:
    layers = list[Wiring]()
    for index, gates in enumerate(sizes):
        try:
            layers.append((unique if layers else first)(inputs, gates, rng))
        except ConfigError as error:
            raise ConfigError(f"[{part}] gates, layer {index}: {error}") from None
        inputs = gates
    return tuple(layers)


def _check_layers(
    part: str, layers: tuple[Wiring, ...], inputs: int, sizes: tuple[int, ...]
) -> None:
    if len(layers) != len(sizes):
        raise ConfigError(f"{part}: {len(sizes)} layers expected, {len(layers)} wired")
    for index, (layer, gates) in enumerate(zip(layers, sizes, strict=True)):
        shapes_fit = layer.inputs == inputs and len(layer.a) == len(layer.b) == gates
        if not shapes_fit:
            raise ConfigError(
                f"{part} layer {index}: {gates} gates on {inputs} inputs expected, "
                f"{len(layer.a)} and {len(layer.b)} wires on {layer.inputs} inputs given"
            )
        for wires in (layer.a, layer.b):
            if wires.min() < 0 or wires.max() >= inputs:
                raise ConfigError(f"{part} layer {index}: a wire leads outside the {inputs} inputs")
        inputs = gates
