"""Numba, imported only if there is memory for it, and without its settings file.

Numba reads .numba_config.yaml in the working directory when it is imported and before each
compilation. Such a file, left by anybody, could silently change compiled code and a model's bits.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import ModuleType

from difflogic.system import memory
from difflogic.system.environment import environment_of
from difflogic.system.errors import StorageError

ADDRESSES = 2**30
"""Bytes of address space that compiling and two workers may add; 727 MiB were measured.

With less, LLVM ends the process, or a worker waits forever for one that failed.
"""


def require_memory() -> None:
    """Raise StorageError if the limit on address space is too low for the compiler."""
    found = memory.address_space()
    if found is not None and found[1] - found[0] < ADDRESSES:
        used, limit = found
        # Rounded up to suffice for any command: they differ in what they have loaded by now.
        enough = 100_000 * ((used + ADDRESSES) // 1024 // 100_000 + 2)
        raise StorageError(
            f"the limit on a process's address space, {limit / 1e6:.0f} MB, is too low for "
            f"compiled kernels: raise it with ulimit -v {enough} or ulimit -v unlimited"
        )


def _import_numba() -> ModuleType:
    """Import numba without YAML and coverage, and stop it from reading a settings file later."""
    require_memory()
    # Where coverage is installed, numba imports it to report lines of kernels.
    hidden = {name: sys.modules.get(name) for name in ("yaml", "coverage")}
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        with warnings.catch_warnings(), environment_of("numba", "NUMBA_"):
            warnings.simplefilter("ignore")  # numba warns if the file exists without YAML
            import numba
    finally:
        for name, known in hidden.items():
            del sys.modules[name]
            if known is not None:
                sys.modules[name] = known
    from numba.core import config

    config._config_fname = os.devnull  # not a regular file, so numba does not read it
    return numba


numba = _import_numba()
