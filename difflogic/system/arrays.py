"""Arrays that callers hand over: what is no array of numbers is refused by its name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.system.errors import ConfigError, described


def real_numbers(name: str, given: Any, *, nan: bool = False) -> npt.NDArray[Any]:
    """Return an array of finite real numbers, and NaN if `nan` allows it.

    Raises ConfigError, which calls it `name`.
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{name}: {described(given)} is no array of numbers: {error}") from None
    if array.dtype.kind not in "buif":
        raise ConfigError(f"{name} of shape {array.shape}: type {array.dtype}: give real numbers")
    wrong = np.isinf(array) if nan else ~np.isfinite(array)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ConfigError(
            f"{name} of shape {array.shape}: {array[place]} at {place}: give finite numbers"
            + (", or NaN for what does not count" if nan else "")
        )
    return array


def bits(name: str, given: Any) -> npt.NDArray[np.uint8]:
    """Return an array of 0 and 1. Raises ConfigError, which calls it `name`."""
    array = real_numbers(name, given)
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ConfigError(
            f"{name} of shape {array.shape}: {array[place]} at {place}: give 0 and 1 only"
        )
    return array.astype(np.uint8, copy=False)
