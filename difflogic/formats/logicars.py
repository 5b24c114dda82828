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
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import OPS
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.formats.strict_json import MAX_CHANNELS, MAX_GATES, ROWS
from difflogic.system.array_types import Int64s
from difflogic.system.errors import CircuitError, in_plain_words, shown

GateRows = Int64s
"""Shape (3, gates): op, wire_a and wire_b of each gate."""

Wire = Annotated[int, Field(ge=0, lt=ROWS)]
_GATE_KEYS = ("op", "wire_a", "wire_b")


def shrink(decoded: dict[str, Any]) -> Any:
    """Return a valid gate as (op, wire_a, wire_b), a third of its size; anything else unchanged."""
    gate: tuple[Any, ...] = tuple(decoded.get(key) for key in _GATE_KEYS)
    valid = all(type(number) is int and 0 <= number < ROWS for number in gate)
    return gate if valid and gate[0] < OPS else decoded


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Gate(_Read):
    op: Annotated[int, Field(ge=0, lt=OPS)]
    wire_a: Wire
    wire_b: Wire


class _Layer(_Read):
    gates: Annotated[list[Any], Field(min_length=1)]
    """What `shrink` makes of them."""


class _Layered(_Read):
    layers: Annotated[list[_Layer], Field(min_length=1)]
    input_size: int


class _Update(_Layered):
    output_size: int


class _Perception(_Read):
    kernels: Annotated[list[_Layered], Field(min_length=1)]
    channels: int


class _File(_Read):
    perception: _Perception
    update: _Update
    channels: Annotated[int, Field(ge=1, le=MAX_CHANNELS)]


def parse(data: Any, source: str) -> Circuit:
    """Return the circuit of decoded JSON that looks like one. Raises CircuitError with `source`."""
    try:
        return _circuit(_File.model_validate(data))
    except ValidationError as error:
        raise CircuitError(f"{source}: {_explained(error)}") from None
    except CircuitError as error:
        raise CircuitError(f"{source}: {error}") from None


def _explained(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ", ".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{place}: is missing"
    return f"{place}: {in_plain_words(first['msg'])}, not {shown(first['input'])}"


def _circuit(data: _File) -> Circuit:
    channels = data.channels
    perception = data.perception
    _require(perception.channels, channels, "perception, channels", "as the circuit says")
    kernels = []
    for number, kernel in enumerate(perception.kernels):
        place = f"perception, kernels, {number}"
        _require(kernel.input_size, NEIGHBORHOOD, f"{place}, input_size", "the cells that it sees")
        kernels.append(_layers(kernel, place))
    bits = kernels[0][-1].shape[1]
    for number, layers in enumerate(kernels):
        if layers[-1].shape[1] != bits:
            raise CircuitError(
                f"perception, kernels, {number}: has {layers[-1].shape[1]} outputs, and kernel 0 "
                f"has {bits}: all kernels need the same number"
            )
    part = data.update
    inputs = channels + channels * bits * len(kernels)
    reason = f"{channels} of the centre, and {bits} from {len(kernels)} kernels for each channel"
    _require(part.input_size, inputs, "update, input_size", reason)
    _require(part.output_size, channels, "update, output_size", "one for each channel")
    update = _layers(part, "update")
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


def _require(value: int, expected: int, place: str, reason: str) -> None:
    if value != expected:
        raise CircuitError(f"{place}: must be {expected}, {reason}, not {value}")


def _layers(part: _Layered, place: str) -> list[GateRows]:
    """Return the layers of a kernel or of the update circuit."""
    inputs = part.input_size
    found = []
    for number, layer in enumerate(part.layers):
        here = f"{place}, layers, {number}"
        gates = layer.gates
        for index, gate in enumerate(gates):
            if type(gate) is not tuple:
                try:
                    valid = _Gate.model_validate(gate)
                except ValidationError as error:
                    raise CircuitError(f"{here}, gates, {index}, {_explained(error)}") from None
                gates[index] = valid.op, valid.wire_a, valid.wire_b
        found.append(np.array(gates, np.int64).T)
        for name, wires in zip(_GATE_KEYS[1:], found[-1][1:], strict=True):
            wrong = np.flatnonzero(wires >= inputs)
            if len(wrong):
                raise CircuitError(
                    f"{here}, gates, {wrong[0]}, {name}: is {wires[wrong[0]]}, and the layer has "
                    f"inputs 0 to {inputs - 1}"
                )
        inputs = len(gates)
    return found


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
