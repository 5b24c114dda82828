"""Compile what most tests call, once: `make test` does it on the core that mypy leaves free.

Without it each of pytest's workers compiles the same kernels, at the same time.
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from difflogic.engine.plan import ParallelPlan
from difflogic.engine.sharing import Strategy
from difflogic.model.automaton import from_model
from difflogic.model.model import Model
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.jit import JIT, keeps_code
from difflogic.training.helper_process import compile_stages
from difflogic.training.warming import compile_rollouts, compile_slopes
from tests.difflogic.training.tiny import tiny


def compile_kernels() -> None:
    for precision in ("float32", "float64"):
        for strategy in get_args(Strategy):
            for workers in (1, 2):
                sharing = f"parallel.strategy={strategy}", f"parallel.workers={workers}"
                model = Model.create(tiny(f"training.precision={precision}", *sharing))
                plan = ParallelPlan.for_model(model.config)
                compile_rollouts(model.netlist, precision, plan.sharing)
        for _ in compile_stages(precision):
            pass
        ops = np.zeros(model.netlist.parameters, np.uint8)
        compile_slopes(model.netlist, ops, rectifies=True)
    simplify(from_model(model), EFFORTS["normal"])


if __name__ == "__main__" and JIT and keeps_code():
    compile_kernels()
