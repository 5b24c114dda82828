"""Machine code of one circuit: compiled by LLVM once, kept on disk, called with addresses.

LLVM comes with numba, as llvmlite. The same circuits written as C ran as fast: 0.9 to 1.3 times
with clang, 0.9 to 1.1 times with gcc, which needed 36 s for 998 gates where this needs 2. So there
is no second way by a C compiler.

The cache is the directory `dct-simulation` in NUMBA_CACHE_DIR if that is set, else `dct` in the
user's cache directory: XDG_CACHE_HOME, or ~/.cache. A file's name is the hash of everything that
the code depends on (circuit, program, LLVM, processor), and its content is checked against a
hash of itself and of that name before it is used: a file that is damaged, or another circuit's,
is compiled again and replaced.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from difflogic.errors import RunDirectoryError
from difflogic.files import write_whole
from difflogic.logic.circuit import LogicCircuit
from difflogic.simulation.schedule import schedule

_SOURCES = (
    "bit_grid.py", "builder.py", "emission.py", "fields.py", "native.py", "random_bits.py",
    "running.py", "schedule.py",
)  # fmt: skip
"""What decides which code a circuit becomes."""

_MAGIC = b"dct-simulation\n"


@dataclass(frozen=True, eq=False)
class Native:
    """A circuit's functions, see `emission.py`; they hold while this object does."""

    run: Callable[[int, int], None]
    fill: Callable[[int, int, int, int, int], None]
    vector_words: int
    engine: Any


@cache
def vector_words() -> int:
    """Return how many words the widest vector registers of this machine hold: 8, 4 or 2."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


def cache_directory() -> Path:
    """Return where compiled circuits are kept; it may not exist yet."""
    numba = os.environ.get("NUMBA_CACHE_DIR")
    if numba:
        return Path(numba) / "dct-simulation"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dct"


def native(circuit: LogicCircuit) -> Native:
    """Return a circuit's machine code, from the cache if it is there, else compiled."""
    words = vector_words()
    path = cache_path(circuit, words)
    code = _read(path)
    if code is None:
        code = compile_code(circuit, words)
        _keep(path, code)
    return link(code, words)


def is_cached(circuit: LogicCircuit) -> bool:
    """Return whether `native` would find this circuit in the cache."""
    return _read(cache_path(circuit, vector_words())) is not None


def cache_path(circuit: LogicCircuit, words: int) -> Path:
    """Return the file of the cache that a circuit's code belongs in."""
    parts = [
        f"{_program()} {words} {llvmlite.__version__} {llvm.llvm_version_info}",
        f"{_triple()} {llvm.get_host_cpu_name()} {_features()}",
        f"{circuit.channels}",
    ]
    key = hashlib.sha256("\n".join(parts).encode())
    for array in (circuit.op, circuit.a, circuit.b, circuit.outputs):
        key.update(array.astype("<i4").tobytes())
    return cache_directory() / f"{key.hexdigest()[:40]}.native"


@cache
def _program() -> str:
    """Return a hash of this program's sources, so that none outlives an edit."""
    found = hashlib.sha256()
    for name in _SOURCES:
        found.update(Path(__file__).with_name(name).read_bytes())
    return found.hexdigest()


def compile_code(circuit: LogicCircuit, words: int) -> bytes:
    """Return the object code of a circuit, with vectors of `words` words."""
    from difflogic.simulation.emission import emit

    return lower(emit(schedule(circuit), circuit.channels, words))


def lower(module: Any) -> bytes:
    """Return the object code of a module of llvmlite's."""
    machine = _machine()
    module.triple = _triple()
    module.data_layout = str(machine.target_data)
    checked = llvm.parse_assembly(str(module))
    checked.verify()
    return machine.emit_object(checked)


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, reloc="default",
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


def _triple() -> str:
    # MCJIT loads ELF alone on Windows.
    return llvm.get_process_triple() + ("-elf" if sys.platform == "win32" else "")


def _features() -> str:
    return llvm.get_host_cpu_features().flatten()


def load(code: bytes) -> Any:
    """Return an engine that holds object code, which can be called as long as it lives."""
    empty = llvm.parse_assembly("")
    empty.triple = _triple()
    engine = llvm.create_mcjit_compiler(empty, _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def link(code: bytes, words: int) -> Native:
    """Return the functions in a circuit's object code."""
    engine = load(code)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(engine.get_function_address("run"))
    fill = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_uint64] * 4)(
        engine.get_function_address("fill")
    )
    return Native(run, fill, words, engine)


def _read(path: Path) -> bytes | None:
    """Return the code in a file of the cache; None if there is none, or not what belongs there."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError):
        return None
    code = content[len(_head(path, b"")) :]
    return code if content == _head(path, code) + code else None


def _head(path: Path, code: bytes) -> bytes:
    """Return what stands before the code in a file of the cache."""
    return _MAGIC + hashlib.sha256(path.name.encode() + code).digest()


def _keep(path: Path, code: bytes) -> None:
    """Write a file of the cache; a place that cannot be written to is no reason to fail."""
    content = _head(path, code) + code
    with suppress(OSError, RunDirectoryError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, lambda file: file.write(content))


@cache
def yield_address() -> int:
    """Return the address of the system's function that offers the core to other threads."""
    if sys.platform == "win32":
        return _address(ctypes.WinDLL("kernel32").SwitchToThread)
    return _address(ctypes.CDLL(None).sched_yield)


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
