"""Numba, imported if there is memory for it, and without settings from the working directory.

Numba reads .numba_config.yaml there, at its import and before each compilation. A file that
anybody left could change the code that is compiled, and so the bits of a model, without a word.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from types import ModuleType

from difflogic.system import machine
from difflogic.system.errors import StorageError

LOG = logging.getLogger(__name__)

ADDRESSES = 2**30
"""Bytes of address space that compiling and two workers may add: 727 MiB were measured.

With less, LLVM ends the process, or a worker waits for ever for one that failed.
"""

MEMORY = 384 * 2**20
"""Bytes of memory that a process takes at most while it compiles: measured 355 MiB."""


def require_memory() -> None:
    """Raise StorageError where the compiler would not get the address space that it takes.

    Where it is a control group that grants too little memory, only warn: there may be swap space.
    """
    found = machine.address_space()
    if found is not None and found[1] - found[0] < ADDRESSES:
        used, limit = found
        # Rounded up, so that it suffices for any command: each has something else in memory by now.
        enough = 100_000 * ((used + ADDRESSES) // 1024 // 100_000 + 2)
        raise StorageError(
            f"the limit on a process's address space, {limit / 1e6:.0f} MB, is too low for "
            f"compiled kernels: raise it with ulimit -v {enough} or ulimit -v unlimited"
        )
    limit_of_group = machine.memory_limit()
    if limit_of_group is not None and limit_of_group < MEMORY:
        LOG.warning(
            "warning: this container may use %.0f MB of memory, and compiling takes up to %.0f MB: "
            "the system may kill dct",
            limit_of_group / 1e6,
            MEMORY / 1e6,
        )


def _import_numba() -> ModuleType:
    """Import numba with YAML out of its reach, and let it look for no file later."""
    require_memory()
    known = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a file is there, and YAML is not
            import numba
    finally:
        del sys.modules["yaml"]
        if known is not None:
            sys.modules["yaml"] = known
    from numba.core import config

    config._config_fname = os.devnull  # which is no regular file, so that it is not read
    return numba


numba = _import_numba()
