"""What kernels are built from: code emitted through LLVM, or plain Python without a compiler.

With NUMBA_DISABLE_JIT=1 the code around the primitives can be traced line by line.
"""

# ruff: noqa: F403
from __future__ import annotations

from difflogic.system.jit import JIT

if JIT:
    from difflogic.engine.kernels.llvm.moves import *
    from difflogic.engine.kernels.llvm.processor import *
    from difflogic.engine.kernels.llvm.slopes import *
    from difflogic.engine.kernels.llvm.vectors import *
    from difflogic.engine.kernels.llvm.words import *
else:
    from difflogic.engine.kernels.plain import *
