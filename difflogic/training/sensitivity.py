"""What the gradient says about changing one gate of a hard circuit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.engine.plan import SEARCH_CELLS
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.trial import Ops, draw_samples
from difflogic.firing import firing
from difflogic.gates import COEFFICIENTS, one_hot
from difflogic.netlist import Netlist


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
    ) -> None:
        """`steps` is the training step; `dtype` that of the kernels.

        `in_flight` bounds the samples that are rolled out at a time, whole groups of them.
        """
        scene = plan.scene
        self._scene, self._steps = scene, steps
        self._batch = min(plan.starts, max(1, SEARCH_CELLS // scene.grid.cells))
        self._wave = min(self._batch, in_flight or self._batch)
        self._engine = Engine(netlist, scene.grid, steps, self._wave, dtype, sharing)

    def __enter__(self) -> GradientSensitivity:
        self._engine.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._engine.__exit__(*raised)

    def __call__(self, ops: Ops, samples: Sequence[int]) -> npt.NDArray[np.floating]:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op."""
        chosen, engine = sorted(samples[: self._batch]), self._engine
        coefficients = one_hot(ops, engine.dtype)
        gradients = np.zeros_like(coefficients)
        for first in range(0, len(chosen), self._wave):
            wave = chosen[first : first + self._wave]
            starts, targets = draw_samples(self._scene, wave)
            last = engine.forward(coefficients, starts, self._masks(wave))
            slope = np.zeros_like(last)
            slope[:, list(self._scene.channels)] = 1 - 2 * targets
            engine.backward(slope, gradients)
        change = gradients @ COEFFICIENTS.T.astype(engine.dtype)
        return change - change[np.arange(len(ops)), ops][:, None]

    def _masks(self, samples: Sequence[int]) -> npt.NDArray[np.uint8] | None:
        scene = self._scene
        seed, _, purpose, epoch = scene.streams
        height, width = scene.grid.height, scene.grid.width
        fires = firing(scene.fire_rate, height, width, seed, purpose, epoch, samples)
        return fires.draw(self._steps)
