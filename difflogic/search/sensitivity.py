"""Predicts what each change of a gate does to the wrong cells, for the order of a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difflogic.circuit.firing import Firing
from difflogic.circuit.gates import COEFFICIENTS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.gradients import HardGradients
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.scene import Patches
from difflogic.evaluation.trial import Ops, draw_samples
from difflogic.search.footprint import most_samples
from difflogic.system.array_types import Array, Bits, Float64s
from difflogic.system.streams import sample_streams


class GradientSensitivity:
    """Predicts the effect of changes from the gradient of wrong cells at the training step.

    A gate of a hard circuit is linear in each of its coefficients, and the number of wrong cells,
    Σ (1 - 2·target)·state, is linear in the last state. So the gradient is exact for one use of a
    changed gate, and approximate for all its uses at all cells and steps together.
    """

    def __init__(self, netlist: Netlist, plan: Plan, steps: int) -> None:
        """`steps` is the training step."""
        scene = plan.scene
        self._netlist = netlist
        self._scene = scene
        self._steps = steps
        self._holds = plan.holds
        self._batch = min(plan.starts, most_samples(scene.grid))
        self._hard = HardGradients(netlist, scene.grid, steps, self._batch)

    def __call__(self, ops: Ops, samples: Sequence[int]) -> Float64s:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op."""
        scene = self._scene
        chosen = sorted(samples[: self._batch])
        starts, targets = draw_samples(scene, chosen)
        # Targets may have an unsigned type; NaN does not count.
        slopes = np.nan_to_num(1.0 - 2.0 * targets)
        self._hard.begin(ops, scene.channels)
        self._hard.add(starts, slopes, scene.channels, self._masks(chosen))
        if self._holds:
            # A target that must stay may be wrong later, beyond the gradient from the start.
            self._hard.add(self._onward(ops, starts, chosen), slopes, scene.channels, None)
        # Over many steps a derivative may overflow: such a change is as good as unknown.
        with np.errstate(invalid="ignore"):
            # Not by BLAS, which adds and fuses differently on each processor.
            terms = self._hard.gradients.T[:, :, None] * COEFFICIENTS.T[:, None]
            change: Float64s = terms[0] + terms[1] + terms[2] + terms[3]
        return change - change[np.arange(len(ops)), ops][:, None]

    def _onward(self, ops: Ops, starts: Array, chosen: Sequence[int]) -> Array:
        """Return the states at the training step, damaged as in the scene."""
        damage = self._scene.damage
        steps = damage.until if isinstance(damage, Patches) else self._steps
        simulator = HardSimulator(self._netlist, self._scene.grid, len(chosen))
        simulator.load(ops)
        states = simulator.rollout(starts, steps)
        if isinstance(damage, Patches):
            states = states * (1 - damage.of(chosen))[:, None]
        return states

    def _masks(self, samples: Sequence[int]) -> Bits | None:
        scene = self._scene
        seed, _, purpose, epoch = scene.streams
        shape = scene.grid.height, scene.grid.width
        streams = sample_streams(seed, purpose, epoch, samples)
        return Firing(scene.fire_rate, shape, streams).draw(self._steps)
