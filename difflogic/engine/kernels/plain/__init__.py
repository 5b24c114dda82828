"""The same primitives in plain Python and NumPy, for NUMBA_DISABLE_JIT=1 and for readers."""
