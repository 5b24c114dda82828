"""Signs on streams that cannot hold them.

A stream whose encoding lacks one of `SIGNS` gets ASCII: what stands for them there, and for all
else its number, as TOML and JSON read it. Nothing becomes a question mark.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

SIGNS = {
    "¬": "~",
    "∧": "&",
    "∨": "|",
    "⊕": "^",
    "×": "x",
    "→": "->",
    "…": "...",
    "·": "|",
    "–": "-",
    "’": "'",
    "°": " degrees",
    "━": "=",
    "─": "-",
    "█": "#",
    "▓": "=",
    "▒": "-",
    "░": ".",
}
"""What commands print beyond ASCII, and what stands for it."""

NAME = "signs"
"""Of our codec. Click takes a stream that calls itself ASCII for one that means UTF-8."""


def shows(stream: Any) -> bool:
    """Return whether a stream's encoding has all `SIGNS`."""
    try:
        "".join(SIGNS).encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return bool(stream.encoding != NAME)


def encoded(stream: Any) -> tuple[str, str]:
    """Return the encoding, and its handling of errors, with which a stream loses nothing."""
    codecs.register(_find)
    return stream.encoding if shows(stream) else NAME, "backslashreplace"


def in_ascii(text: str) -> str:
    """Return a text in which nothing is beyond ASCII."""
    return re.sub("[^\0-\x7f]", _replaced, text)


def _replaced(found: re.Match[str]) -> str:
    number = ord(found[0])
    return SIGNS.get(found[0]) or (f"\\u{number:04x}" if number < 2**16 else f"\\U{number:08x}")


class _Encoder(codecs.IncrementalEncoder):
    def encode(self, text: str, final: bool = False) -> bytes:
        return in_ascii(text).encode()


def _encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    return in_ascii(text).encode(), len(text)


def _find(name: str) -> codecs.CodecInfo | None:
    if name != NAME:
        return None
    reader = codecs.lookup("ascii")
    return codecs.CodecInfo(
        _encode, reader.decode, None, None, _Encoder, reader.incrementaldecoder, NAME
    )
