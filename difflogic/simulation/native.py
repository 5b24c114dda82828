"""Machine code of one circuit: compiled by LLVM once, cached on disk.

LLVM comes with numba, as llvmlite. C compilers are no faster: code by clang ran at 0.9 to 1.3 times
this speed, code by gcc at 0.9 to 1.1 times, and gcc took 36 s for 998 gates instead of 2.

The cache (`code_cache.py`) names code by the hash of everything it depends on: circuit, program,
LLVM, processor. A circuit of more than HERE_GATES gates is compiled by a separate process, since
LLVM cannot be interrupted and takes minutes for the largest.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from difflogic.circuit.circuit import Circuit
from difflogic.simulation.schedule import schedule
from difflogic.system.code_cache import CodeCache
from difflogic.system.errors import TrainingError
from difflogic.system.programs import isolated, supervise

CACHE = CodeCache("simulation", "compiled circuits")

_SOURCES = (
    "bit_grid.py",
    "builder.py",
    "emission.py",
    "native.py",
    "random_bits.py",
    "run_function.py",
    "schedule.py",
    "../circuit/evaluate.py",
)
"""The files that determine a circuit's code."""

MOST_GATES = 5000
"""Largest circuit to compile: LLVM's time grows with the square of its gates. On a busy core of a
Xeon, 719 gates took 1.4 s, 2311 took 7 s, and 7950 took 81 s."""

HERE_GATES = 300
"""Up to this size, compiling takes less time than starting a process."""


@dataclass(frozen=True, eq=False)
class Native:
    """A circuit's code, see `emission.py`. It is valid as long as this object lives."""

    run: Callable[[int, int], None]
    vector_words: int
    engine: Any


@cache
def vector_words() -> int:
    """Return how many words fit into this machine's widest vector registers: 8, 4 or 2."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


def compile_seconds(gates: int) -> float:
    """Estimate how long compiling takes, from the times at MOST_GATES."""
    return 0.2 + 1.2e-3 * gates + 1.1e-6 * gates**2


def native(circuit: Circuit) -> Native:
    """Return a circuit's machine code, from the cache or else compiled."""
    words = vector_words()
    name = cache_name(circuit, words)
    code = CACHE.read(name)
    if code is None:
        code = compile_code(circuit, words)
        CACHE.keep(name, code)
    return link(code, words)


def is_cached(circuit: Circuit) -> bool:
    """Return whether `native` would find this circuit in the cache."""
    return CACHE.read(cache_name(circuit, vector_words())) is not None


def cache_name(circuit: Circuit, words: int) -> str:
    """Return the name of a circuit's code in the cache."""
    parts = [
        f"{_program()} {words} {llvmlite.__version__} {llvm.llvm_version_info}",
        f"{_triple()} {llvm.get_host_cpu_name()} {_features()}",
        f"{circuit.channels}",
    ]
    key = hashlib.sha256("\n".join(parts).encode())
    for array in (circuit.op, circuit.a, circuit.b, circuit.outputs):
        key.update(array.astype("<i4").tobytes())
    return f"{key.hexdigest()[:40]}.native"


@cache
def _program() -> str:
    """Hash the sources, so that no cached code outlives an edit."""
    found = hashlib.sha256()
    for name in _SOURCES:
        found.update((Path(__file__).parent / name).read_bytes())
    return found.hexdigest()


def compile_code(circuit: Circuit, words: int) -> bytes:
    """Return the object code of a circuit, with vectors of `words` words."""
    from difflogic.simulation.emission import emit

    order = schedule(circuit)
    module = emit(order, words)
    return lower(module) if order.gates <= HERE_GATES else _lower_aside(module)


def lower(module: Any) -> bytes:
    """Return the object code of an llvmlite module."""
    return _lower_text(_assembly(module))


def _assembly(module: Any) -> str:
    module.triple = _triple()
    module.data_layout = str(_machine().target_data)
    return str(module)


def _lower_text(text: str) -> bytes:
    checked = llvm.parse_assembly(text)
    checked.verify()
    return bytes(_machine().emit_object(checked))


def _lower_aside(module: Any) -> bytes:
    """Do the same as `lower` in another process, which is killed if the work is stopped."""
    program = (
        f"import sys; from {__name__} import _lower_text\n"
        "code = _lower_text(sys.stdin.buffer.read().decode())\n"
        "sys.stdout.buffer.write(code)"
    )
    with TemporaryFile() as text, TemporaryFile() as code:
        text.write(_assembly(module).encode())
        text.seek(0)
        status = supervise(isolated(program), stdin=text, stdout=code, stderr=subprocess.DEVNULL)
        if status:
            raise TrainingError(
                "the compiler failed on this circuit, perhaps for lack of memory: use the "
                "interpreter"
            )
        code.seek(0)
        return code.read()


def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


def _triple() -> str:
    # On Windows, MCJIT loads only ELF.
    return str(llvm.get_process_triple()) + ("-elf" if sys.platform == "win32" else "")


def _features() -> str:
    return str(llvm.get_host_cpu_features().flatten())


def load(code: bytes) -> Any:
    """Return an engine with this object code; its functions are valid as long as it lives."""
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
    return Native(run, words, engine)


@cache
def yield_address() -> int:
    """Return the address of the system function that yields the core to other threads."""
    if sys.platform == "win32":
        function = ctypes.WinDLL("kernel32").SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0
