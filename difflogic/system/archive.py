"""NumPy's npz and npy files: written reproducibly, byte for byte, and read without trusting them.

Entries are checked before they are unpacked. Nothing is unpickled, and no entry is larger than the
array that the reader asks for.
"""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from difflogic.system.array_types import Array
from difflogic.system.errors import DctError, ModelFileError, UnreadableError
from difflogic.system.files import cannot_read, open_plain

MAX_FILE_BYTES = 2**28
"""More than the largest accepted circuit takes in float64."""

_MAGIC = b"PK"
_NPY = b"\x93NUMPY"
_PLAIN = "the array of an npy file"
_LARGE = 2**31 / 1.05
"""Bytes of an array from which on an entry may need the long form of its sizes."""
_PREAMBLE_BYTES = 10_128
"""Most bytes before an array's data: NumPy reads headers of up to 10000 characters."""
_DIRECTORY_BYTES = 2**20
"""Most bytes of an archive's list of entries: zipfile makes an object of each."""


_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,
}
"""Reads an array's shape, order and type, by the version of the format."""


class Parts(NamedTuple):
    """An array too large to copy, as the pieces that follow each other in it, in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: Iterable[Array]


def write_npz(
    file: BinaryIO, arrays: Mapping[str, Array | Parts], kind: int = zipfile.ZIP_STORED
) -> None:
    """Write `arrays` as npz. Equal arrays in equal order give equal bytes on any system.

    `kind` is zipfile's compression.
    """
    with zipfile.ZipFile(file, "w", kind, compresslevel=1) as archive:
        for name, array in arrays.items():
            little = array.dtype.newbyteorder("<")
            head = io.BytesIO()
            form = {"descr": little.str, "fortran_order": False, "shape": array.shape}
            np.lib.format.write_array_header_1_0(head, form)
            large = head.tell() + math.prod(array.shape) * little.itemsize > _LARGE
            with archive.open(f"{name}.npy", "w", force_zip64=large) as unpacked:
                unpacked.write(head.getvalue())
                for piece in array.pieces if isinstance(array, Parts) else (array,):
                    unpacked.write(piece.astype(little, "C", copy=False).data)
        for entry in archive.infolist():
            entry.create_system = 3  # the default depends on the system


def is_archive(path: Path) -> bool:
    """Return whether a file starts like an npz archive, or like an npy file.

    Raises UnreadableError.
    """
    try:
        with open_plain(path) as file:
            return file.read(len(_NPY)).startswith((_MAGIC, _NPY))
    except (OSError, ValueError) as error:
        if isinstance(found := cannot_read(path, error), UnreadableError):
            raise found from None
        return False


class NpzReader:
    """Reads single arrays of an npz file, whose shapes and types are known beforehand.

    An npy file is read as an archive of one array. A context manager. Every method raises
    ModelFileError if the file does not fit, and UnreadableError if the system refuses it.
    """

    def __init__(
        self, path: Path, largest: int = MAX_FILE_BYTES, kind: str = "model", follow: bool = True
    ) -> None:
        """Open a file of at most `largest` bytes; a link only if `follow`.

        `kind` names the kind of file in messages.
        """
        self._path = path
        try:
            self._file = open_plain(path, follow)
        except FileNotFoundError:
            raise self.error("no such file") from None
        except IsADirectoryError:
            raise self.error("is a directory: name its model.npz") from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise cannot_read(path, error, ModelFileError) from None
        self._cautious = _CautiousFile(self._file)
        try:
            if os.fstat(self._file.fileno()).st_size > largest:
                raise self.error(f"is no {kind} file: it is larger than any {kind}")
            self._archive = zipfile.ZipFile(_archived(self._cautious))
            self._cautious.trusted = True
        except ModelFileError:
            self._file.close()
            raise
        except OSError as error:
            self._file.close()
            raise cannot_read(path, error, ModelFileError) from None
        except Exception:  # zipfile raises far more than BadZipFile on hostile bytes
            self._file.close()
            what = "is empty, cut off, or no npz archive: use another copy of the file"
            raise self._unpacking(what) from None
        self.names = [entry.filename.removesuffix(".npy") for entry in self._archive.infolist()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._archive.close()
        self._file.close()

    def error(self, text: str) -> ModelFileError:
        text = text.removeprefix(f'entry "{_PLAIN}" ')  # of an npy file
        return ModelFileError(f"{self._path}: {text}")

    def _unpacking(self, text: str) -> DctError:
        """Return the error for what zipfile cannot unpack, which hides those of the system."""
        refused = self._cautious.refused
        if refused is None:
            return self.error(text)
        return cannot_read(self._path, refused, ModelFileError)

    def text(self, name: str, limit: int) -> str:
        """Read UTF-8 text of at most `limit` bytes, stored as an array of bytes."""
        found = self._read(name, limit)
        if found.dtype != np.uint8 or found.ndim != 1:
            raise self.error(f'entry "{name}" is not text')
        try:
            return found.tobytes().decode()
        except UnicodeDecodeError:
            raise self.error(f'entry "{name}" is not UTF-8 text') from None

    def header(self, form: str, limit: int, foreign: str) -> dict[str, Any]:
        """Return the JSON object in the entry "header". Raises `foreign` for another format.

        `form` is its "format", `limit` its most bytes.
        """
        try:
            found: Any = json.loads(self.text("header", limit) if "header" in self.names else "")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("format") != form:
            raise self.error(foreign)
        return found

    def array(self, name: str, shape: tuple[int, ...], dtypes: Sequence[npt.DTypeLike]) -> Array:
        """Read an array of exactly this `shape` and one of `dtypes`, in native byte order."""
        allowed = [np.dtype(dtype) for dtype in dtypes]
        found = self._read(name, math.prod(shape) * max(dtype.itemsize for dtype in allowed))
        if found.shape != shape or found.dtype not in allowed:
            types = " or ".join(str(option) for option in allowed)
            raise self.error(
                f'entry "{name}" must have shape {shape} and type {types} to fit the '
                f"configuration in the file, not shape {found.shape} and type {found.dtype}"
            )
        return found

    def numbers(self, name: str, most: int) -> Array:
        """Read an array of any shape with at most `most` booleans, integers or real numbers."""
        found = self._read(name, 8 * most)
        if found.dtype.kind not in "biuf" or found.size > most:
            raise self.error(f'entry "{name}" must be an array of at most {most} numbers')
        return found

    def _read(self, name: str, limit: int) -> Array:
        """Return an array, stored or deflated, that declares at most `limit` bytes of data."""
        if self.names.count(name) != 1:
            raise self.error(f'entry "{name}" is missing or not unique')
        entry = self._archive.infolist()[self.names.index(name)]
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.error(f'entry "{name}" uses an unsupported compression: save it with dct')
        if entry.file_size > limit + _PREAMBLE_BYTES:
            raise self.error(
                f'entry "{name}" unpacks to {entry.file_size} bytes where at most {limit} are '
                "expected: it was not read"
            )
        try:
            with self._archive.open(entry) as packed:
                # Only the declared size: far more may be packed there.
                file = io.BytesIO(packed.read(entry.file_size))
        except Exception:  # a wrong checksum, encryption, an end of file, and more
            what = f'entry "{name}" is damaged: take another copy of the file'
            raise self._unpacking(what) from None
        try:
            # 3.0 differs from 2.0 in the names of fields, which arrays of numbers do not have.
            read = _HEADERS[np.lib.format.read_magic(file)]
            shape, fortran_order, dtype = read(file)
        except Exception:  # NumPy evaluates the header as a Python literal
            raise self.error(f'entry "{name}" is not a NumPy array') from None
        size = len(file.getbuffer()) - file.tell()
        if dtype.kind not in "biuf":
            raise self.error(f'entry "{name}" has values of type {dtype}: give real numbers')
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size:
            raise self.error(f'entry "{name}" is damaged: its size is not that of its shape')
        order: Literal["F", "C"] = "F" if fortran_order else "C"
        array = np.frombuffer(file.read(), dtype).reshape(shape, order=order)
        return array.astype(dtype.newbyteorder("="), order="C")


def _archived(file: _CautiousFile) -> Any:
    """Return a file, or an archive in memory of the array that an npy file holds."""
    plain = file.read(len(_NPY)) == _NPY
    file.seek(0)
    if not plain:
        return file
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        file.trusted = True
        archive.writestr(f"{_PLAIN}.npy", file.read())
    return packed


class _CautiousFile:
    """A file that limits reads to the size of a list of entries, until `trusted` is set.

    zipfile reads an archive's whole list at once and makes an object of each entry.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable
        self.close = file.close
        self.trusted = False
        self.refused: OSError | None = None
        """What the system said when it last refused to read."""

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes, or all. Raises ValueError for more than a list may take."""
        limited = size < 0 and not self.trusted
        try:
            content = self._file.read(_DIRECTORY_BYTES + 1 if limited else size)
        except OSError as error:
            self.refused = error
            raise
        if len(content) > _DIRECTORY_BYTES and not self.trusted:
            raise ValueError("too many entries")
        return content
