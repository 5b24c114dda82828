"""Fast simulation: any circuit on any grid, 64 cells per word, in the memory of two bit grids.

Start with `simulator.py`. It has two engines with the same results: an interpreter, which needs
no compiler, and straight-line machine code, compiled once per circuit, which is
compared with it. The interpreter runs gates by `evaluate.py`.

`HardSimulator` (engine/hard/hard_simulator.py) has a different job: it runs *batches* of small
grids during training, where the circuit changes every epoch. Its kernel therefore interprets gates,
and counts wrong bits on the way. Here the circuit is fixed, and one grid may be as large as memory.
"""
