"""The problems of the checks: small enough for the oracle, and awkward on purpose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.firing import Firing
from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Architecture, Netlist, flatten, wire
from difflogic.config import Config, load_config
from difflogic.engine import oracle
from difflogic.system.array_types import Array, Bits
from difflogic.system.streams import Purpose, sample_streams, stream


@dataclass(frozen=True)
class Case:
    """A circuit with random logits and a batch of random grids, all determined by `seed`."""

    name: str
    architecture: Architecture
    grid: Grid
    steps: int
    batch: int
    fire_rate: float = 1.0
    seed: int = 0
    netlist: Netlist = field(init=False)
    logits: Array = field(init=False)
    starts: Bits = field(init=False)
    masks: Bits | None = field(init=False)
    loss_gradients: Array = field(init=False)

    def __post_init__(self) -> None:
        grid = self.grid
        seed = self.seed
        circuit = wire(self.architecture, stream(seed, Purpose.WIRING))
        netlist = flatten(circuit)
        rng = stream(seed, Purpose.START)
        shape = (self.batch, netlist.channels, grid.height, grid.width)
        logits = rng.normal(size=(netlist.parameters, gates.OPS))
        # As in training, gates mostly pass through; otherwise no gradient would reach step one.
        logits[:, gates.PASS_THROUGH] += 3.0
        streams = sample_streams(seed, Purpose.MASK, 0, range(self.batch))
        fires = Firing(self.fire_rate, (grid.height, grid.width), streams)
        values = {
            "netlist": netlist,
            "logits": logits,
            "starts": rng.integers(0, 2, size=shape, dtype=np.uint8),
            "masks": fires.draw(self.steps),
            "loss_gradients": rng.normal(size=shape),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def any_ops(self) -> Bits:
        """Random ops, (parameters,): all 16, not only those favoured by random logits."""
        rng = stream(self.seed, Purpose.HELD_OUT_START)
        return rng.integers(0, gates.OPS, self.netlist.parameters).astype(np.uint8)

    @property
    def mixing_ops(self) -> Bits:
        """Random ops from `MIXING`, (parameters,): few wrong bits vanish before the next state."""
        rng = stream(self.seed, Purpose.HELD_OUT_START)
        return rng.choice(MIXING, self.netlist.parameters).astype(np.uint8)

    @property
    def coefficients(self) -> Array:
        """The gates' coefficients, (parameters, 4), in float64."""
        return gates.mix(gates.softmax(self.logits))

    def mask(self, sample: int) -> Bits | None:
        """Return the mask of a sample, (steps, H, W); None if all cells are updated."""
        return None if self.masks is None else self.masks[sample]

    def rollout(self, coefficients: Array, sample: int) -> list[Array]:
        """Return the oracle's states of a sample, each (C, H, W), including the start."""
        start = self.starts[sample]
        boundary = self.grid.boundary
        return oracle.rollout(
            self.netlist, coefficients, start, self.steps, boundary, self.mask(sample)
        )

    def gradients(
        self, coefficients: Array, sample: int, states: list[Array], upstream: Array
    ) -> Array:
        """Return the oracle's dL/d(coefficients) of a sample, given dL/d(last state)."""
        boundary = self.grid.boundary
        return oracle.coefficient_gradients(
            self.netlist, coefficients, states, upstream, boundary, self.mask(sample)
        )


LINEAR = [gates.Op.XOR, gates.Op.XNOR]
NONLINEAR = [op for op in gates.Op if all(gates.READS[op]) and op not in LINEAR]
MIXING = [*NONLINEAR, *LINEAR * (len(NONLINEAR) // 2)]
"""Ops that read both inputs; half of them pass every wrong bit on."""

SMALL = Architecture(channels=3, kernels=3, perception=(8, 4, 2), update=(14, 16, 16, 10, 5, 3))
# The fast paths for common shapes do not cover these: four layers of perception, a single channel,
# and a first layer that fits no fused kernel.
DEEP = Architecture(2, 2, (8, 4, 2, 1), (12, 12, 6, 3, 2))
SINGLE = Architecture(1, 4, (8, 4, 2, 1), (8, 8, 4, 2, 1))
IRREGULAR = Architecture(2, 2, (9, 7, 4), (10, 9, 5, 3, 2), "unique")
DISTINCT = replace(SMALL, distinct_wiring=True)
HELD = replace(SMALL, held=(0, 2))
# Each channel's next state reads all nine cells, through seven layers.
TREE = Architecture(2, 1, (9, 5, 3, 2, 1), (3, 2), "unique")


def awkward_cases() -> list[Case]:
    """Return odd grids that fill no tile, one cell, many samples per tile, and both boundaries."""
    cases = [
        ("5×7", SMALL, 5, 7, 3, 3, 1.0),
        ("1×1", SMALL, 1, 1, 3, 2, 0.6),
        ("3×3, 17 samples", SINGLE, 3, 3, 2, 17, 1.0),
        ("2×9", DEEP, 2, 9, 4, 2, 0.6),
        ("11×13", IRREGULAR, 11, 13, 3, 1, 0.6),
        ("16×16", SMALL, 16, 16, 4, 2, 1.0),
        ("6×11, distinct wiring", DISTINCT, 6, 11, 3, 2, 0.6),
        ("4×9, held channels", HELD, 4, 9, 3, 2, 0.6),
    ]
    return [
        Case(f"{name} {boundary}", arch, Grid(h, w, boundary), steps, batch, rate, seed=index)
        for boundary in ("zero", "periodic")
        for index, (name, arch, h, w, steps, batch, rate) in enumerate(cases)
    ]


def hard_cases() -> list[Case]:
    """Return short rows and rows about as long as a word, in more than one tile of words.

    With their `mixing_ops`, each next state depends on all nine neighbours: see the test.
    """
    cases = [(1, 2, 9, 30, 1.0), (2, 3, 63, 3, 0.6), (3, 3, 64, 3, 1.0), (5, 3, 65, 3, 0.6)]
    return [
        Case(f"tree {h}×{w} {boundary}", TREE, Grid(h, w, boundary), 3, batch, rate, seed)
        for boundary in ("zero", "periodic")
        for seed, h, w, batch, rate in cases
    ]


UNEVEN = (
    "task.height=6",
    "task.width=7",
    "automaton.channels=2",
    "automaton.steps=3",
    "perception.kernels=2",
    "update.gates=[8,4,2]",
)
"""A checkerboard whose sides differ, and so small that even workers who wait are fast."""


def uneven(*overrides: str) -> Config:
    """Return the configuration of an uneven checkerboard."""
    return load_config("checkerboard-small", [*UNEVEN, *overrides], recipe="reference")


def uneven_run() -> Config:
    """Return an uneven checkerboard whose epochs draw masks and later steps."""
    config = uneven("automaton.fire_rate=0.6", "training.later_steps=3")
    return config.model_copy(update={"name": "6x7-asynchronous"})


def case_of(config: Config, steps: int, batch: int) -> Case:
    """Return a case with the circuit and grid of a configuration."""
    task = config.task
    automaton = config.automaton
    return Case(
        name=f"{config.name}, {steps} steps",
        architecture=config.architecture,
        grid=Grid(task.height, task.width, automaton.boundary),
        steps=steps,
        batch=batch,
        fire_rate=automaton.fire_rate,
        seed=config.training.seed,
    )
