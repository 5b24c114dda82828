"""dct's own file of a circuit, which `write_circuit` writes, read back without trust.

docs/circuit-file.md says what the file means.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats import circuit_file, read_logicars, strict_json
from difflogic.formats.circuit_file import MAX_GATES, ROWS, CircuitFile, Gate, Head, explain
from difflogic.formats.strict_json import show
from difflogic.model.automaton import Automaton
from difflogic.system.errors import CircuitError

_NUMBERS = {op.name: int(op) for op in Op}


def read_circuit(path: Path) -> Automaton:
    """Return the automaton in a file. Raises CircuitError, which names the file and the place."""
    return parse(strict_json.read(path, shrink), str(path))


_GATE_KEYS = {"op", "a", "b"}


def shrink(decoded: dict[str, Any]) -> Any:
    """Return a right gate as (op's number, a, b), a third of its size; all else as it is."""
    if decoded.keys() == _GATE_KEYS:
        op, a, b = decoded["op"], decoded["a"], decoded["b"]
        if type(op) is str and op in _NUMBERS and _is_row(a) and _is_row(b):
            return _NUMBERS[op], a, b
    return decoded


def parse(data: Any, source: str) -> Automaton:
    """Return the automaton that decoded JSON describes. Raises CircuitError, naming `source`."""
    if not isinstance(data, dict) or data.get("format") != circuit_file.FORMAT:
        theirs = ": it looks like one of logicars, which dct import turns into one"
        raise CircuitError(
            f"{source}: is JSON, but not a circuit saved by dct"
            f"{theirs if read_logicars.looks_like(data) else ''}"
        )
    version = data.get("version")
    if type(version) is int and version > circuit_file.VERSION:
        raise CircuitError(
            f"{source}: has format version {show(version)}, but this program reads up to "
            f"{circuit_file.VERSION}: install a newer dct"
        )
    try:
        head = Head.model_validate({key: data[key] for key in data if key != "gates"})
        op, a, b = _gates(data)
        circuit = Circuit(
            op.astype(np.uint8), a, b, np.array(head.outputs, np.int32), tuple(head.channels)
        )
        return Automaton(
            head.name,
            circuit,
            tuple(head.visible),
            head.boundary,
            head.height,
            head.width,
            head.steps,
            head.fire_rate,
            head.start,
        )
    except ValidationError as error:
        raise CircuitError(f"{source}: {explain(error, CircuitFile)}") from None
    except CircuitError as error:
        raise CircuitError(f"{source}: {error}") from None


def _gates(data: dict[str, Any]) -> npt.NDArray[np.int64]:
    """Return the numbers of ops, rows a and rows b of the gates, shape (3, gates)."""
    if "gates" not in data:
        raise CircuitError('key "gates" is missing: the list of gates')
    gates = data["gates"]
    if not isinstance(gates, list):
        raise CircuitError(f'"gates" must be a list, not {show(gates)}')
    if len(gates) > MAX_GATES:
        raise CircuitError(f"{len(gates)} gates are more than the {MAX_GATES} that are accepted")
    shrunk = [
        gate if type(gate) is tuple else _shrunk(gate, place) for place, gate in enumerate(gates)
    ]
    return np.array(shrunk, np.int64).reshape(-1, 3).T


def _shrunk(gate: Any, place: int) -> tuple[int, int, int]:
    """Return a gate as `shrink` does. Raises CircuitError if it is not valid."""
    if not isinstance(gate, dict):
        raise CircuitError(f'gate {place}: must be an object with "op", "a", "b", not {show(gate)}')
    try:
        valid = Gate.model_validate(gate)
    except ValidationError as error:
        raise CircuitError(f"gate {place}: {explain(error, Gate)}") from None
    return _NUMBERS[valid.op], valid.a, valid.b


def _is_row(value: Any) -> bool:
    return type(value) is int and 0 <= value < ROWS
