"""What the gradient predicts about changing one gate of a hard circuit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import firing
from difflogic.circuit.gates import COEFFICIENTS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard import HardSimulator
from difflogic.engine.hard_gradients import HardGradients
from difflogic.engine.search_buffers import most_samples
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Patches
from difflogic.evaluation.trial import Ops, draw_samples

Rollout = tuple[npt.NDArray, npt.NDArray, npt.NDArray[np.uint8] | None]
"""Starts (batch, C, H, W), targets (batch, L, H, W), and masks (batch, steps, H, W) or None."""


class GradientSensitivity:
    """Differentiates the number of wrong cells at the training step.

    A gate of a hard circuit is linear in each of its coefficients, and the number of wrong cells,
    Σ (1 - 2·target)·state, is linear in the last state. So the gradient is exact for one use of a
    changed gate, and approximate for all its uses at all cells and steps together.
    """

    def __init__(self, netlist: Netlist, plan: Plan, steps: int) -> None:
        """`steps` is the training step."""
        scene = plan.scene
        self._netlist, self._scene, self._steps = netlist, scene, steps
        self._held = plan.held is not None
        self._batch = min(plan.starts, most_samples(scene.grid))
        self._hard = HardGradients(netlist, scene.grid, steps, self._batch)

    def __call__(self, ops: Ops, samples: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op."""
        self._hard.begin(ops, self._scene.channels)
        for starts, targets, masks in self._rollouts(ops, sorted(samples[: self._batch])):
            # Targets may be of a type that has no negative numbers; NaN is one that does not count.
            slopes = np.nan_to_num(1.0 - 2.0 * targets)
            self._hard.add(starts, slopes, self._scene.channels, masks)
        change = self._hard.gradients @ COEFFICIENTS.T
        return change - change[np.arange(len(ops)), ops][:, None]

    def _rollouts(self, ops: Ops, chosen: Sequence[int]) -> Iterator[Rollout]:
        """Yield the starts, targets and masks of each rollout to differentiate."""
        starts, targets = draw_samples(self._scene, chosen)
        yield starts, targets, self._masks(chosen)
        if self._held:
            # A target that has to stay may be wrong later, beyond the gradient from the start.
            yield self._onward(ops, starts, chosen), targets, None

    def _onward(self, ops: Ops, starts: npt.NDArray, chosen: Sequence[int]) -> npt.NDArray:
        """Return the states at the training step, damaged as in the scene."""
        damage = self._scene.damage
        steps = damage.after if isinstance(damage, Patches) else self._steps
        simulator = HardSimulator(self._netlist, self._scene.grid, len(chosen))
        simulator.load(ops)
        states = simulator.rollout(starts, steps)
        if isinstance(damage, Patches):
            states = states * (1 - damage.of(chosen))[:, None]
        return states

    def _masks(self, samples: Sequence[int]) -> npt.NDArray[np.uint8] | None:
        scene = self._scene
        seed, _, purpose, epoch = scene.streams
        height, width = scene.grid.height, scene.grid.width
        fires = firing(scene.fire_rate, height, width, seed, purpose, epoch, samples)
        return fires.draw(self._steps)
