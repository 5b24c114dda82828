"""The compiled kernels: soft gates over tiles of lanes, hard gates over words of cells.

A tile is a one-dimensional buffer of rows. A row holds one value per lane; a lane is one cell.
Every kernel is serial and releases the GIL; `workers.py` runs them side by side. All are compared
with `oracle.py`, those of candidates by way of `hard.py`.

| module | contents |
|---|---|
| `structures` | columns of instructions, and the tuples that hold arrays |
| `primitives` | the building blocks of kernels over lanes; those over words are in `llvm.words` |
| `tiles`, `training` | one tile's step; one worker's share of a training step |
| `teams`, `pipeline` | how workers wait and what they record; which piece of work is next |
| `logits` | from logits to coefficients, and the optimizer's step |
| `hard`, `hard_gradients` | pruning and running hard circuits, and the way back |
| `candidates`, `candidate_…` | circuits that differ from a base in a single gate |
| `detectors` | gates that recognise one wrong cell |
| `probes` | what benchmarks measure |
"""

import difflogic.system.jit  # noqa: F401  must import numba first
