"""The compiled kernels: soft gates over tiles of lanes, hard ones over words of cells.

A tile is a one-dimensional buffer of rows; a row holds one value per lane, a lane is one cell.
Every kernel is serial and releases the GIL; `workers.py` runs them side by side.

| room | what is in it |
|---|---|
| `structures`, `hard_structures` | columns of instructions, and the tuples that hold arrays |
| `llvm`, `plain` | what kernels are built from: vectors, atomic numbers; and its plain meaning |
| `primitives` | one of these two |
| `tiles`, `shares`, `split` | one tile's step; one worker's share of it all; gates shared, too |
| `teams`, `pipeline` | how workers wait for each other; which piece of work is next |
| `logits` | from logits to coefficients, and the optimizer's step |
| `hard` | pruning and running hard circuits |
| `candidates`, `changes`, `candidate_base`, … | circuits that differ from one in a single gate |
| `peak` | what the processor can do |
"""

import difflogic.system.jit  # noqa: F401  imports numba, and has to be the first to do so
