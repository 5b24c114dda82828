"""NumPy's npz files: written reproducibly, byte for byte, and read without trusting them.

Entries are checked before they are unpacked. Nothing is unpickled, and no entry is larger than the
array that the reader asks for.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from difflogic.system.errors import ModelFileError
from difflogic.system.files import open_plain, reason

MAX_FILE_BYTES = 2**28
"""More than the largest accepted circuit takes in float64."""

_MAGIC = b"PK"
_OLDEST_DATE = (1980, 1, 1, 0, 0, 0)
_PREAMBLE_BYTES = 10_128
"""Most bytes before an array's data: NumPy reads headers of up to 10000 characters."""
_DIRECTORY_BYTES = 2**20
"""Most bytes of an archive's list of entries: zipfile makes an object of each."""


def write_npz(file: BinaryIO, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write `arrays` as npz. Equal arrays in equal order give equal bytes on any system."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _OLDEST_DATE)
            entry.create_system = 3  # the default depends on the system
            content = io.BytesIO()
            # Not ascontiguousarray, which turns a scalar into a row.
            little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
            np.lib.format.write_array(content, little, version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getvalue())


def is_archive(path: Path) -> bool:
    """Return whether a file starts like an archive."""
    try:
        with open_plain(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


class NpzReader:
    """Reads single arrays of an npz file, whose shapes and types are known beforehand.

    A context manager. Every method raises ModelFileError if the file does not fit.
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
            raise self.error(f"cannot be read: {reason(error)}") from None
        try:
            if os.fstat(self._file.fileno()).st_size > largest:
                raise self.error(f"is no {kind} file: it is larger than any {kind}")
            cautious = _CautiousFile(self._file)
            self._archive = zipfile.ZipFile(cautious)
            cautious.trusted = True
        except ModelFileError:
            self._file.close()
            raise
        except Exception:  # zipfile raises far more than BadZipFile on hostile bytes
            self._file.close()
            raise self.error(
                "is not an npz archive, or is cut off: use another copy of the file"
            ) from None
        self.names = [entry.filename.removesuffix(".npy") for entry in self._archive.infolist()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._archive.close()
        self._file.close()

    def error(self, text: str) -> ModelFileError:
        return ModelFileError(f"{self._path}: {text}")

    def text(self, name: str, limit: int) -> str:
        """Read UTF-8 text of at most `limit` bytes, stored as an array of bytes."""
        shape, dtype, data = self._read(name, limit)
        if dtype != np.uint8 or shape != (len(data),):
            raise self.error(f'entry "{name}" is not text')
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self.error(f'entry "{name}" is not UTF-8 text') from None

    def array(
        self, name: str, shape: tuple[int, ...], dtypes: Sequence[npt.DTypeLike]
    ) -> npt.NDArray[Any]:
        """Read an array of exactly this `shape` and one of `dtypes`, in native byte order."""
        allowed = [np.dtype(dtype) for dtype in dtypes]
        largest = math.prod(shape) * max(dtype.itemsize for dtype in allowed)
        found, dtype, data = self._read(name, largest)
        if found != shape or dtype not in allowed or len(data) != math.prod(shape) * dtype.itemsize:
            types = " or ".join(str(option) for option in allowed)
            raise self.error(
                f'entry "{name}" must have shape {shape} and type {types} to fit the '
                f"configuration in the file, not shape {found} and type {dtype}"
            )
        return np.frombuffer(data, dtype).reshape(shape).astype(dtype.newbyteorder("="))

    def vector(self, name: str, most: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Read a one-dimensional array of at most `most` numbers, in native byte order."""
        kind = np.dtype(dtype)
        shape, found, data = self._read(name, most * kind.itemsize)
        if len(shape) != 1 or found != kind or len(data) != shape[0] * kind.itemsize:
            raise self.error(f'entry "{name}" must be a one-dimensional array of type {kind}')
        return np.frombuffer(data, found).astype(found.newbyteorder("="))

    def numbers(self, name: str, most: int) -> npt.NDArray[Any]:
        """Read an array of any shape with at most `most` booleans, integers or real numbers."""
        shape, kind, data = self._read(name, 8 * most)
        size = math.prod(shape)
        if kind.kind not in "biuf" or size > most or len(data) != size * kind.itemsize:
            raise self.error(f'entry "{name}" must be an array of at most {most} numbers')
        return np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("="))

    @contextmanager
    def pieces(self, name: str, shape: tuple[int, ...]) -> Iterator[Callable[[int], bytes]]:
        """Open an array of bytes of exactly this `shape`, to read it piece by piece.

        Yields a function that returns the next `count` bytes. The last call checks the checksum.
        """
        size = math.prod(shape)
        entry = self._declared(name, size)

        def read(count: int) -> bytes:
            with self._explained(name):
                content = file.read(count)
            if len(content) != count:
                raise self._damaged(name)
            return content

        with self._explained(name):
            file = self._archive.open(entry)
        with file:
            found, dtype = self._head(name, file)
            if found != shape or dtype != np.uint8 or entry.file_size - file.tell() != size:
                raise self.error(f'entry "{name}" must have shape {shape} and type uint8')
            yield read

    def _read(self, name: str, limit: int) -> tuple[tuple[int, ...], np.dtype[Any], bytes]:
        """Return shape, type and data of an array that declares at most `limit` bytes of data."""
        entry = self._declared(name, limit)
        with self._explained(name), self._archive.open(entry) as packed:
            # Only the declared size: far more may be packed there.
            file = io.BytesIO(packed.read(entry.file_size))
        return *self._head(name, file), file.read()

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception:  # a wrong checksum, encryption, an end of file, and more
            raise self._damaged(name) from None

    def _damaged(self, name: str) -> ModelFileError:
        return self.error(f'entry "{name}" is damaged: take another copy of the file')

    def _declared(self, name: str, limit: int) -> zipfile.ZipInfo:
        """Return an entry, stored or deflated, that declares at most `limit` bytes of data."""
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
        return entry

    def _head(self, name: str, file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Read the header of an array in NumPy's format: shape and type."""
        try:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError
            shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
        except Exception:  # NumPy evaluates the header as a Python literal
            raise self.error(f'entry "{name}" is not a NumPy array') from None
        if fortran_order and len(shape) > 1:
            raise self.error(f'entry "{name}" is in column-major order: save it with dct')
        return shape, dtype


class _CautiousFile:
    """A file that limits reads to the size of a list of entries, until `trusted` is set.

    zipfile reads an archive's whole list at once and makes an object of each entry.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self.close = file.close
        self.trusted = False

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes, or all. Raises ValueError for more than a list may take."""
        if self.trusted:
            return self._file.read(size)
        content = self._file.read(_DIRECTORY_BYTES + 1 if size < 0 else size)
        if len(content) > _DIRECTORY_BYTES:
            raise ValueError("too many entries")
        return content
