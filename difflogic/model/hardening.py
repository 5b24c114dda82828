"""Hard automata of models and tasks."""

from __future__ import annotations

from dataclasses import asdict, replace

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.model.model import Model
from difflogic.tasks import CustomSection, make_task
from difflogic.tasks.base import Task
from difflogic.tasks.section import AutomatonConfig, TaskSection


def from_model(model: Model) -> Automaton:
    """Return the argmax circuit of a model, with all its gates."""
    config = model.config
    circuit = hard_circuit(model.netlist, model.ops)
    if isinstance(config.task, CustomSection):  # its code is not run for this
        return _automaton(config.name, circuit, config.task, config.automaton)
    task = make_task(config)
    encoding = None if task.encoding is None else asdict(task.encoding)
    return replace(automaton_of(circuit, task), name=config.name, encoding=encoding)


def automaton_of(circuit: Circuit, task: Task) -> Automaton:
    """Return a circuit with the grid, steps and start of a task."""
    found = _automaton(task.name, circuit, task.section, task.automaton)
    return replace(found, start=task.start, palette=task.palette)


def _automaton(
    name: str, circuit: Circuit, task: TaskSection, automaton: AutomatonConfig
) -> Automaton:
    return Automaton(
        name,
        circuit,
        visible=task.loss_channels,
        boundary=automaton.boundary,
        height=task.height,
        width=task.width,
        steps=automaton.steps,
        fire_rate=automaton.fire_rate,
        start=task.start_name if isinstance(task, CustomSection) else "random",
        held=task.inputs,
    )
