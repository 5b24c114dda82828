"""What kernels are built from: emitted through LLVM, or in plain Python where none is wanted.

With NUMBA_DISABLE_JIT=1 the code around the primitives can be traced line by line.
"""

from __future__ import annotations

from difflogic.system.jit import JIT

if JIT:
    from difflogic.engine.kernels.llvm.moves import rows_added, rows_left, rows_seen
    from difflogic.engine.kernels.llvm.processor import (
        flush_denormals,
        fma_chains,
        restore_denormals,
    )
    from difflogic.engine.kernels.llvm.slopes import slope_any, slope_back, slope_move
    from difflogic.engine.kernels.llvm.threads import (
        atomic_add,
        atomic_claim,
        atomic_load,
        now,
        yield_thread,
    )
    from difflogic.engine.kernels.llvm.vectors import (
        gates_backward,
        gates_forward,
        pulls_backward,
        runs_backward,
        runs_forward,
        stars_backward,
        stars_forward,
        sums_backward,
    )
    from difflogic.engine.kernels.llvm.words import (
        hard_advance,
        hard_copy,
        hard_count,
        hard_differ,
        hard_follow,
        hard_gate,
        hard_gates,
        hard_list,
        hard_see,
        hard_view,
        hard_write,
    )
else:
    from difflogic.engine.kernels.plain.moves import rows_added, rows_left, rows_seen
    from difflogic.engine.kernels.plain.processor import (
        flush_denormals,
        fma_chains,
        restore_denormals,
    )
    from difflogic.engine.kernels.plain.slopes import slope_any, slope_back, slope_move
    from difflogic.engine.kernels.plain.threads import (
        atomic_add,
        atomic_claim,
        atomic_load,
        now,
        yield_thread,
    )
    from difflogic.engine.kernels.plain.vectors import (
        gates_backward,
        gates_forward,
        pulls_backward,
        runs_backward,
        runs_forward,
        stars_backward,
        stars_forward,
        sums_backward,
    )
    from difflogic.engine.kernels.plain.words import (
        hard_advance,
        hard_copy,
        hard_count,
        hard_differ,
        hard_follow,
        hard_gate,
        hard_gates,
        hard_list,
        hard_see,
        hard_view,
        hard_write,
    )

__all__ = [
    "atomic_add",
    "atomic_claim",
    "atomic_load",
    "flush_denormals",
    "fma_chains",
    "gates_backward",
    "gates_forward",
    "hard_advance",
    "hard_copy",
    "hard_count",
    "hard_differ",
    "hard_follow",
    "hard_gate",
    "hard_gates",
    "hard_list",
    "hard_see",
    "hard_view",
    "hard_write",
    "now",
    "pulls_backward",
    "restore_denormals",
    "rows_added",
    "rows_left",
    "rows_seen",
    "runs_backward",
    "runs_forward",
    "slope_any",
    "slope_back",
    "slope_move",
    "stars_backward",
    "stars_forward",
    "sums_backward",
    "yield_thread",
]
