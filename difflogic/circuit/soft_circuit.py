"""A circuit while it learns: its wiring, and the logits of each gate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.netlist import Netlist, WiredLayers
from difflogic.system.array_types import Array, Bits, Float32s, Float64s
from difflogic.system.errors import ConfigError

Logits = Float32s | Float64s


@dataclass(frozen=True, eq=False)
class SoftCircuit:
    """Wired layers, and the logits of each gate.

    `logits`, float32 or float64 of shape (parameters, 16), are not copied. Raises ConfigError if
    the parts do not fit together.
    """

    layers: WiredLayers
    logits: Logits

    def __post_init__(self) -> None:
        expected = (self.layers.architecture.parameters, gates.OPS)
        if self.logits.shape != expected or self.logits.dtype not in (np.float32, np.float64):
            raise ConfigError(
                f"logits need shape {expected} and type float32 or float64, not "
                f"{self.logits.shape} and {self.logits.dtype}"
            )

    @property
    def columns(self) -> Array:
        """The logits (16, parameters), a view: a trainer's kernels read a column for each gate."""
        return self.logits.T

    def of_columns(self, logits: Array) -> SoftCircuit:
        """Return a circuit wired as this one, with a copy of logits (16, parameters)."""
        return SoftCircuit(self.layers, np.ascontiguousarray(logits.T))

    @property
    def netlist(self) -> Netlist:
        """The circuit as a flat list of gates."""
        return self.layers.netlist

    @property
    def ops(self) -> Bits:
        """The most probable op of each parameter, shape (parameters,): the hard circuit."""
        return gates.harden(self.logits)
