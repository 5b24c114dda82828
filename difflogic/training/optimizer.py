"""Soft gates from logits, and AdamW, each in one pass over the parameters.

AdamW moves what is learned about a gate: its logits, or the numbers they follow from (forms.py).
Logits are transposed here, (16, parameters), so that kernels can use vector instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.forms import FORMS
from difflogic.circuit.gates import COEFFICIENTS, DECIDED, OPS
from difflogic.config import TrainingConfig
from difflogic.engine.kernels import logits as k
from difflogic.system.errors import TrainingError

Array = npt.NDArray[Any]

EPSILON = 1e-8
"""AdamW's guard against division by zero. Source: Kingma and Ba 2015, algorithm 1; the DiffLogic CA
notebook."""


class SoftGates:
    """Mixtures of ops from logits. Holds its buffers; `mix` overwrites what it returned before.

    The formulas in plain NumPy are softmax, mix and harden in `gates.py`.
    """

    def __init__(self, parameters: int, dtype: npt.DTypeLike) -> None:
        self.probabilities: Array = np.empty((OPS, parameters), dtype)
        self.coefficients: Array = np.empty((parameters, COEFFICIENTS.shape[1]), dtype)
        self.ops: npt.NDArray[np.uint8] = np.empty(parameters, np.uint8)
        self.decided = 0.0
        """Share of parameters, 0 to 1, with an op of a probability above DECIDED."""
        self._basis = COEFFICIENTS.astype(dtype)
        self._space: Array = np.empty((5, k.COLUMNS), dtype)

    def mix(self, logits: Array) -> Array:
        """Return the coefficients (parameters, 4) of `logits` (16, parameters).

        Sets `probabilities`, of the logits' shape, the hard `ops` (parameters,) and the share
        `decided`.
        """
        k.shift_and_harden(logits, self.probabilities, self.ops, self._space)
        # NumPy's exponential is vectorised; the compiler's is not.
        np.exp(self.probabilities, out=self.probabilities)
        k.normalize_and_mix(self.probabilities, self._basis, self.coefficients, self._space)
        # At most one op per gate is that probable.
        self.decided = np.count_nonzero(self.probabilities > DECIDED) / len(self.ops)
        return self.coefficients


class AdamW:
    """AdamW with decoupled weight decay, after clipping each element of the gradient.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    """

    def __init__(self, logits: Array, config: TrainingConfig) -> None:
        """`logits` (16, parameters) are changed in place; at once, where they lack the form."""
        self.logits = logits
        self.steps = 0
        self._form = FORMS[config.form](config.initial_logit)
        self.made_sure = self._conform()
        """Number of gates that did not have the form at first."""
        learned = logits if self._form is None else self._form.numbers(logits)
        self.first = np.zeros_like(learned)
        self.second = np.zeros_like(learned)
        self._config = config
        self._basis = COEFFICIENTS.astype(logits.dtype)
        self._space = np.empty((k.ROOM, k.COLUMNS), logits.dtype)

    def _conform(self) -> int:
        """Give all gates the form that is learned; return how many did not have it."""
        return 0 if self._form is None else self._form.conform(self.logits)

    def state(self) -> dict[str, Array]:
        """Return copies of the moments and the number of steps."""
        return {
            "adamw_steps": np.array(self.steps, np.int64),
            "adamw_first": self.first.copy(),
            "adamw_second": self.second.copy(),
        }

    def forget(self) -> None:
        """Start again, after the caller has replaced the logits."""
        self._conform()
        self.steps = 0
        self.first[:] = 0.0
        self.second[:] = 0.0

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go back to where `state` was taken; the logits are the caller's."""
        self.steps = int(state["adamw_steps"])
        self.first[:] = state["adamw_first"]
        self.second[:] = state["adamw_second"]

    def step(self, probabilities: Array, coefficient_gradients: Array) -> None:
        """Take a step. `probabilities` (16, parameters) are those of the mixtures.

        `coefficient_gradients` is dL/d(coefficients), (parameters, 4).
        """
        config, rate = self._config, self._config.learning_rate
        self.steps += 1
        rates = np.array(
            [
                config.gradient_clip,
                config.beta1,
                1 - config.beta1,
                config.beta2,
                1 - config.beta2,
                1 / (1 - config.beta1**self.steps),
                1 / (1 - config.beta2**self.steps),
                EPSILON,
                rate,
                1 - rate * config.weight_decay,
            ],
            dtype=self.logits.dtype,
        )
        moments = self.first, self.second
        if self._form is None:
            k.adamw_step(
                self.logits,
                moments,
                probabilities,
                self._basis,
                coefficient_gradients,
                rates,
                self._space,
            )
            return
        dtype, form = self.logits.dtype, self._form
        k.adamw_step_in_form(
            self.logits,
            moments,
            probabilities,
            self._basis,
            coefficient_gradients,
            (form.basis.astype(dtype), np.array(form.readers)),
            rates,
            self._space,
        )


def require_finite(loss: float, gradients: Array, epoch: int, config: TrainingConfig) -> float:
    """Return the loss of an epoch, counted from 1.

    Raises TrainingError if it or a gradient is NaN or infinite.
    """
    if np.isfinite(loss) and np.isfinite(gradients).all():
        return loss
    what = f"the soft loss is {loss}" if not np.isfinite(loss) else "a gradient is not finite"
    raise TrainingError(
        f"epoch {epoch}: {what}: training cannot go on. Lower [training] learning_rate (now "
        f"{config.learning_rate}), or train in float64 with --set training.precision=float64"
    )
