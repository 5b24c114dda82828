"""States on disk: a ZIP of NumPy arrays, eight cells to a byte, written and read band by band.

Its arrays: `cells` (channels, height, ⌈width / 8⌉), cell x in bit x mod 8 of byte x // 8; `size`
(height, width); `labels`, the channels' numbers; `step`, the steps taken. What is read is checked
before it is unpacked, as all archives here are.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import WORD, BitGrid
from difflogic.simulation.simulator import MOST_STEPS, Simulator
from difflogic.system.archive import NpzReader
from difflogic.system.errors import ConfigError
from difflogic.system.files import write_whole

MOST_CHANNELS = 2**16
MARGIN = 2**16
"""Bytes of a file that are no cells: names, headers, checksums."""
MOST_ARRAY = 2**26
"""Bytes of a plain array."""
SHOWN = 16
"""Channels' numbers that a message names."""


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


def load(path: Path, simulator: Simulator) -> npt.NDArray | None:
    """Put the state of a file into a simulator; return a single array that is no state.

    Raises ConfigError or ModelFileError, which name the file, if it is no state, or one of another
    grid or circuit. What is found out amid the cells leaves the simulator with a part of them.
    """
    geometry = simulator.grid.geometry
    # Packed cells are never larger than the cells, but for the packing's own marks.
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
    """Say why a state does not fit the simulator's grid, circuit or count of steps, if it does."""
    geometry = simulator.grid.geometry
    if min(size) < 1 or not 0 <= step <= MOST_STEPS:
        return f"{size[0]}×{size[1]} cells after step {step}: dct saved no such state"
    if size != (geometry.height, geometry.width):
        return (
            f"has {size[0]}×{size[1]} cells, and the grid {geometry.height}×{geometry.width}: give "
            f"--size {size[0]}x{size[1]}"
        )
    if labels != simulator.circuit.labels:
        theirs, ours = (_shown(each) for each in (labels, simulator.circuit.labels))
        return f"has the channels {theirs}, and the circuit {ours}"
    return None


def _shown(labels: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, labels[:SHOWN]))
    return shown if len(labels) <= SHOWN else f"{shown} … ({len(labels)} of them)"


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
