"""Any circuit as one of logicars: a kernel that hands on what it sees, and an update in layers.

A trained model's kernels are not made again: by now its circuit may be another, smaller one. The
one kernel has 9 gates that pass the 9 cells of a channel on; the update circuit has the circuit's
gates, each in the first layer that can have it, and gates that pass a value on to the layer where
it is read. logicars does not count gates that pass their input on as active, so it counts the
gates that the circuit has. Of a model's circuit as it was trained, the layers are the model's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import PASS_THROUGH
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.formats.circuit_file import MAX_GATES
from difflogic.model.automaton import Automaton
from difflogic.system.errors import CircuitError

PASS = int(PASS_THROUGH)
MAX_CHANNELS = 128
"""As many as logicars lets a grid have."""

Gates = list[tuple[int, int, int]]
"""Op, wire_a and wire_b of each gate of a layer."""


def write_logicars(automaton: Automaton) -> str:
    """Return an automaton's circuit as JSON, laid out as serde does.

    Raises CircuitError for more channels than logicars has, and for a circuit that would take
    too many gates that pass values on.
    """
    circuit = automaton.circuit
    channels = circuit.channels
    if channels > MAX_CHANNELS:
        raise CircuitError(
            f"{channels} channels are more than the {MAX_CHANNELS} that logicars has: simplify "
            "the circuit, which drops channels, or export another format"
        )
    kernel = [[(PASS, cell, cell) for cell in range(NEIGHBORHOOD)]]
    update = {
        "layers": _plain(_layers(circuit)),
        "input_size": (1 + NEIGHBORHOOD) * channels,
        "output_size": channels,
    }
    perception = {
        "kernels": [{"layers": _plain(kernel), "input_size": NEIGHBORHOOD}],
        "channels": channels,
    }
    data = {"perception": perception, "update": update, "channels": channels}
    return json.dumps(data, indent=2) + "\n"


def _plain(layers: list[Gates]) -> list[dict[str, Any]]:
    return [
        {"gates": [{"op": op, "wire_a": a, "wire_b": b} for op, a, b in gates]} for gates in layers
    ]


def _layers(circuit: Circuit) -> list[Gates]:
    """Return the layers of the update circuit, whose inputs are what the kernel hands on."""
    level = _levels(circuit)
    depth = int(level.max())
    members = [rows.tolist() for rows in _by_level(level, depth)]
    last_read = level.copy()
    """The last layer that reads a row, or its own."""
    for wires in (circuit.a, circuit.b):
        np.maximum.at(last_read, wires, level[circuit.inputs :])
    # Where the deepest gates are the next state, each once, they are the last layer. Else one
    # layer more takes the next state from where it stands.
    outputs = circuit.outputs.tolist()
    if sorted(outputs) == members[depth]:
        members[depth] = outputs
        extra: list[int] = []
    else:
        last_read[outputs] = depth + 1
        extra = outputs
    passes = int(np.maximum(last_read - level - 1, 0).sum()) + len(extra)
    if circuit.gates + passes > MAX_GATES:
        raise CircuitError(
            f"in logicars' layers, the circuit would need {circuit.gates + passes} gates, mostly "
            f"to pass values on, but {MAX_GATES} are allowed: export another format"
        )
    return list(_fill(circuit, members[1:], last_read, extra))


def _fill(
    circuit: Circuit, members: list[list[int]], last_read: npt.NDArray[np.int64], extra: list[int]
) -> Iterator[Gates]:
    """Yield the gates of each layer, `members` being the rows that are computed there.

    At the end comes a layer that hands on the rows `extra`, if there are any.
    """
    op, a, b = (wires.tolist() for wires in (circuit.op, circuit.a, circuit.b))
    inputs, channels = circuit.inputs, circuit.channels
    # After the centre the update circuit reads the bits of each channel.
    place = {
        n * channels + c: channels + c * NEIGHBORHOOD + n
        for n in range(NEIGHBORHOOD)
        for c in range(channels)
    }
    for number, rows in enumerate(members, start=1):
        passed = [row for row in place if last_read[row] > number]
        gates = [(PASS, place[row], place[row]) for row in passed]
        for row in rows:
            gate = row - inputs
            gates.append((op[gate], place[a[gate]], place[b[gate]]))
        yield gates
        place = {row: index for index, row in enumerate([*passed, *rows])}
    if extra:
        yield [(PASS, place[row], place[row]) for row in extra]


def _levels(circuit: Circuit) -> npt.NDArray[np.int64]:
    """Return the layer of each row: 0 for an input, else one more than those it has wires to."""
    levels = [0] * circuit.inputs
    for a, b in zip(circuit.a.tolist(), circuit.b.tolist(), strict=True):
        levels.append(1 + max(levels[a], levels[b]))
    return np.array(levels, np.int64)


def _by_level(level: npt.NDArray[np.int64], depth: int) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each level from 0 to `depth`, ascending."""
    order = np.argsort(level, kind="stable")
    return np.split(order, np.searchsorted(level[order], np.arange(1, depth + 1)))
