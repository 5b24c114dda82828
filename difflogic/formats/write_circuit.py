"""dct's own file of a circuit: JSON, documented by its schema.

docs/circuit-file.md says what the file means; `read_circuit` reads it back.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from difflogic.circuit.gates import Op
from difflogic.formats import circuit_file
from difflogic.formats.circuit_file import CircuitFile, Head, explain
from difflogic.model.automaton import Automaton
from difflogic.system.errors import CircuitError
from difflogic.tasks.palettes import hex_color

_NAMES = [op.name for op in Op]


def write_circuit(automaton: Automaton) -> str:
    """Return an automaton as JSON text, one gate a line."""
    circuit = automaton.circuit
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in _head(automaton).items()]
    wires = (circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist())
    gates = [
        f'    {{"op": "{_NAMES[op]}", "a": {a}, "b": {b}}}' for op, a, b in zip(*wires, strict=True)
    ]
    body = '  "gates": [\n' + ",\n".join(gates) + "\n  ]" if gates else '  "gates": []'
    return "{\n" + ",\n".join([*lines, body]) + "\n}\n"


def require_expressible(automaton: Automaton) -> None:
    """Raise CircuitError, naming the key, if a file could not hold the automaton."""
    try:
        Head.model_validate(_head(automaton))
    except ValidationError as error:
        raise CircuitError(explain(error, CircuitFile)) from None


def _head(automaton: Automaton) -> dict[str, Any]:
    circuit = automaton.circuit
    palette = [hex_color(each) for each in automaton.palette]
    return {
        "format": circuit_file.FORMAT,
        "version": circuit_file.VERSION,
        "name": automaton.name,
        "boundary": automaton.boundary,
        "height": automaton.height,
        "width": automaton.width,
        "steps": automaton.steps,
        "fire_rate": automaton.fire_rate,
        "start": automaton.start,
        "channels": list(circuit.labels),
        "visible": list(automaton.visible),
        "outputs": circuit.outputs.tolist(),
        **({"palette": palette} if palette else {}),
    }
