"""Circuits as WebAssembly: the machine code of `simulation`, made for browsers by the same LLVM.

`compile_module` needs neither clang nor a linker. The module exports `run` and `fill`, see
`difflogic.simulation.emission`, and works on a memory of `difflogic.simulation.bit_grid`'s layout,
so that the bits are those of `dct simulate`.
"""

from difflogic.view.webassembly.compiling import VECTOR_WORDS, compile_module

__all__ = ["VECTOR_WORDS", "compile_module"]
