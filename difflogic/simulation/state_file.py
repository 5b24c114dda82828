"""Saves and loads states: a ZIP of NumPy arrays, eight cells per byte, band by band.

Arrays: `cells` of shape (channels, height, ⌈width / 8⌉), where cell x is bit x mod 8 of byte
x // 8; `size` (height, width); `labels`, the channels' labels; `step`, the number of steps taken.
As with all archives here, everything is checked before it is unpacked.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import WORD, BitGrid
from difflogic.simulation.simulator import MOST_STEPS, Simulator
from difflogic.system.archive import NpzReader
from difflogic.system.errors import ConfigError
from difflogic.system.files import write_whole

MOST_CHANNELS = 2**16
MARGIN = 2**16
"""Bytes of a file besides the cells: names, headers, checksums."""
MOST_ARRAY = 2**26
"""Most bytes of a plain array."""
SHOWN = 16
"""Most labels that a message lists."""


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


def load(path: Path, simulator: Simulator) -> npt.NDArray[Any] | None:
    """Load a saved state into a simulator. If the file is a single other array, return that.

    Raises ConfigError or ModelFileError, with the file's name, if the file is not a state, or does
    not fit the grid or circuit. After an error within the cells, the simulator holds part of them.
    """
    geometry = simulator.grid.geometry
    # Compressed cells are hardly ever larger than the cells; MARGIN covers the overhead.
    largest = geometry.bytes + 9 * MOST_CHANNELS + MARGIN
    with NpzReader(path, largest, "state") as reader:
        if len(reader.names) == 1 and "cells" not in reader.names:
            return reader.numbers(reader.names[0], MOST_ARRAY)
        if "cells" not in reader.names:
            raise reader.error("is an npz archive, but not a state saved by dct")
        size = reader.array("size", (2,), (np.int64,)).tolist()
        labels = reader.vector("labels", MOST_CHANNELS, np.int64).tolist()
        step = int(reader.array("step", (), (np.int64,)))
        problem = _misfit(simulator, tuple(size), tuple(labels), step)
        if problem is not None:
            raise ConfigError(f"{path}: {problem}")
        _read_cells(reader, simulator.grid)
        simulator.step = step
    return None


def _misfit(
    simulator: Simulator, size: tuple[int, ...], labels: tuple[int, ...], step: int
) -> str | None:
    """Return why a state does not fit the simulator, or None."""
    geometry = simulator.grid.geometry
    if min(size) < 1 or not 0 <= step <= MOST_STEPS:
        return f"{size[0]}×{size[1]} cells after step {step}: dct never saves such a state"
    if size != (geometry.height, geometry.width):
        return (
            f"has {size[0]}×{size[1]} cells, but the grid has {geometry.height}×{geometry.width}: "
            f"use --size {size[0]}x{size[1]}"
        )
    if labels != simulator.circuit.labels:
        theirs, ours = (_listed(each) for each in (labels, simulator.circuit.labels))
        return f"has the channels {theirs}, but the circuit has {ours}"
    return None


def _listed(labels: tuple[int, ...]) -> str:
    text = ", ".join(map(str, labels[:SHOWN]))
    return text if len(labels) <= SHOWN else f"{text} … ({len(labels)} in all)"


def _read_cells(reader: NpzReader, grid: BitGrid) -> None:
    geometry = grid.geometry
    width = -(-geometry.width // 8)
    with reader.pieces("cells", (geometry.channels, geometry.height, width)) as read:
        for channel in range(geometry.channels):
            for rows in geometry.bands():
                count = rows.stop - rows.start
                padded = np.zeros((count, WORD // 8 * geometry.words), np.uint8)
                content = np.frombuffer(read(count * width), np.uint8)
                padded[:, :width] = content.reshape(count, width)
                packed = padded.view("<u8").astype(np.uint64, copy=False)
                grid.words[rows, channel, grid.columns()] = packed
    for rows in geometry.bands():
        grid.refresh_ends(rows)
