"""JSON read without trust: of a plain file, in bounded memory, with no key there twice.

A parsed text can take many times its bytes: each `[]` of a list takes 64. So the brackets and
commas are counted before anything is parsed, and more of them than the largest circuit has are
refused. What is left takes less than 1 GiB, and the largest circuit about a third of that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from difflogic.system.errors import CircuitError
from difflogic.system.files import open_plain

MAX_TEXT_BYTES = 2**26
"""No larger text is read: a circuit of the most gates that are accepted takes less."""

MAX_OBJECTS = 2**20 + 2**17
"""One per gate, and what the gates stand in."""

MAX_LISTS = 2**17
MAX_EXTRA_COMMAS = 2**18
"""Beyond three for each object: a gate has two inside and one behind it."""

_QUOTED = 60
"""Characters of the file that a message shows at most."""

Shrink = Callable[[dict[str, Any]], Any]
"""Turns a decoded object into something smaller that means the same, or returns it as it is."""


def read(path: Path, shrink: Shrink) -> Any:
    """Return what a JSON file holds. Raises CircuitError, naming the file and the place in it."""
    try:
        with open_plain(path) as file:
            text = file.read(MAX_TEXT_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise CircuitError(f"{path}: cannot be read: {reason.lower()}") from None
    return decode(text, str(path), shrink)


def decode(text: bytes, source: str, shrink: Shrink) -> Any:
    """Return what JSON text holds; `source` names it in messages. Raises CircuitError."""
    if len(text) > MAX_TEXT_BYTES:
        raise CircuitError(f"{source}: is larger than any circuit ({MAX_TEXT_BYTES} bytes)")
    _require_bounded(text, source)

    def make(pairs: list[tuple[str, Any]]) -> Any:
        made = dict(pairs)
        if len(made) < len(pairs):
            _refuse_twin(pairs, source)
        return shrink(made)

    def refuse_constant(name: str) -> NoReturn:
        raise CircuitError(f"{source}: holds {name}, which is not a JSON number")

    try:
        # Letters beyond ASCII would make Python's text four times as large.
        return json.loads(
            text.decode("ascii"), object_pairs_hook=make, parse_constant=refuse_constant
        )
    except UnicodeDecodeError as error:
        raise CircuitError(
            f"{source}: byte {error.start} is no ASCII, which is all that a circuit's JSON needs: "
            "this is another kind of file, or one in another encoding"
        ) from None
    except json.JSONDecodeError as error:
        raise CircuitError(f"{source}: {_explain(error)}") from None
    except RecursionError:
        raise CircuitError(f"{source}: is nested too deeply: this is not a circuit") from None
    except ValueError:  # Python's limit on the digits of a number
        raise CircuitError(f"{source}: holds a number of thousands of digits") from None


def _require_bounded(text: bytes, source: str) -> None:
    objects, lists, commas = text.count(b"{"), text.count(b"["), text.count(b",")
    most = 3 * objects + MAX_EXTRA_COMMAS
    if objects > MAX_OBJECTS or lists > MAX_LISTS or commas > most:
        raise CircuitError(
            f"{source}: holds {objects} objects, {lists} lists and {commas} commas, more than any "
            "circuit that this program accepts: it was not read"
        )


def _refuse_twin(pairs: list[tuple[str, Any]], source: str) -> NoReturn:
    counts = Counter(key for key, _ in pairs)
    twin = next(key for key, count in counts.items() if count > 1)
    shown = shorten(json.dumps(dict(pairs[:3]), default=lambda _: "…"))
    raise CircuitError(
        f'{source}: key "{shorten(twin)}" occurs twice in the object that starts with {shown}'
    )


def _explain(error: json.JSONDecodeError) -> str:
    text = error.doc
    if not text.strip():
        return "is empty"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "ends too early, it is cut off: use another copy"
    if text.lstrip()[0] != "{":
        return "is neither a model nor a circuit in JSON"
    return f"is no JSON: line {error.lineno}, column {error.colno}: {error.msg.lower()}"


def shorten(text: str) -> str:
    """Cut what a message quotes of a file."""
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def show(value: Any) -> str:
    """Return a decoded value as a message shows it."""
    match value:
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case int() if abs(value) > 10**20:
            return "a number of more than 20 digits"
        case _:
            return shorten(json.dumps(value))
