"""What dct's circuit file holds, key by key: docs/circuit.schema.json is made from this."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.circuit.gates import Op
from difflogic.formats.strict_json import shorten, show
from difflogic.system.errors import did_you_mean

FORMAT = "dct-circuit"
VERSION = 1
"""Goes up when a file can no longer be read by the program before."""

MAX_CHANNELS = 2**16
MAX_GATES = 2**20
ROWS = 2**31
NAME_LENGTH = 64

Row = Annotated[int, Field(ge=0, lt=ROWS)]
Size = Annotated[int, Field(ge=1, le=65536)]
Label = Annotated[int, Field(ge=0, lt=2**31)]
OpName: Any = Literal[tuple(op.name for op in Op)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Gate(_Section):
    """A gate: it writes the row after those of the inputs and of the gates before it."""

    op: OpName = Field(description="what the gate computes of its inputs a and b")
    a: Row = Field(description="row of the first input")
    b: Row = Field(description="row of the second input; any lower row if op ignores it")


class Head(_Section):
    """Everything in the file but its gates."""

    format: Literal["dct-circuit"] = Field(description="tells this file from any other")
    version: Annotated[int, Field(ge=1, le=VERSION)] = Field(description="of this format")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=NAME_LENGTH)] = (
        Field(description="what the automaton is called")
    )
    boundary: Literal["zero", "periodic"] = Field(
        description="what lies beyond the grid's edge: cells of zeros, or the opposite edge"
    )
    height: Size = Field(description="rows of the grid of training, in cells")
    width: Size = Field(description="columns of the grid of training, in cells")
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        description="steps after which it was trained to be right"
    )
    fire_rate: Annotated[float, Field(gt=0, le=1)] = Field(
        description="probability that a cell takes its new state in a step; 1 is synchronous"
    )
    start: Literal["random", "center", "zeros"] = Field(
        description="the state before step 1: random bits, one cell of ones in the middle of "
        "zeros, or zeros alone"
    )
    channels: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="what the number of each channel was in training; no two are the same",
        json_schema_extra={"uniqueItems": True},
    )
    visible: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="the channels, by those numbers, that the automaton is judged by",
        json_schema_extra={"uniqueItems": True},
    )
    outputs: Annotated[list[Row], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="for each channel the row of its next state"
    )

    palette: Annotated[
        list[Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]], Field(max_length=16)
    ] = Field(
        default=[],
        description="may be left out: a colour for each number that the visible bits give, the "
        "first channel the lowest bit",
    )


class CircuitFile(Head):
    """A cellular automaton whose cells all run one circuit of two-input gates."""

    gates: Annotated[list[Gate], Field(max_length=MAX_GATES)] = Field(
        description="in an order in which each gate reads only rows before its own"
    )


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first problem that pydantic found: where, what, and what would be right."""
    first = error.errors(include_url=False)[0]
    key, *inside = (str(part) for part in first["loc"])
    fields = model.model_fields
    if first["type"] == "extra_forbidden":
        return f'there is no key "{shorten(key)}" here: {did_you_mean(shorten(key), fields)}'
    if first["type"] == "missing":
        return f'key "{key}" is missing: {fields[key].description}'
    place, value = f'"{key}"' + "".join(f"[{index}]" for index in inside), first["input"]
    kind = fields[key].annotation
    if get_origin(kind) is Literal and isinstance(value, str):
        hint = did_you_mean(shorten(value), get_args(kind))
        return f"{place} cannot be {show(value)}: {hint}"
    if first["type"] in ("too_short", "too_long"):
        return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}"
    return f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}, not {show(value)}"
