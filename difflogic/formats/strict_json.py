"""JSON read without trust: from a plain file, in bounded memory, without duplicate keys.

Parsed text can take many times its bytes: each `[]` in a list takes 64. So brackets and commas are
counted first, and text with more of them than the largest circuit has is refused. Anything else
takes less than 1 GiB; the largest circuit takes about a third of that.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from difflogic.system.errors import CircuitError, ConfigError
from difflogic.system.files import read_named
from difflogic.system.json_values import distinct

MAX_CHANNELS = 2**16
MAX_GATES = 2**20
ROWS = 2**31

MAX_TEXT_BYTES = 2**26
"""A circuit of MAX_GATES gates takes less."""

MAX_OBJECTS = MAX_GATES + 2**17
"""One per gate, and some around them."""

MAX_LISTS = 2**17
MAX_EXTRA_COMMAS = 2**18
"""Commas besides three for each object: a gate has two inside and one after it."""

Shrink = Callable[[dict[str, Any]], Any]
"""Turns a decoded object into a smaller value of the same meaning, or returns it unchanged."""


def read(path: Path, shrink: Shrink) -> Any:
    """Return what a JSON file holds. Raises CircuitError, naming the file and the place."""
    try:
        text = read_named(path, MAX_TEXT_BYTES, "a circuit")
    except ConfigError as error:
        raise CircuitError(str(error)) from None
    return decode(text, str(path), shrink)


def decode(text: bytes, source: str, shrink: Shrink) -> Any:
    """Return what JSON text holds; `source` names it in messages. Raises CircuitError."""
    _require_bounded(text, source)

    def make(pairs: list[tuple[str, Any]]) -> Any:
        return shrink(distinct(pairs))

    def refuse_constant(name: str) -> NoReturn:
        raise CircuitError(f"{source}: holds {name}, which is not a JSON number")

    try:
        # Letters beyond ASCII would make Python's text four times as large.
        return json.loads(
            text.decode("ascii"), object_pairs_hook=make, parse_constant=refuse_constant
        )
    except UnicodeDecodeError as error:
        raise CircuitError(
            f"{source}: byte {error.start} is not ASCII, as a circuit's JSON is: this is another "
            "kind of file, or in another encoding"
        ) from None
    except json.JSONDecodeError as error:
        raise CircuitError(f"{source}: {_explain(error)}") from None
    except ConfigError as error:
        raise CircuitError(f"{source}: {error}") from None
    except RecursionError:
        raise CircuitError(f"{source}: is nested too deeply: this is not a circuit") from None
    except ValueError:  # Python's limit on the digits of a number
        raise CircuitError(f"{source}: holds a number of thousands of digits") from None


def _require_bounded(text: bytes, source: str) -> None:
    objects = text.count(b"{")
    lists = text.count(b"[")
    commas = text.count(b",")
    most = 3 * objects + MAX_EXTRA_COMMAS
    if objects > MAX_OBJECTS or lists > MAX_LISTS or commas > most:
        raise CircuitError(
            f"{source}: holds {objects} objects, {lists} lists and {commas} commas, more than any "
            "circuit that this program accepts: it was not read"
        )


def _explain(error: json.JSONDecodeError) -> str:
    text = error.doc
    if not text.strip():
        return "is empty"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "ends too early, it is cut off: use another copy"
    if text.lstrip()[0] != "{":
        return (
            "is neither a model nor a circuit in JSON; dct import reads rules of Golly (.rule), too"
        )
    return f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg.lower()}"
