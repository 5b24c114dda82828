"""From what LLVM emits for WebAssembly, an object for a linker, to a module that runs as it is.

An object's sections are those of a module, its indices are final where nothing is to be linked, and
what a linker would need stands in custom sections. Without those, and with the section that says
what is exported, it is a module. Source: the WebAssembly core specification, chapter "Binary
format", and the tool conventions' "Linking".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from difflogic.system.errors import CircuitError

HEAD = b"\0asm\1\0\0\0"

_SYMBOL_TABLE = 8
_UNDEFINED, _EXPLICIT_NAME = 0x10, 0x40


class Section(IntEnum):
    """Numbers of sections, in the order in which they have to stand, but for CUSTOM."""

    CUSTOM = 0
    TYPE = 1
    IMPORT = 2
    FUNCTION = 3
    TABLE = 4
    MEMORY = 5
    GLOBAL = 6
    EXPORT = 7
    START = 8
    ELEMENT = 9
    CODE = 10
    DATA = 11


class Symbol(IntEnum):
    """Kinds of symbols in an object's table."""

    FUNCTION = 0
    DATA = 1
    GLOBAL = 2
    SECTION = 3
    EVENT = 4
    TABLE = 5


@dataclass(frozen=True)
class Part:
    """A section, without its number and its length."""

    section: Section
    content: bytes


def export(code: bytes, names: Sequence[str]) -> bytes:
    """Return an object as a module that exports these of its functions.

    Raises CircuitError if one is missing, or if the object needs a function of somebody else's or
    data of its own, which would have to be placed.
    """
    parts = list(sections(code))
    functions = _functions(parts)
    missing = [name for name in names if name not in functions]
    if missing or any(part.section is Section.DATA for part in parts):
        wanted = f"the function {missing[0]} is missing" if missing else "it has data of its own"
        raise CircuitError(f"LLVM's code for WebAssembly cannot be used as it is: {wanted}")
    entries = [_text(name) + b"\0" + leb(functions[name]) for name in names]
    exports = Part(Section.EXPORT, leb(len(entries)) + b"".join(entries))
    kept = [part for part in parts if part.section is not Section.CUSTOM]
    ordered = sorted([*kept, exports], key=lambda part: part.section)
    return HEAD + b"".join(
        bytes([part.section]) + leb(len(part.content)) + part.content for part in ordered
    )


def sections(code: bytes) -> Iterator[Part]:
    """Yield the sections of an object or a module."""
    if not code.startswith(HEAD):
        raise CircuitError("LLVM's code for WebAssembly does not begin as such code does")
    reader = Reader(code, len(HEAD))
    while reader.at < len(code):
        section = Section(reader.byte())
        yield Part(section, reader.take(reader.leb()))


class Reader:
    """Reads bytes from the front."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self.content, self.at = content, at

    def byte(self) -> int:
        """Return the next byte."""
        return self.take(1)[0]

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        found = self.content[self.at : self.at + count]
        if len(found) < count:
            raise CircuitError("LLVM's code for WebAssembly ends too early")
        self.at += count
        return found

    def leb(self) -> int:
        """Return the next number, seven bits to a byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def text(self) -> str:
        """Return the next text, which its length stands before."""
        return self.take(self.leb()).decode()


def leb(value: int) -> bytes:
    """Return a number, 0 or more, as `Reader.leb` reads it."""
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _text(value: str) -> bytes:
    content = value.encode()
    return leb(len(content)) + content


def _functions(parts: Sequence[Part]) -> dict[str, int]:
    """Return the numbers of the functions that an object defines, by name."""
    found: dict[str, int] = {}
    for part in parts:
        reader = Reader(part.content)
        if part.section is not Section.CUSTOM or reader.text() != "linking":
            continue
        reader.leb()  # the version of the conventions
        while reader.at < len(part.content):
            kind, length = reader.byte(), reader.leb()
            content = reader.take(length)
            if kind == _SYMBOL_TABLE:
                found.update(_symbols(Reader(content)))
    return found


def _symbols(reader: Reader) -> Iterator[tuple[str, int]]:
    for _ in range(reader.leb()):
        kind, flags = Symbol(reader.byte()), reader.leb()
        if kind is Symbol.DATA:
            raise CircuitError("LLVM's code for WebAssembly has data of its own")
        index = reader.leb()
        if kind is Symbol.SECTION:
            continue
        name = "" if flags & _UNDEFINED and not flags & _EXPLICIT_NAME else reader.text()
        if kind is Symbol.FUNCTION:
            if flags & _UNDEFINED:
                raise CircuitError("LLVM's code for WebAssembly needs a function from elsewhere")
            yield name, index
