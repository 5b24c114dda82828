"""The command line: `commands` parse and call the library, `terminal` shows what came out.

Nothing here imports numpy, numba, pydantic or rich when a module is loaded, so that `dct --help`
answers at once; each command imports what it needs.
"""

began: tuple[float, float] | None = None
"""Wall and processor time at which this process began, if it runs one command."""
