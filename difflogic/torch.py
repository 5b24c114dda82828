"""Soft automata as PyTorch modules, run and differentiated by the engine on the CPU.

Needs the extra `[torch]`; nothing else here imports PyTorch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from difflogic.library.layers import ModelSource, SoftRollout
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError, described

try:
    import torch
except ModuleNotFoundError as error:
    raise ImportError(
        f"difflogic.torch needs PyTorch: pip install '.[torch]' in dct's directory ({error})"
    ) from error


class LogicAutomaton(torch.nn.Module):
    """A soft automaton whose parameters are the logits of its gates, (parameters, 16).

    `source` is a model, a run, a configuration or its name, as for `SoftRollout`. With `hard`, each
    gate is its most probable op; gradients pass straight through to the logits.

    Its `state_dict` has the logits, and in `wires` a SHA-256 of the circuit that they belong to:
    loading that of another circuit raises ConfigError. `torch.compile` leaves the module as it is.
    """

    def __init__(
        self, source: ModelSource, *, hard: bool = False, workers: int | None = None
    ) -> None:
        super().__init__()
        self.rollout = SoftRollout(source, hard=hard, workers=workers)
        self.logits = torch.nn.Parameter(torch.from_numpy(self.rollout.model.logits.copy()))
        netlist = self.rollout.model.netlist
        wires = np.concatenate([netlist.a, netlist.b, netlist.param, netlist.outputs])
        digest = hashlib.sha256(wires.astype("<i4").tobytes()).digest()
        self.register_buffer("wires", torch.tensor(list(digest), dtype=torch.uint8))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        found = state_dict.get(f"{prefix}wires", self.wires)
        if not torch.equal(found.cpu(), self.wires.cpu()):
            raise ConfigError(
                "state_dict: has the logits of a circuit with other wires: load it into a module "
                "of the same model, or of the same configuration and seed"
            )
        super()._load_from_state_dict(state_dict, prefix, *rest)

    @property
    def model(self) -> Model:
        """A copy for the library's functions: to save, test, simplify and prove."""
        return self.rollout.with_logits(_to_numpy("logits", self.logits))

    @torch.compiler.disable  # it would trace NumPy, for seconds, to other last bits
    def forward(
        self,
        states: Any,
        steps: int | None = None,
        keep: Sequence[int] | Literal["all"] | None = None,
        masks: Any = None,
    ) -> Any:
        """Return the states after `steps`, (batch, C, H, W), in the precision of the logits.

        `states` (batch, C, H, W) are bits or real numbers. `keep` returns several steps, and
        `masks` selects the cells that fire, as in `SoftRollout`. Raises ConfigError for shapes,
        types and devices that do not fit.
        """
        states = _tensor("states", states)
        masks = None if masks is None else _to_numpy("masks", _tensor("masks", masks))
        how = {"steps": steps, "keep": keep, "masks": masks}
        return _Rollout.apply(self.rollout, how, self.logits, states)

    def extra_repr(self) -> str:
        """Return the text between the module's parentheses."""
        return f"{self.rollout.model!r}, hard={self.rollout.hard}"


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rollout: SoftRollout, how: Any, logits: Any, starts: Any) -> Any:
        given = _to_numpy("states", starts)
        states, ctx.pull_back = rollout(_to_numpy("logits", logits), given, **how)
        # The backward pass may repeat the rollout, so PyTorch has to notice if the starts change.
        ctx.save_for_backward(starts)
        return torch.from_numpy(states)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradients: Any) -> Any:
        (starts,) = ctx.saved_tensors
        to_logits, to_starts = map(torch.from_numpy, ctx.pull_back(gradients.numpy()))
        to_starts = to_starts.to(starts.dtype) if ctx.needs_input_grad[3] else None
        return None, None, to_logits, to_starts


def _tensor(name: str, given: Any) -> Any:
    try:
        return torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{name}: {described(given)} is not a tensor: {error}") from None


def _to_numpy(name: str, tensor: Any) -> np.ndarray:
    if tensor.device.type != "cpu":
        raise ConfigError(f"{name} are on the device {tensor.device}: give {name}.cpu()")
    try:
        return np.asarray(tensor.detach().numpy())
    except TypeError:  # bfloat16, sparse
        raise ConfigError(
            f"{name} of shape {tuple(tensor.shape)}: {tensor.layout} of {tensor.dtype}: give "
            f"{name}.to_dense().float()"
        ) from None
