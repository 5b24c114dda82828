"""A Python module that needs only NumPy: the circuit of one cell, and a step of a grid.

Variables are reused after their last read, so a large grid needs memory for the live signals only,
not for every gate.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from string import Template

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.common import expressions, folded, head, identifier, row_names, used_rows

_MODULE = '''\
"""$head
"""

import numpy as np

CHANNELS = ($channels)
VISIBLE = ($visible)
HEIGHT, WIDTH, STEPS, FIRE_RATE = $height, $width, $steps, $fire_rate


def cell($inputs):
    """Return the next state of each channel, from the neighbourhood, as arrays of bool."""
$gates
    return ($outputs)


def step(state$fire):
    """Return the grid's next state, of the shape (channels, height, width) and type of `state`.
$about_fire
    `state` holds 0 and 1, of any type that can; place c of its first axis is CHANNELS[c].
    """
    state = np.asarray(state)
    if state.ndim != 3 or len(state) != len(CHANNELS):
        raise ValueError(f"state must be ({len(CHANNELS)}, height, width), not {state.shape}")
    height, width = state.shape[1:]
    padded = np.pad(state != 0, ((0, 0), (1, 1), (1, 1)), mode="$padding")

    def seen(channel, down, right):
        return padded[channel, 1 + down : 1 + down + height, 1 + right : 1 + right + width]

    result = np.empty_like(state)
    outputs = cell($arguments)
    for channel, output in enumerate(outputs):
        result[channel] = output
    return $result
'''

_ABOUT_FIRE = """
    A cell takes its new state where `fire` (height, width) is not 0: give it random bits that are
    1 with probability FIRE_RATE, new ones for each step.
"""


def write_python(automaton: Automaton) -> str:
    circuit = automaton.circuit
    used = used_rows(circuit)
    names = _names(circuit)
    asynchronous = automaton.fire_rate < 1
    gates = [
        f"    {name} = {text}"
        for name, text in expressions(circuit, names, "np.False_", "np.True_")
    ]
    return Template(_MODULE).substitute(
        head="\n".join(
            head(
                automaton,
                "step(state) is one step of a grid of any size; save this text as "
                f"{identifier(automaton)}.py and import it.",
            )
        ),
        channels=_items(map(str, circuit.labels)),
        visible=_items(map(str, automaton.visible)),
        height=automaton.height,
        width=automaton.width,
        steps=automaton.steps,
        fire_rate=automaton.fire_rate,
        inputs=_items(map(circuit.input_name, used)),
        gates="\n".join(gates),
        outputs=_items((names[row] for row in circuit.outputs), " " * 4),
        arguments=_items((_seen(row, circuit.channels) for row in used), " " * 4),
        padding="wrap" if automaton.boundary == "periodic" else "constant",
        fire=", fire" if asynchronous else "",
        about_fire=_ABOUT_FIRE if asynchronous else "",
        result="np.where(fire, result, state)" if asynchronous else "result",
    )


def _items(items: Iterable[str], indent: str = "") -> str:
    """Return the items of a list, on one line if that is short."""
    words = [f"{item}," for item in items]
    if len(" ".join(words)) < 60:
        return " ".join(words).removesuffix("," if len(words) > 1 else "")
    return "".join(f"\n{indent}    {line}" for line in folded(words, 90)) + f"\n{indent}"


def _seen(row: int, channels: int) -> str:
    neighbor, channel = divmod(row, channels)
    return "seen({}, {}, {})".format(channel, *OFFSETS[neighbor])


def _names(circuit: Circuit) -> list[str]:
    """Return the variable of each row. Gates that are never live together may share one."""
    last = list(range(circuit.rows))  # the row that reads each one last, or its own
    for row in range(circuit.inputs, circuit.rows):
        for read in circuit.reads(row - circuit.inputs):
            last[read] = row
    for row in circuit.outputs:
        last[row] = circuit.rows
    names = row_names(circuit)[: circuit.inputs]
    free: list[int] = []
    held: dict[int, int] = {}
    for row in range(circuit.inputs, circuit.rows):
        for read in set(circuit.reads(row - circuit.inputs)) & held.keys():
            if last[read] == row:
                heapq.heappush(free, held.pop(read))
        variable = heapq.heappop(free) if free else len(held)
        names.append(f"t{variable}")
        if last[row] == row:
            heapq.heappush(free, variable)
        else:
            held[row] = variable
    return names
