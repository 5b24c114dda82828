"""Numba, imported so that it takes no settings from the working directory.

Numba reads .numba_config.yaml there, at its import and before each compilation. A file that
anybody left could change the code that is compiled, and so the bits of a model, without a word.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import ModuleType


def _import_numba() -> ModuleType:
    """Import numba with YAML out of its reach, and let it look for no file later."""
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
