"""dct's own file of a circuit: JSON, documented by its schema, read back without trust."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.errors import CircuitError
from difflogic.gates import Op
from difflogic.logic.automaton import Automaton
from difflogic.logic.circuit import LogicCircuit

FORMAT = "dct-circuit"
VERSION = 1
"""Goes up when a file can no longer be read by the program before."""

MAX_CHANNELS = 2**16
MAX_GATES = 2**20

Row = Annotated[int, Field(ge=0, lt=2**31)]
Size = Annotated[int, Field(ge=1, le=65536)]
Label = Annotated[int, Field(ge=0, lt=2**31)]
OpName = Literal[
    "FALSE", "AND", "A_AND_NOT_B", "A", "NOT_A_AND_B", "B", "XOR", "OR",
    "NOR", "XNOR", "NOT_B", "A_OR_NOT_B", "NOT_A", "NOT_A_OR_B", "NAND", "TRUE",
]  # fmt: skip


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Gate(_Section):
    """Writes the row after those of the inputs and of the gates before it."""

    op: OpName
    a: Row = Field(description="row of the first input")
    b: Row = Field(description="row of the second input")


class CircuitFile(_Section):
    """One cell's update. Rows: input n·C + c is channel c of neighbour n, then the gates."""

    format: Literal["dct-circuit"]
    version: Annotated[int, Field(ge=1)]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)]
    boundary: Literal["zero", "periodic"] = Field(description="what lies beyond the grid's edge")
    height: Size = Field(description="rows of the grid of training, in cells")
    width: Size = Field(description="columns of the grid of training, in cells")
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(description="steps of training")
    fire_rate: Annotated[float, Field(gt=0, le=1)] = Field(
        description="probability that a cell takes its new state in a step"
    )
    start: Literal["random", "center", "zeros"] = Field(description="the state before step 1")
    channels: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="what each channel's number was in training"
    )
    visible: Annotated[list[Label], Field(min_length=1, max_length=MAX_CHANNELS)] = Field(
        description="the channels, by those numbers, that the automaton is judged by"
    )
    gates: Annotated[list[Gate], Field(max_length=MAX_GATES)]
    outputs: list[Row] = Field(description="each channel's row of the next state")


def render(automaton: Automaton) -> str:
    """Return an automaton as JSON text, one gate a line."""
    circuit = automaton.circuit
    head = {
        "format": FORMAT, "version": VERSION, "name": automaton.name,
        "boundary": automaton.boundary, "height": automaton.height, "width": automaton.width,
        "steps": automaton.steps, "fire_rate": automaton.fire_rate, "start": automaton.start,
        "channels": list(circuit.labels), "visible": list(automaton.visible),
        "outputs": circuit.outputs.tolist(),
    }  # fmt: skip
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    gates = [
        f"    {json.dumps({'op': Op(op).name, 'a': a, 'b': b})}"
        for op, a, b in zip(
            circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True
        )
    ]
    body = '  "gates": [\n' + ",\n".join(gates) + "\n  ]" if gates else '  "gates": []'
    return "{\n" + ",\n".join([*lines, body]) + "\n}\n"


def parse(data: Any, source: str) -> Automaton:
    """Return the automaton that decoded JSON describes. Raises CircuitError, naming `source`."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CircuitError(f"{source}: is JSON, but no circuit that dct saved")
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise CircuitError(
            f"{source}: is of format version {version}, and this program reads up to {VERSION}: "
            "install a newer dct"
        )
    try:
        file = CircuitFile.model_validate(data)
        circuit = LogicCircuit(
            np.array([Op[gate.op] for gate in file.gates], np.uint8),
            np.array([gate.a for gate in file.gates], np.int32),
            np.array([gate.b for gate in file.gates], np.int32),
            np.array(file.outputs, np.int32), tuple(file.channels),
        )  # fmt: skip
        return Automaton(
            file.name, circuit, tuple(file.visible), file.boundary, file.height, file.width,
            file.steps, file.fire_rate, file.start,
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CircuitError(f'{source}: "{place}": {first["msg"]}') from None
    except CircuitError as error:
        raise CircuitError(f"{source}: {error}") from None
