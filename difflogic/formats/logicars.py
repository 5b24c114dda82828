"""The hard circuits of logicars, a port of differentiable logic automata to Rust.

Its file is what serde makes of the structs in rplsmn/logicars, src/circuit.rs:

    {"perception": {"kernels": [{"layers": [{"gates": [{"op", "wire_a", "wire_b"}, …]}, …],
                                 "input_size": 9}, …], "channels": C},
     "update": {"layers": …, "input_size": …, "output_size": C}, "channels": C}

All keys are required, others are ignored, and all numbers are unsigned. `op` is an index into
`BinaryOp::ALL` of src/phase_0_1.rs (later src/gates.rs), which has our order of ops. The first
version wrote the enum's own numbers, its truth tables, and read them as indices all the same. So do
we, since such files cannot be told from others. Both circuits in logicars' repository,
checkerboard_model.json and checkerboard_async.json, hold indices.

Wires count the outputs of the layer before. Each kernel sees the 9 cells of one channel, row by
row, and is applied to every channel. The update circuit reads [the centre's C channels] ++
[perception, ordered by channel, then output bit, then kernel], as ours does. The file says nothing
about grids; logicars puts zeros beyond the edge (`HardCircuit::step`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import OPS
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.formats.strict_json import MAX_CHANNELS, MAX_GATES, ROWS
from difflogic.system.array_types import Int64s
from difflogic.system.errors import CircuitError, shown

GateRows = Int64s
"""Shape (3, gates): op, wire_a and wire_b of each gate."""

_GATE_KEYS = ("op", "wire_a", "wire_b")


def shrink(decoded: dict[str, Any]) -> Any:
    """Return a valid gate as (op, wire_a, wire_b), a third of its size; anything else unchanged."""
    gate: tuple[Any, ...] = tuple(decoded.get(key) for key in _GATE_KEYS)
    valid = all(type(number) is int and 0 <= number < ROWS for number in gate)
    return gate if valid and gate[0] < OPS else decoded


def parse(data: Any, source: str) -> Circuit:
    """Return the circuit of decoded JSON that looks like one. Raises CircuitError with `source`."""
    try:
        return _circuit(data)
    except CircuitError as error:
        raise CircuitError(f"{source}: {error}") from None


def _circuit(data: dict[str, Any]) -> Circuit:
    channels = _number(data, "channels", "the circuit", MAX_CHANNELS)
    perception = _object(data["perception"], "perception")
    _require(perception, "channels", "perception", channels, "as the circuit says")
    kernels = [
        _kernel(kernel, f"perception, kernel {place}")
        for place, kernel in enumerate(_list(perception, "kernels", "perception"))
    ]
    bits = kernels[0][-1].shape[1]
    for place, layers in enumerate(kernels):
        if layers[-1].shape[1] != bits:
            raise CircuitError(
                f"perception, kernel {place}: has {layers[-1].shape[1]} outputs, and kernel 0 has "
                f"{bits}: all kernels need the same number"
            )
    part = _object(data["update"], "update")
    inputs = channels + channels * bits * len(kernels)
    reason = f"{channels} of the centre, and {bits} from {len(kernels)} kernels for each channel"
    _require(part, "input_size", "update", inputs, reason)
    _require(part, "output_size", "update", channels, "one for each channel")
    update = _layers(part, inputs, "update")
    if update[-1].shape[1] != channels:
        raise CircuitError(
            f"update: the last layer has {update[-1].shape[1]} gates: it needs {channels}, one for "
            "each channel's next state"
        )
    copies = sum(layer.shape[1] for layers in kernels for layer in layers)
    gates = channels * copies + sum(layer.shape[1] for layer in update)
    if gates > MAX_GATES:
        raise CircuitError(f"{gates} gates per cell are more than the {MAX_GATES} allowed")
    return _flatten(channels, kernels, update)


def _kernel(data: Any, place: str) -> list[GateRows]:
    kernel = _object(data, place)
    _require(kernel, "input_size", place, NEIGHBORHOOD, "the cells that it sees")
    return _layers(kernel, NEIGHBORHOOD, place)


def _layers(part: dict[str, Any], inputs: int, place: str) -> list[GateRows]:
    """Return the layers of a kernel or of the update circuit, which has `inputs` inputs."""
    found = []
    for number, layer in enumerate(_list(part, "layers", place)):
        here = f"{place}, layer {number}"
        gates = _list(_object(layer, here), "gates", here)
        for index, gate in enumerate(gates):
            if type(gate) is not tuple:
                gates[index] = _gate(gate, f"{here}, gate {index}")
        found.append(np.array(gates, np.int64).T)
        for name, wires in zip(_GATE_KEYS[1:], found[-1][1:], strict=True):
            wrong = np.flatnonzero(wires >= inputs)
            if len(wrong):
                raise CircuitError(
                    f'{here}, gate {wrong[0]}: "{name}" is {wires[wrong[0]]}, and the layer has '
                    f"inputs 0 to {inputs - 1}"
                )
        inputs = len(gates)
    return found


def _gate(data: Any, place: str) -> tuple[int, int, int]:
    """Return a gate as `shrink` does. Raises CircuitError if it is not valid."""
    gate = _object(data, place)
    op = _number(gate, "op", place, OPS - 1, smallest=0)
    a, b = (_number(gate, key, place, ROWS - 1, smallest=0) for key in _GATE_KEYS[1:])
    return op, a, b


def _flatten(
    channels: int, kernels: Sequence[Sequence[GateRows]], update: Sequence[GateRows]
) -> Circuit:
    """Return the circuit of one cell, with a copy of each kernel for each channel."""
    parts: list[GateRows] = []
    next_row = NEIGHBORHOOD * channels

    def add(layers: Sequence[GateRows], rows: GateRows) -> GateRows:
        """Add a copy of `layers` for each column of their inputs `rows`, (inputs, copies).

        Returns the rows of the outputs, (gates of the last layer, copies).
        """
        nonlocal next_row
        copies = rows.shape[1]
        for op, a, b in layers:
            parts.append(np.stack([np.repeat(op, copies), rows[a].ravel(), rows[b].ravel()]))
            rows = next_row + np.arange(len(op) * copies).reshape(-1, copies)
            next_row += rows.size
        return rows

    seen = np.arange(next_row).reshape(NEIGHBORHOOD, channels)
    perceived = np.stack([add(layers, seen) for layers in kernels])
    # From (kernel, output bit, channel) to the order in which the update circuit reads.
    rows = np.concatenate([seen[CENTER], perceived.transpose(2, 1, 0).ravel()])
    outputs = add(update, rows[:, None])[:, 0]
    op, a, b = np.concatenate(parts, axis=1)
    return Circuit(op, a, b, outputs.astype(np.int32), tuple(range(channels)))


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CircuitError(f"{place}: must be an object, not {shown(value)}")
    return value


def _value(data: dict[str, Any], key: str, place: str) -> Any:
    if key not in data:
        raise CircuitError(f'{place}: key "{key}" is missing')
    return data[key]


def _list(data: dict[str, Any], key: str, place: str) -> list[Any]:
    value = _value(data, key, place)
    if not isinstance(value, list) or not value:
        raise CircuitError(f'{place}: "{key}" must be a list of at least one, not {shown(value)}')
    return value


def _number(data: dict[str, Any], key: str, place: str, largest: int, smallest: int = 1) -> int:
    value = _value(data, key, place)
    if type(value) is not int or not smallest <= value <= largest:
        raise CircuitError(
            f'{place}: "{key}" must be a whole number from {smallest} to {largest}, not '
            f"{shown(value)}"
        )
    return value


def _require(data: dict[str, Any], key: str, place: str, expected: int, reason: str) -> None:
    if _number(data, key, place, ROWS - 1) != expected:
        raise CircuitError(f'{place}: "{key}" must be {expected}, {reason}, not {data[key]}')
