"""Which gates a trained circuit uses, and what for."""

from __future__ import annotations

from typing import Any

import numpy as np

from difflogic.circuit.gates import OPS, Op
from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.model.model import Model
from difflogic.system.array_types import Bits

PASSING = (Op.A, Op.B)
"""Ops that only pass an input on. All others are active."""


def count(model: Model) -> dict[str, Any]:
    """Count gates and active gates, and make a histogram of ops, for each part and scope.

    `all` is every gate with its own logits; `next_state` are active gates that the next state of
    some channel depends on; `loss_channels` those that the loss channels depend on, at any step.
    """
    architecture = model.config.architecture
    ops = model.ops
    netlist = model.netlist
    perception = architecture.kernels * architecture.kernel_gates
    chosen = {"all": np.ones(len(ops), bool)}
    per_cell = {}
    for scope, channels in (
        ("next_state", None),
        ("loss_channels", model.config.task.loss_channels),
    ):
        gates = active_gates(netlist, ops, channels)
        per_cell[scope] = len(gates)
        chosen[scope] = np.zeros(len(ops), bool)
        chosen[scope][netlist.param[gates]] = True
    scopes = {
        scope: {
            "perception": _statistics(ops[:perception][which[:perception]]),
            "update": _statistics(ops[perception:][which[perception:]]),
            "both": _statistics(ops[which]),
        }
        for scope, which in chosen.items()
    }
    published = model.config.published.active_gates
    notes = [
        "A gate is active unless its op is A or B. A perception gate counts once per kernel, "
        "though every channel has a copy of it."
    ]
    if published is not None:
        notes.append(
            "The article's number counts the gates of all kernels and of the update, before any "
            'pruning: compare it with "all".'
        )
    return {
        "scopes": scopes,
        "active_gates_per_cell": per_cell,
        "published_active_gates": published,
        "notes": notes,
    }


def _statistics(ops: Bits) -> dict[str, Any]:
    histogram = np.bincount(ops, minlength=OPS)
    return {
        "gates": len(ops),
        "active": int(len(ops) - histogram[list(PASSING)].sum()),
        "ops": {op.name: int(histogram[op]) for op in Op},
    }
