"""What a run learns, on the processor: logits, the soft gates that they mix, and AdamW.

`difflogic.gpu.learned` is the same on a GPU, where the arrays stay that it is handed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config, TrainingConfig
from difflogic.engine.layout import Grid
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.rollout import Engine
from difflogic.system.errors import ConfigError
from difflogic.system.ranks import Ranks
from difflogic.tasks import make_task
from difflogic.training.optimizer import EPSILON, AdamW, SoftGates

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets

Array = npt.NDArray[Any]


def make_learned(config: Config, logits: Array, ranks: Ranks, fleets: Fleets | None) -> Learned:
    """Return what learns on [parallel] device; runs on a GPU may share `fleets`.

    Raises ConfigError if there is no GPU, or if it cannot hold the run.
    """
    if config.parallel.device == "cpu":
        return Learned(logits, config.training)
    if config.training.precision != "float32":
        raise ConfigError("[training] precision: a GPU computes in float32: use --device cpu")
    if ranks.size > 1:
        raise ConfigError("[parallel] device: ranks share the work of processors: use --device cpu")
    if not make_task(config).has_plain_loss:
        key = "weights" if config.task.weights else "kind"
        raise ConfigError(
            f"[task] {key}: a GPU knows no loss but the plain sum of squares: use --device cpu"
        )
    from difflogic.gpu.learned import DeviceLearned

    # It has the same methods, and what it hands out is only ever handed back to it.
    learned: Any = DeviceLearned(logits, config.training, EPSILON, fleets)
    return cast(Learned, learned)


class Learned:
    """Logits (16, parameters), and what moves them."""

    def __init__(self, logits: Array, training: TrainingConfig) -> None:
        """`logits` are changed in place; at once, where they lack the form."""
        self._soft = SoftGates(logits.shape[1], logits.dtype)
        self._optimizer = AdamW(logits, training)

    @property
    def logits(self) -> Array:
        """The logits as they are now. To replace them, call `load`."""
        return self._optimizer.logits

    @property
    def ops(self) -> npt.NDArray[np.uint8]:
        """The most probable op of each gate (parameters,) in the last mixture."""
        return self._soft.ops

    @property
    def decided(self) -> float:
        """The share of gates, 0 to 1, whose op was decided then."""
        return self._soft.decided

    @property
    def made_sure(self) -> int:
        """Number of gates that did not have the form at first."""
        return self._optimizer.made_sure

    def engine(self, netlist: Netlist, grid: Grid, plan: ParallelPlan) -> Engine:
        """Return what computes rollouts of a circuit with these logits, and its gradients."""
        precision = self.logits.dtype
        return Engine(netlist, grid, plan.rollouts.steps, plan.wave, precision, plan.sharing)

    def mix(self) -> Array:
        """Return the coefficients (parameters, 4)."""
        return self._soft.mix(self.logits)

    def step(self, gradients: Array) -> None:
        """Take a step, given dL/d(coefficients) (parameters, 4) of the last mixture."""
        self._optimizer.step(self._soft.probabilities, gradients)

    def load(self, logits: Array) -> None:
        """Replace the logits."""
        self.logits[:] = logits

    def forget(self, logits: Array) -> None:
        """Begin again from other logits."""
        self.load(logits)
        self._optimizer.forget()

    def close(self) -> None:
        """Do nothing: the processor holds nothing back."""

    def state(self) -> dict[str, Array]:
        """Return copies of what AdamW remembers."""
        return self._optimizer.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to a state of AdamW, and to its "logits"."""
        self.load(state["logits"])
        self._optimizer.restore(state)
