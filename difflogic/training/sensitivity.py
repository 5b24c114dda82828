"""What the gradient says about changing one gate of a hard circuit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard import HardSimulator
from difflogic.engine.hard_gradients import HardGradients
from difflogic.engine.layout import samples_per_group
from difflogic.engine.plan import SEARCH_CELLS
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Patches
from difflogic.evaluation.trial import Ops, draw_samples
from difflogic.firing import firing
from difflogic.gates import COEFFICIENTS, one_hot
from difflogic.netlist import Netlist
from difflogic.ranks import ALONE, Ranks
from difflogic.training.turns import TurnSum

Rollout = tuple[npt.NDArray, npt.NDArray, npt.NDArray[np.uint8] | None]
"""Starts (batch, C, H, W), targets (batch, L, H, W), and masks (batch, steps, H, W) or None."""

TRY_EXACTLY = 8
"""Of gradients in a row that are too large to be exact, every so manieth is tried to be."""


class GradientSensitivity:
    """Differentiates the number of wrong cells at the training step. Use it in a `with`.

    At a hard circuit every gate is linear in each of its coefficients, and so is the number of
    wrong cells, Σ (1 - 2·target)·state, in the last state: the gradient tells exactly what one
    use of a changed gate does, and about what all its uses at all cells and steps do together.
    """

    def __init__(
        self,
        netlist: Netlist,
        plan: Plan,
        steps: int,
        dtype: npt.DTypeLike,
        sharing: Sharing,
        in_flight: int | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        """`steps` is the training step; `dtype` that of the kernels.

        `in_flight` bounds the samples that are rolled out at a time, whole groups of them. The
        `ranks` share what the engine does; what is exact each does by itself, to the same bits.
        """
        scene = plan.scene
        self._scene, self._steps, self._ranks = scene, steps, ranks
        self._held = plan.held is not None
        self._batch = min(plan.starts, max(1, SEARCH_CELLS // scene.grid.cells))
        # An engine rolls out as many as it has room for: a rank's is for its own.
        group = samples_per_group(scene.grid)
        most = group * -(-self._batch // (group * ranks.size))
        self._wave = min(self._batch, in_flight or self._batch, most)
        self._engine = Engine(netlist, scene.grid, steps, self._wave, dtype, sharing)
        self._hard = HardGradients(netlist, scene.grid, steps, self._wave)
        self._rounded = 0
        """Gradients in a row that were too large to be exact."""

    def __enter__(self) -> GradientSensitivity:
        self._engine.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._engine.__exit__(*raised)

    def __call__(self, ops: Ops, samples: Sequence[int]) -> npt.NDArray[np.floating]:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op."""
        chosen, dtype = sorted(samples[: self._batch]), self._engine.dtype
        gradients = None
        if self._rounded % TRY_EXACTLY == 0:
            gradients = self._exactly(ops, chosen)
        if gradients is None:
            self._rounded += 1
            gradients = self._by_engine(ops, chosen)
        else:
            self._rounded = 0
        change = gradients.astype(dtype) @ COEFFICIENTS.T.astype(dtype)
        return change - change[np.arange(len(ops)), ops][:, None]

    def _exactly(self, ops: Ops, chosen: Sequence[int]) -> npt.NDArray | None:
        """Return the gradients of the wrong cells; None if they are too large to be exact.

        Else they are the engine's, to the bit, in a tenth of the time. None also if a task's
        targets are no bits, so that slopes are no whole numbers.
        """
        self._hard.begin(ops, self._scene.channels)
        for starts, targets, masks in self._rollouts(ops, chosen):
            slope = 1 - 2 * targets
            if (slope != np.rint(slope)).any():
                return None
            self._hard.add(starts, slope, self._scene.channels, masks)
        return self._hard.gradients()

    def _by_engine(self, ops: Ops, chosen: Sequence[int]) -> npt.NDArray:
        """Return the gradients of the wrong cells, as the engine rounds them."""
        engine = self._engine
        coefficients = one_hot(ops, engine.dtype)
        gradients = np.zeros_like(coefficients)
        turn = TurnSum(self._ranks, gradients)
        own = chosen[self._ranks.part(len(chosen), engine.plan.samples_per_group)]
        for starts, targets, masks in self._rollouts(ops, own):
            last = engine.forward(coefficients, starts, masks)
            slope = np.zeros_like(last)
            slope[:, list(self._scene.channels)] = 1 - 2 * targets
            engine.differentiate(slope)
            turn.add(engine)
        turn.meet()
        return gradients

    def _rollouts(self, ops: Ops, chosen: Sequence[int]) -> Iterator[Rollout]:
        """Yield starts, targets and masks of all that is differentiated."""
        for first in range(0, len(chosen), self._wave):
            wave = chosen[first : first + self._wave]
            starts, targets = draw_samples(self._scene, wave)
            yield starts, targets, self._masks(wave)
            if self._held:
                # What is to stay is wrong later, too, where no gradient from the start reaches.
                yield self._onward(ops, starts, wave), targets, None

    def _onward(self, ops: Ops, starts: npt.NDArray, chosen: Sequence[int]) -> npt.NDArray:
        """Return the states that the circuit comes to, damaged as the scene damages them."""
        damage = self._scene.damage
        steps = damage.after if isinstance(damage, Patches) else self._steps
        simulator = HardSimulator(self._engine.netlist, self._scene.grid, len(chosen))
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
