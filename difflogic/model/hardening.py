"""Hard automata of models and tasks."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD, Boundary
from difflogic.circuit.netlist import Netlist
from difflogic.model.model import Model
from difflogic.tasks import CustomSection, Task, TaskSection, make_task
from difflogic.tasks.section import AutomatonConfig


def from_model(model: Model) -> Automaton:
    """Return the argmax circuit of a model, with all its gates."""
    config = model.config
    circuit = hard_circuit(model.netlist, model.ops)
    around = _around(config.task, config.automaton)
    if isinstance(config.task, CustomSection):  # its code is not run for this
        return Automaton(config.name, circuit, *around, config.task.start_name)
    task = make_task(config)
    encoding = None if task.encoding is None else asdict(task.encoding)
    return Automaton(config.name, circuit, *around, task.start, task.palette, encoding)


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
    around = _around(task.section, task.automaton)
    return Automaton(task.name, circuit, *around, task.start, task.palette)


def _around(
    task: TaskSection, automaton: AutomatonConfig
) -> tuple[tuple[int, ...], Boundary, int, int, int, float]:
    """Return visible channels, boundary, rows, columns, steps and fire rate."""
    grid = automaton.boundary, task.height, task.width
    return task.loss_channels, *grid, automaton.steps, automaton.fire_rate
