"""States on disk: a ZIP of NumPy arrays, eight cells to a byte, written and read band by band.

Its arrays: `cells` (channels, height, ⌈width / 8⌉), cell x in bit x mod 8 of byte x // 8; `size`
(height, width); `labels`, the channels' numbers; `step`, the steps taken.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from difflogic.errors import ConfigError
from difflogic.files import write_whole
from difflogic.simulation.bit_grid import WORD, BitGrid
from difflogic.simulation.simulator import Simulator


def save(path: Path, simulator: Simulator) -> None:
    """Write the state, replacing an earlier file. Raises RunDirectoryError if that fails."""
    write_whole(path, lambda file: _write(file, simulator))


def _write(file: BinaryIO, simulator: Simulator) -> None:
    grid = simulator.grid
    geometry = grid.geometry
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in (
            ("size", np.array([geometry.height, geometry.width], np.int64)),
            ("labels", np.array(simulator.circuit.labels, np.int64)),
            ("step", np.array(simulator.step, np.int64)),
        ):
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
        width = -(-geometry.width // 8)
        shape = (geometry.channels, geometry.height, width)
        head = {"descr": "|u1", "fortran_order": False, "shape": shape}
        with archive.open("cells.npy", "w", force_zip64=True) as entry:
            np.lib.format.write_array_header_1_0(entry, head)
            for channel in range(geometry.channels):
                for rows in geometry.bands():
                    words = grid.cells(rows, channel).astype("<u8", copy=False)
                    entry.write(np.ascontiguousarray(words.view(np.uint8)[:, :width]).tobytes())


def load(path: Path, simulator: Simulator) -> None:
    """Put the state of a file into a simulator. Raises ConfigError if it is none, or another's."""
    try:
        with zipfile.ZipFile(path) as archive:
            size, labels = (_array(archive, name) for name in ("size", "labels"))
            _require_fit(simulator, tuple(size.tolist()), tuple(labels.tolist()))
            simulator.step = int(_array(archive, "step"))
            _read_cells(archive, simulator.grid)
    except OSError as error:
        raise ConfigError(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError):
        raise ConfigError("is no state that dct saved, or only the beginning of one") from None


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(f"{name}.npy") as entry:
        array = np.lib.format.read_array(entry, allow_pickle=False, max_header_size=1000)
    if array.dtype != np.int64 or array.size > 2**16:
        raise ValueError(name)
    return array


def _require_fit(simulator: Simulator, size: tuple[int, ...], labels: tuple[int, ...]) -> None:
    geometry = simulator.grid.geometry
    if size != (geometry.height, geometry.width):
        sides = "×".join(map(str, size))
        raise ConfigError(
            f"has {sides} cells, and the grid {geometry.height}×{geometry.width}: give --size "
            f"{sides.replace('×', 'x')}"
        )
    if labels != simulator.circuit.labels:
        raise ConfigError(
            f"has the channels {list(labels)}, and the circuit {list(simulator.circuit.labels)}"
        )


def _read_cells(archive: zipfile.ZipFile, grid: BitGrid) -> None:
    geometry = grid.geometry
    width = -(-geometry.width // 8)
    with archive.open("cells.npy") as entry:
        if np.lib.format.read_magic(entry) != (1, 0):
            raise ValueError("cells")
        head = np.lib.format.read_array_header_1_0(entry, max_header_size=1000)
        if head != ((geometry.channels, geometry.height, width), False, np.dtype(np.uint8)):
            raise ValueError("cells")
        for channel in range(geometry.channels):
            for rows in geometry.bands():
                count = rows.stop - rows.start
                content = entry.read(count * width)
                padded = np.zeros((count, WORD // 8 * geometry.words), np.uint8)
                padded[:, :width] = np.frombuffer(content, np.uint8).reshape(count, width)
                packed = padded.view("<u8").astype(np.uint64, copy=False)
                grid.words[rows, channel, grid.columns()] = packed
    for rows in geometry.bands():
        grid.refresh_ends(rows)
