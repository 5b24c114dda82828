"""dct's own file of a circuit, as JSON: its keys, and how it is written and read without trust.

docs/circuit.schema.json is made from `CircuitFile`; docs/circuit-file.md explains the keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from difflogic.circuit.automaton import Automaton, Blocks
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.colors import hex_color, parse_color
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import CENTER
from difflogic.formats import strict_json
from difflogic.formats.strict_json import MAX_CHANNELS, MAX_GATES, ROWS
from difflogic.system.array_types import Int64s
from difflogic.system.errors import CircuitError, did_you_mean, shorten, shown
from difflogic.system.json_schema import HexColor, phrase

FORMAT = "dct-circuit"
BY_CHANCE = "is a rule by chance, and has no gates: only dct simulate and dct render run it"
VERSION = 1
"""Goes up when earlier programs can no longer read the file."""

NAME_LENGTH = 64

RowNumber = Annotated[int, Field(ge=0, lt=ROWS)]
SideLength = Annotated[int, Field(ge=1, le=65536)]
Label = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
Bit = Annotated[int, Field(ge=0, le=1, strict=True)]
OpName: Any = Literal[tuple(op.name for op in Op)]

Parse = Callable[[Any, str], Automaton]
"""From decoded JSON and the name of its file."""

_NAMES = [op.name for op in Op]
_NUMBERS = {op.name: int(op) for op in Op}
_GATE_KEYS = {"op", "a", "b"}
_SHARED = ("name", "boundary", "height", "width", "steps", "fire_rate", "start")
"""Keys that stand for the automaton's attributes of the same names."""
_LISTS = ("before", "held", "parts")
"""The same, of optional lists."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Gate(_Section):
    """A gate: it writes the row after those of the inputs and of the gates before it."""

    op: OpName = Field(description="function of the inputs a and b")
    a: RowNumber = Field(description="row of the first input")
    b: RowNumber = Field(description="row of the second input; any lower row if op ignores it")


PartName = Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
Symbol = Annotated[str, Field(min_length=1, max_length=41)]
_NAMED = "inside|filled|another|odd|largest|(this|single)(-right|-left)?|single-(right|left)-2"
Feature = Annotated[
    str,
    Field(
        pattern=rf"^({_NAMED}|=.{{1,40}})$",
        json_schema_extra={"accepted": "= and a symbol, or a feature such as inside or this-left"},
    ),
]


class EncodingSection(_Section):
    """What the channels say of a grid's symbols, one after the other."""

    symbols: Annotated[tuple[Symbol, ...], Field(strict=False, min_length=2, max_length=16)] = (
        Field(description="the symbols' names, by their numbers")
    )
    background: Annotated[int, Field(ge=0, le=15)] = Field(
        description="number of the symbol around everything"
    )
    features: Annotated[tuple[Feature, ...], Field(strict=False, max_length=24)] = Field(
        description="what the first channels say of each cell, and keep or carry on"
    )
    outputs: Annotated[tuple[Feature, ...], Field(strict=False, min_length=1, max_length=16)] = (
        Field(description="what the next channels should say in the end")
    )

    @model_validator(mode="after")
    def _require_names(self) -> EncodingSection:
        named = [each[1:] for each in (*self.features, *self.outputs) if each.startswith("=")]
        if not {*named} <= {*self.symbols} or self.background >= len(self.symbols):
            raise ValueError("names a symbol that is not among symbols")
        return self


