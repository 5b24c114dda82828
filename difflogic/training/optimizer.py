"""What a run learns: logits, the soft gates they mix, and AdamW. Compared with `reference.py`.

AdamW moves what is learned about a gate: its logits, or the numbers they follow from (forms.py).
Logits are transposed here, (16, parameters), so that kernels can use vector instructions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from difflogic.circuit.forms import FORMS
from difflogic.circuit.gates import COEFFICIENTS, DECIDED, OPS
from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.sections import TrainingConfig
from difflogic.engine.kernels import logits as k
from difflogic.engine.soft.rollout import Engine
from difflogic.system.array_types import Array, Bits
from difflogic.system.errors import TrainingError
from difflogic.training.plan import ParallelPlan


class Learned:
    """Logits (16, parameters), the soft gates that they mix, and AdamW, on the processor.

    AdamW has decoupled weight decay, and clips each element of the gradient. Source: Loshchilov and
    Hutter 2019, algorithm 2. The formulas of mixtures in plain NumPy are softmax, mix and harden in
    `gates.py`. `difflogic.gpu.learned` has the same methods for a GPU.
    """

    def __init__(self, logits: Array, training: TrainingConfig) -> None:
        """`logits` are changed in place, first to the form that is learned."""
        parameters = logits.shape[1]
        dtype = logits.dtype
        self.logits = logits
        """The current logits. To replace them, call `load`."""
        self.ops: Bits = np.empty(parameters, np.uint8)
        """The most probable op of each gate (parameters,) in the last mixture."""
        self.decided = 0.0
        """Share of gates, 0 to 1, with an op of a probability above DECIDED in that mixture."""
        self.probabilities: Array = np.empty((OPS, parameters), dtype)
        """Those of the last mixture."""
        self.steps = 0
        self._training = training
        self._form = FORMS[training.form](training.initial_logit)
        self.conformed_gates = self._conform()
        """Number of gates that had another form at first."""
        learned = logits if self._form is None else self._form.numbers(logits)
        self._first = np.zeros_like(learned)
        self._second = np.zeros_like(learned)
        self._coefficients: Array = np.empty((parameters, COEFFICIENTS.shape[1]), dtype)
        self._basis = COEFFICIENTS.astype(dtype)
        self._space = np.empty((k.ROOM, k.PARAMETERS_AT_ONCE), dtype)

    def _conform(self) -> int:
        """Give all gates the form that is learned; return how many had another one."""
        return 0 if self._form is None else self._form.conform(self.logits)

    def engine(self, netlist: Netlist, grid: Grid, plan: ParallelPlan) -> Engine:
        """Return an engine for rollouts and gradients of a circuit with these logits."""
        precision = self.logits.dtype
        return Engine(netlist, grid, plan.rollouts.steps, plan.wave, precision, plan.sharing)

    def mix(self) -> Array:
        """Return the coefficients (parameters, 4), in an array that the next call overwrites.

        Also sets `probabilities` (16, parameters), `ops` (parameters,) and `decided`.
        """
        k.weigh_and_harden(self.logits, self.probabilities, self.ops, self._space)
        k.normalize_and_mix(self.probabilities, self._basis, self._coefficients, self._space)
        # At most one op per gate is that probable.
        self.decided = np.count_nonzero(self.probabilities > DECIDED) / len(self.ops)
        return self._coefficients

    def step(self, gradients: Array) -> None:
        """Take a step, given dL/d(coefficients) (parameters, 4) of the last mixture."""
        dtype = self.logits.dtype
        form = self._form
        self.steps += 1
        rates = np.array(self._training.rates(self.steps), dtype)
        numbers = form and (form.basis.astype(dtype), np.array(form.readers))
        moments = self._first, self._second
        pulls = self.probabilities, self._basis, gradients
        k.adamw_step(self.logits, moments, pulls, numbers, rates, self._space)

    def load(self, logits: Array) -> None:
        """Replace the logits."""
        self.logits[:] = logits

    def forget(self, logits: Array) -> None:
        """Start again from other logits."""
        self.load(logits)
        self._conform()
        self.steps = 0
        self._first[:] = self._second[:] = 0.0

    def close(self) -> None:
        """Do nothing; a GPU frees its memory here."""

    def state(self) -> dict[str, Array]:
        """Return copies of AdamW's moments and its number of steps."""
        return {
            "adamw_steps": np.array(self.steps, np.int64),
            "adamw_first": self._first.copy(),
            "adamw_second": self._second.copy(),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to a state of AdamW, and to its "logits"."""
        self.load(state["logits"])
        self.steps = int(state["adamw_steps"])
        self._first[:] = state["adamw_first"]
        self._second[:] = state["adamw_second"]


def require_finite(loss: float, gradients: Array, epoch: int, config: TrainingConfig) -> float:
    """Return the loss of an epoch, counted from 1.

    Raises TrainingError if it or a gradient is NaN or infinite.
    """
    if np.isfinite(loss) and np.isfinite(gradients).all():
        return loss
    what = f"the soft loss is {loss}" if not np.isfinite(loss) else "a gradient is not finite"
    raise TrainingError(
        f"epoch {epoch}: {what}: training cannot continue. Lower [training] learning_rate (now "
        f"{config.learning_rate}), or train in float64 with --set training.precision=float64"
    )
