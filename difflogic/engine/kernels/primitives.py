"""What kernels over lanes are built from, with code emitted through LLVM."""

# ruff: noqa: F403
from __future__ import annotations

from difflogic.engine.kernels.llvm.instructions import *
from difflogic.engine.kernels.llvm.moves import *
from difflogic.engine.kernels.llvm.stars import *
from difflogic.engine.kernels.llvm.vectors import *