class Head(_Section):
    """Everything in the file but its gates."""

    format: Literal["dct-circuit"] = Field(description="identifies the format")
    version: Annotated[int, Field(ge=1, le=VERSION)] = Field(description="version of this format")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=NAME_LENGTH)] = (
        Field(
            description="name of the automaton",
            json_schema_extra={
                "accepted": "1 to 64 letters, digits, - and _, starting with a letter or digit"
            },
        )
    )
    boundary: Literal["zero", "periodic"] = Field(
        description="what lies beyond the grid's edge: cells of zeros, or the opposite edge"
    )
    height: SideLength = Field(description="rows of the training grid, in cells")
    width: SideLength = Field(description="columns of the training grid, in cells")
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        description="steps after which training expects the right state"
    )
    fire_rate: Annotated[float, Field(gt=0, le=1)] = Field(
        description="probability that a cell takes its new state in a step; 1 is synchronous"
    )
    start: Literal["random", "center", "zeros"] = Field(
        description="the state before step 1: random bits, one cell of ones in the middle of "
        "zeros, or zeros alone"
    )
    channels: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="number of each channel in training; all are different",
        json_schema_extra={"uniqueItems": True},
    )
    visible: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="numbers of the channels that the automaton is judged by",
        json_schema_extra={"uniqueItems": True},
    )
    outputs: Annotated[list[RowNumber], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="row of each channel's next state"
    )
    palette: Annotated[list[HexColor], Field(max_length=16)] = Field(
        default=[],
        description="optional: a colour for each number that the visible bits give; the first "
        "channel is the lowest bit",
    )
    encoding: EncodingSection | None = Field(
        default=None,
        description="optional: what the channels say of a grid's symbols, for dct apply",
    )
    blocks: Annotated[tuple[Label, Label, Bit, Bit], Field(strict=False)] | None = Field(
        default=None,
        description="optional, of a rule by blocks: the numbers of two channels that start as a "
        "cell's row and column in its block of 2×2, and those of the grid's first cell, 0 or 1",
    )
    held: Annotated[tuple[Label, ...], Field(strict=False, max_length=MAX_CHANNELS)] = Field(
        default=(),
        description="optional: the numbers of channels that keep what they hold, an input",
    )
    parts: Annotated[tuple[PartName, ...], Field(strict=False, max_length=16)] = Field(
        default=(),
        description="optional: names of what was joined; the held channels have the bits of the "
        "number of the part that a cell shows, from 0, the first channel the lowest",
    )
    before: Annotated[tuple[Label, ...], Field(strict=False, max_length=16)] = Field(
        default=(),
        description="optional, of a rule that remembers a frame: the numbers of channels that hold "
        "what the visible ones showed one frame earlier",
    )


class CircuitFile(Head):
    """A cellular automaton whose cells all run one circuit of two-input gates."""

    gates: Annotated[list[Gate], Field(max_length=MAX_GATES)] = Field(
        description="in topological order: each gate reads earlier rows only"
    )


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem: where it is, what it is, and what would be right."""
    first = error.errors(include_url=False)[0]
    key, *inside = (str(part) for part in first["loc"])
    fields = model.model_fields
    place = f'"{key}"' + "".join(f"[{index}]" for index in inside)
    value = first["input"]
    if first["type"] == "extra_forbidden" and not inside:
        return f'there is no key "{shorten(key)}" here: {did_you_mean(shorten(key), fields)}'
    if first["type"] == "missing":
        return f"{'' if inside else 'key '}{place} is missing: {fields[key].description}"
    match first["type"]:
        case "value_error":
            return f"{place} {first['ctx']['error']}"
        case "extra_forbidden":
            return f"{place} is no key: leave it out"
    schema = _schema_of(model, first["loc"])
    if "enum" in schema and isinstance(value, str):
        hint = did_you_mean(shorten(value), schema["enum"])
        return f"{place} cannot be {shown(value)}: {hint}"
    return f"{place} must be {phrase(schema)}, not {shown(value)}"


def _schema_of(model: type[BaseModel], location: Iterable[str | int]) -> dict[str, Any]:
    """Return the JSON Schema of a place in a model's file."""
    whole = model.model_json_schema()
    found: dict[str, Any] = whole
    for part in location:
        found = found.get("anyOf", [found])[0]  # the other is null
        if "$ref" in found:
            found = whole["$defs"][found["$ref"].rpartition("/")[2]]
        if isinstance(part, str):
            found = found["properties"][part]
        else:
            found = found["items"] if "items" in found else found["prefixItems"][part]
    return found


def write_circuit(automaton: Automaton) -> str:
    """Return an automaton as JSON text, one gate per line."""
    circuit = automaton.circuit
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in _head(automaton).items()]
    gates = [
        f'    {{"op": "{_NAMES[op]}", "a": {a}, "b": {b}}}'
        for op, a, b in zip(
            circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True
        )
    ]
    body = '  "gates": [\n' + ",\n".join(gates) + "\n  ]" if gates else '  "gates": []'
    return "{\n" + ",\n".join([*lines, body]) + "\n}\n"


def require_expressible(automaton: Automaton) -> None:
    """Raise CircuitError, naming the key, if a file cannot hold the automaton."""
    try:
        Head.model_validate(_head(automaton))
    except ValidationError as error:
        raise CircuitError(explain(error, CircuitFile)) from None


def _head(automaton: Automaton) -> dict[str, Any]:
    circuit = automaton.circuit
    palette = [hex_color(each) for each in automaton.palette]
    return {
        "format": FORMAT,
        "version": VERSION,
        **{key: getattr(automaton, key) for key in _SHARED},
        "channels": list(circuit.labels),
        "visible": list(automaton.visible),
        "outputs": circuit.outputs.tolist(),
        **({"palette": palette} if palette else {}),
        **({} if automaton.encoding is None else {"encoding": automaton.encoding}),
        **({} if automaton.blocks is None else {"blocks": list(automaton.blocks)}),
        **{key: list(getattr(automaton, key)) for key in _LISTS if getattr(automaton, key)},
    }


