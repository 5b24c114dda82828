"""Hard automata of models and tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD, Start
from difflogic.circuit.netlist import Netlist
from difflogic.model.model import Model
from difflogic.tasks import Task, TaskSection, encoding_of, palette_of, start_of
from difflogic.tasks.section import AutomatonConfig


def from_model(model: Model) -> Automaton:
    """Return the argmax circuit of a model, with all its gates."""
    config = model.config
    circuit = hard_circuit(model.netlist, model.ops)
    around = _around(circuit, config.name, config.task, config.automaton, start_of(config))
    return replace(around, palette=palette_of(config), encoding=encoding_of(config))


def hard_circuit(netlist: Netlist, ops: npt.NDArray[np.uint8]) -> Circuit:
    """Return a netlist's gates with `ops` (parameters,)."""
    labels = tuple(range(netlist.channels))
    return Circuit(ops[netlist.param], netlist.a, netlist.b, netlist.outputs, labels)


def netlist_of(circuit: Circuit, channels: int) -> tuple[Netlist, npt.NDArray[np.uint8]]:
    """Return a circuit as a netlist of so many channels, with its ops; those it lacks become 0."""
    labels, gates = np.array(circuit.labels), np.arange(circuit.gates + 1, dtype=np.int32)
    inputs = NEIGHBORHOOD * [*labels] + channels * np.repeat(range(NEIGHBORHOOD), len(labels))
    rows = np.append(inputs, NEIGHBORHOOD * channels + gates).astype(np.int32)
    outputs = np.full(channels, rows[-1])
    outputs[labels] = rows[circuit.outputs]
    a, b = (np.append(rows[wires], 0).astype(np.int32) for wires in (circuit.a, circuit.b))
    netlist = Netlist(channels, a, b, gates, outputs, len(gates))
    return netlist, np.append(circuit.op, np.uint8(Op.FALSE))


def automaton_of(circuit: Circuit, task: Task) -> Automaton:
    """Return a circuit with the grid, steps and start of a task."""
    around = _around(circuit, task.name, task.section, task.automaton, task.start)
    return replace(around, palette=task.palette)


def _around(
    circuit: Circuit, name: str, task: TaskSection, automaton: AutomatonConfig, start: Start
) -> Automaton:
    return Automaton(
        name=name,
        circuit=circuit,
        visible=tuple(task.loss_channels),
        boundary=automaton.boundary,
        height=task.height,
        width=task.width,
        steps=automaton.steps,
        fire_rate=automaton.fire_rate,
        start=start,
    )
