"""The command line: one file per command, which parses and shows but never computes.

Nothing here imports numpy, numba, pydantic or rich when a module is loaded, so that `dct --help`
answers at once; each command imports what it needs.
"""
