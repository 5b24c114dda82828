"""Names for types of arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.integer]
Flags = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Float64s = npt.NDArray[np.float64]
Float32s = npt.NDArray[np.float32]
Floats = npt.NDArray[np.floating]
