"""Circuits as WebAssembly: the machine code of `simulation`, made for browsers by the same LLVM.

It is compared with that code, which is compared with `evaluate.py`.

LLVM emits an object file for a linker. If nothing needs linking, its indices are final, and it
becomes a module by dropping the custom sections and adding one that lists the exports. So neither
clang nor a linker is needed. Source: the WebAssembly core specification, chapter "Binary format",
and the tool conventions' "Linking".
"""

from __future__ import annotations

from collections.abc import Sequence

import llvmlite.binding as llvm

from difflogic.circuit.circuit import Circuit
from difflogic.simulation.emission import emit
from difflogic.simulation.schedule import schedule
from difflogic.system.errors import CircuitError

VECTOR_WORDS = 2
"""Words of 64 cells in a WebAssembly vector."""

EXPORTED = ("run", "fill")
HEAD = b"\0asm\1\0\0\0"
IMPORTS = b"\2\3env\x0f__linear_memory\2\0\0\3env\x19__indirect_function_table\1p\0\0"
"""What an object imports that needs no linking: a memory and a table, but no function."""

_TRIPLE = "wasm32-unknown-unknown"
# numbers of sections
_CUSTOM = 0
_IMPORT = 2
_EXPORT = 7
_DATA = 11


def leb128(value: int) -> bytes:
    """Encode a number >= 0: seven bits per byte, lowest first; the eighth bit means more follow."""
    found = bytearray()
    while value >= 0x80:
        found.append(0x80 | value & 0x7F)
        value >>= 7
    return bytes([*found, value])


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
    functions = [each.name for each in checked.functions if not each.is_declaration]
    return linked(machine.emit_object(checked), functions)


def linked(code: bytes, functions: Sequence[str]) -> bytes:
    """Turn an object file, which has these functions in order, into a module with exports.

    Raises CircuitError if the object needs linking because it calls a function of another object or
    has data.
    """
    sections = {}
    place = len(HEAD)
    while place < len(code):
        number = code[place]
        size, place = _number(code, place + 1)
        if number != _CUSTOM:
            sections[number] = code[place : place + size]
        place += size
    if sections.get(_IMPORT) != IMPORTS or _DATA in sections:
        raise CircuitError("the circuit cannot run in the page: LLVM's code needs linking")
    exports = leb128(len(EXPORTED))
    for name in EXPORTED:
        exports += leb128(len(name)) + name.encode() + b"\0" + leb128(functions.index(name))
    sections[_EXPORT] = exports
    return HEAD + b"".join(
        bytes([number]) + leb128(len(content)) + content
        for number, content in sorted(sections.items())
    )


def _number(code: bytes, place: int) -> tuple[int, int]:
    """Return the number at a place, as written by `leb128`, and the place after it."""
    value = 0
    shift = 0
    while code[place] >= 0x80:
        value |= (code[place] & 0x7F) << shift
        shift += 7
        place += 1
    return value | code[place] << shift, place + 1
