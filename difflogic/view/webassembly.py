"""Circuits as WebAssembly: the machine code of `simulation`, made for browsers by the same LLVM.

It is compared with that code, which is compared with `evaluate.py`.

LLVM emits an object file for a linker. If nothing needs linking, its indices are final, and it
becomes a module by dropping the custom sections and adding one that lists the exports. So neither
clang nor a linker is needed. Source: the WebAssembly core specification, chapter "Binary format",
and the tool conventions' "Linking".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import llvmlite.binding as llvm

from difflogic.circuit.circuit import Circuit
from difflogic.formats.notation import leb128
from difflogic.simulation.emission import emit
from difflogic.simulation.schedule import schedule
from difflogic.system.errors import CircuitError

VECTOR_WORDS = 2
"""Words of 64 cells in a WebAssembly vector."""

HEAD = b"\0asm\1\0\0\0"

_TRIPLE = "wasm32-unknown-unknown"
# numbers of sections
_CUSTOM = 0
_EXPORT = 7
_DATA = 11
_SYMBOL_TABLE = 8
_FUNCTION_SYMBOL = 0
_DATA_SYMBOL = 1
_SECTION_SYMBOL = 3
_UNDEFINED = 0x10
_EXPLICIT_NAME = 0x40


def compile_module(circuit: Circuit) -> bytes:
    """Return a module that simulates a circuit. Equal circuits give equal bytes.

    It exports `run` and `fill` (see `simulation.emission`), and imports the memory
    `env.__linear_memory` and the table `env.__indirect_function_table`. The memory has the layout
    of `simulation.bit_grid`, so the bits are those of `dct simulate`. Addresses and numbers have 64
    bits, as in `simulation.run_function`. With one thread `Field.YIELD` is not called.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu="generic", features="+simd128", opt=3, reloc="static", codemodel="default"
    )
    module = emit(schedule(circuit), VECTOR_WORDS)
    module.triple = _TRIPLE
    module.data_layout = str(machine.target_data)
    checked = llvm.parse_assembly(str(module))
    checked.verify()
    return export(machine.emit_object(checked), ("run", "fill"))


def export(code: bytes, names: Sequence[str]) -> bytes:
    """Turn an object file into a module that exports the functions `names`.

    Raises CircuitError if one is missing, or if the object needs linking because it calls a
    function of another object or has data.
    """
    sections = list(_sections(code))
    functions = _functions(sections)
    missing = [name for name in names if name not in functions]
    if missing:
        raise _unusable(f"the function {missing[0]} is missing")
    if any(number == _DATA for number, _ in sections):
        raise _unusable("it has data")
    exports = leb128(len(names))
    for name in names:
        exports += leb128(len(name)) + name.encode() + b"\0" + leb128(functions[name])
    kept = [(number, content) for number, content in sections if number != _CUSTOM]
    ordered = sorted([*kept, (_EXPORT, exports)], key=lambda section: section[0])
    return HEAD + b"".join(
        bytes([number]) + leb128(len(content)) + content for number, content in ordered
    )


def _sections(code: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each section's number and content."""
    if not code.startswith(HEAD):
        raise _unusable("it has another beginning")
    reader = _Reader(code[len(HEAD) :])
    while reader.content:
        yield reader.byte(), reader.take(reader.leb128())


class _Reader:
    """Reads from the front of `content`."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def take(self, count: int) -> bytes:
        found, self.content = self.content[:count], self.content[count:]
        if len(found) < count:
            raise _unusable("it ends too early")
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def leb128(self) -> int:
        """Return the next number, as written by `leb128`."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self) -> str:
        return self.take(self.leb128()).decode()


def _functions(sections: Sequence[tuple[int, bytes]]) -> dict[str, int]:
    """Return the functions that an object defines: their numbers by name."""
    found: dict[str, int] = {}
    for number, content in sections:
        reader = _Reader(content)
        if number != _CUSTOM or reader.text() != "linking":
            continue
        reader.leb128()  # the version of the conventions
        while reader.content:
            kind = reader.byte()
            part = reader.take(reader.leb128())
            if kind == _SYMBOL_TABLE:
                found.update(_function_symbols(_Reader(part)))
    return found


def _function_symbols(reader: _Reader) -> Iterator[tuple[str, int]]:
    for _ in range(reader.leb128()):
        kind = reader.byte()
        flags = reader.leb128()
        if kind == _DATA_SYMBOL:
            raise _unusable("it has data")
        index = reader.leb128()
        if kind == _SECTION_SYMBOL:
            continue
        name = "" if flags & _UNDEFINED and not flags & _EXPLICIT_NAME else reader.text()
        if kind == _FUNCTION_SYMBOL:
            if flags & _UNDEFINED:
                raise _unusable("it calls a function of another object")
            yield name, index


def _unusable(why: str) -> CircuitError:
    return CircuitError(f"LLVM's code for WebAssembly cannot be used: {why}")
