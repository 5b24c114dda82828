"""What descent needs of a device: something that learns, and an engine that differentiates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.system.array_types import Array, Bits
from difflogic.training.plan import ParallelPlan


class Differentiator(Protocol):
    """Runs samples forward and back; a context, in which its workers' threads live."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: Any) -> None: ...

    def run_training(
        self,
        coefficients: Array,
        starts: Array,
        targets: Array,
        loss_channels: Sequence[int],
        masks: Bits | None = None,
        loss_steps: Sequence[int] = (),
    ) -> tuple[list[float], dict[str, float]]:
        """Return each sample's loss, and seconds by phase: see `Engine.run_training`."""

    def reduce(self, total: Array) -> Array:
        """Add the gradients to `total` (parameters, 4)."""


class Learner(Protocol):
    """Logits (16, parameters), the soft gates that they mix, and AdamW, on some device."""

    ops: Bits
    decided: float
    conformed_gates: int

    @property
    def logits(self) -> Array: ...

    def engine(self, netlist: Netlist, grid: Grid, plan: ParallelPlan) -> Differentiator: ...

    def mix(self) -> Array: ...

    def step(self, gradients: Array) -> None: ...

    def load(self, logits: Array) -> None: ...

    def forget(self, logits: Array) -> None: ...

    def close(self) -> None: ...

    def state(self) -> dict[str, Array]: ...

    def restore(self, state: Mapping[str, Array]) -> None: ...


MakeLearner = Callable[[Array], Learner]
"""Takes logits (16, parameters), which it may change."""
