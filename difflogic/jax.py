"""Rollouts of soft automata in JAX, run and differentiated by the engine on the CPU.

Needs the extra `[jax]`; nothing else here imports JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any, Literal, NamedTuple

import numpy as np

from difflogic.library.layers import PullBack, SoftRollout, real_starts
from difflogic.system.errors import ConfigError, described

try:
    import jax
except ModuleNotFoundError as error:
    raise ImportError(
        f"difflogic.jax needs JAX: pip install '.[jax]' in dct's directory ({error})"
    ) from error


RECENT = 4
"""Rollouts whose gradients need no second rollout."""


def rollout(
    logits: Any,
    states: Any,
    automaton: SoftRollout,
    *,
    steps: int | None = None,
    keep: Sequence[int] | Literal["all"] | None = None,
    masks: Any = None,
) -> Any:
    """Return the states after `steps`, (batch, C, H, W), in the precision of the logits.

    `logits` (parameters, 16) and `states` (batch, C, H, W) may be traced by `jit`, `grad` and
    `vmap`, and `masks` by `jit`. `keep` and `masks` are as in `SoftRollout`. Raises ConfigError for
    shapes that do not fit.
    """
    if not isinstance(automaton, SoftRollout):
        raise ConfigError(f"automaton: {described(automaton)}: give a difflogic.SoftRollout")
    logits, states = jax.numpy.asarray(logits), jax.numpy.asarray(states)
    if states.dtype.kind == "c":
        raise ConfigError(f"states of shape {states.shape}: type {states.dtype}: give real numbers")
    if not isinstance(states, jax.core.Tracer):  # a callback's error is not shown as one of ours
        real_starts(np.asarray(states))
    states = states.astype(logits.dtype)
    kept = keep if keep is None or isinstance(keep, str) else tuple(keep)
    return _rollout(_How(automaton, steps, kept), logits, states, masks)


class _How(NamedTuple):
    """The static arguments of a traced rollout."""

    automaton: SoftRollout
    steps: int | None
    keep: tuple[int, ...] | str | None

    def run(self, logits: Any, states: Any, masks: Any) -> tuple[np.ndarray, PullBack]:
        settings = {"steps": self.steps, "keep": self.keep}
        # Copies, since JAX may reuse the memory before the backward pass.
        logits, states = np.array(logits), np.array(states)
        masks = None if masks is None else np.array(masks)
        return self.automaton(logits, states, masks=masks, **settings)  # type: ignore[arg-type]


_numbers = count()
_recent: dict[int, PullBack] = {}
"""Backward passes of the last rollouts; older rollouts are repeated."""


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rollout(how: _How, logits: Any, states: Any, masks: Any) -> Any:
    return _forward(how, logits, states, masks)[0]


def _forward(how: _How, logits: Any, states: Any, masks: Any) -> tuple[Any, Any]:
    def call(*arrays: Any) -> tuple[np.ndarray, np.ndarray]:
        found, pull_back = how.run(*arrays)
        number = next(_numbers) % 2**31
        _recent[number] = pull_back
        for old in list(_recent)[:-RECENT]:
            _recent.pop(old, None)
        return found, np.array(number, np.int32)

    settings = {"steps": how.steps, "keep": how.keep}
    shape = how.automaton.shape(logits, states, masks, **settings)  # type: ignore[arg-type]
    results = jax.ShapeDtypeStruct(shape, logits.dtype), jax.ShapeDtypeStruct((), np.int32)
    found, number = jax.pure_callback(
        call, results, logits, states, masks, vmap_method="sequential"
    )
    return found, (number, logits, states, masks)


def _backward(how: _How, saved: Any, gradients: Any) -> Any:
    def call(gradients: Any, number: Any, *arrays: Any) -> tuple[np.ndarray, np.ndarray]:
        pull_back = _recent.get(int(number)) or how.run(*arrays)[1]
        return pull_back(np.asarray(gradients))

    results = tuple(jax.ShapeDtypeStruct(each.shape, each.dtype) for each in saved[1:3])
    found = jax.pure_callback(call, results, gradients, *saved, vmap_method="sequential")
    return *found, None


_rollout.defvjp(_forward, _backward)
