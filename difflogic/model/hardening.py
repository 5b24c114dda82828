"""Hard automata of models and tasks."""

from __future__ import annotations

from dataclasses import asdict

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.model.model import Model
from difflogic.tasks import CustomSection, make_task
from difflogic.tasks.base import Task
from difflogic.tasks.section import AutomatonConfig, TaskSection


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