def read_circuit(path: Path, by_chance: Parse | None = None) -> Automaton:
    """Return the automaton in a file. Raises CircuitError, which names the file and the place.

    Without `by_chance`, which parses one, a rule by chance is no circuit.
    """
    data = strict_json.read(path, shrink)
    if not isinstance(data, dict) or data.get("format") != "dct-chance":
        return parse(data, str(path))
    if by_chance is None:
        raise CircuitError(f"{path}: {BY_CHANCE}")
    return by_chance(data, str(path))


def shrink(decoded: dict[str, Any]) -> Any:
    """Return a valid gate as (op's number, a, b), a third of its size; anything else unchanged."""
    if decoded.keys() == _GATE_KEYS:
        op = decoded["op"]
        a = decoded["a"]
        b = decoded["b"]
        if type(op) is str and op in _NUMBERS and _is_row(a) and _is_row(b):
            return _NUMBERS[op], a, b
    return decoded


def parse(data: Any, source: str) -> Automaton:
    """Return the automaton that decoded JSON describes. Raises CircuitError, naming `source`."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CircuitError(f"{source}: is JSON, but not a circuit saved by dct")
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise CircuitError(
            f"{source}: has format version {shown(version)}, but this program reads up to "
            f"{VERSION}: install a newer dct"
        )
    try:
        head = Head.model_validate({key: data[key] for key in data if key != "gates"})
        if (encoding := head.encoding) is not None:
            first = len(encoding.features)
            if head.visible != list(range(first, first + len(encoding.outputs))):
                raise CircuitError('"visible" must be the channels of the outputs of "encoding"')
        if head.blocks and len({*head.blocks[:2]} - {*head.visible}) < 2:
            which = "{} and {}".format(*head.blocks[:2])
            raise CircuitError(f'"blocks": the channels {which} must be two that are not visible')
        _require_held(head)
        others = {*head.before} - {*head.visible}
        if head.before and not len(others) == len(head.before) == len(head.visible):
            raise CircuitError('"before": must be as many channels as "visible", and others')
        op, a, b = _gates(data)
        circuit = Circuit(op, a, b, np.array(head.outputs), tuple(head.channels))
        return Automaton(
            circuit=circuit,
            visible=tuple(head.visible),
            palette=tuple(map(parse_color, head.palette)),
            encoding=None if encoding is None else encoding.model_dump(),
            blocks=head.blocks and Blocks(*head.blocks),
            **{key: getattr(head, key) for key in (*_SHARED, *_LISTS)},
        )
    except ValidationError as error:
        raise CircuitError(f"{source}: {explain(error, CircuitFile)}") from None
    except CircuitError as error:
        raise CircuitError(f"{source}: {error}") from None


def _require_held(head: Head) -> None:
    """Raise CircuitError unless held channels are copied, and can tell the parts apart."""
    if len(head.parts) > 2 ** len({*head.held}):
        raise CircuitError(f'"held": {len(head.parts)} parts need more channels')
    for place, (label, row) in enumerate(zip(head.channels, head.outputs, strict=False)):
        own = CENTER * len(head.channels) + place
        if label in head.held and row != own:
            raise CircuitError(f'"held": channel {label} stays, so its output must be {own}')


def _gates(data: dict[str, Any]) -> Int64s:
    """Return the gates' op numbers, rows a and rows b, shape (3, gates)."""
    if "gates" not in data:
        raise CircuitError('key "gates" is missing: the list of gates')
    gates = data["gates"]
    if not isinstance(gates, list):
        raise CircuitError(f'"gates" must be a list, not {shown(gates)}')
    if len(gates) > MAX_GATES:
        raise CircuitError(f"{len(gates)} gates are more than the {MAX_GATES} allowed")
    shrunk = [
        gate if type(gate) is tuple else _shrunk(gate, place) for place, gate in enumerate(gates)
    ]
    return np.array(shrunk, np.int64).reshape(-1, 3).T


def _shrunk(gate: Any, place: int) -> tuple[int, int, int]:
    """Return a gate as `shrink` does. Raises CircuitError if it is not valid."""
    if not isinstance(gate, dict):
        raise CircuitError(f'gate {place}: needs "op", "a" and "b", but is {shown(gate)}')
    try:
        valid = Gate.model_validate(gate)
    except ValidationError as error:
        raise CircuitError(f"gate {place}: {explain(error, Gate)}") from None
    return _NUMBERS[valid.op], valid.a, valid.b


def _is_row(value: Any) -> bool:
    return type(value) is int and 0 <= value < ROWS
