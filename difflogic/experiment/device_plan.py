"""How a configuration is trained on this machine: by its cores, or on its GPU."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.forms import FORMS
from difflogic.circuit.netlist import Netlist
from difflogic.config.models import Config
from difflogic.engine.hardware import Hardware
from difflogic.gpu.adapter import find_adapter
from difflogic.gpu.tables import Shape, shape_of
from difflogic.model.model import Model
from difflogic.search.footprint import search_bytes
from difflogic.tasks import custom
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Sample, TaskError
from difflogic.training.plan import ParallelPlan, rollouts_of

MOST_RUNS = 256
"""Most runs side by side by default: each has its own thread."""


def plan_of(
    config: Config, machine: Hardware | None = None, netlist: Netlist | None = None
) -> ParallelPlan:
    """Plan the training of `config` on a machine, by default on this one as it is now.

    `netlist` is that of the model, by default the configuration's first one. If the code of the
    task is not loaded, searches are not counted. Raises ConfigError if the memory does not suffice.
    """
    netlist = netlist or Model.create(config).netlist
    if not custom.is_loaded(config.task):
        outline = config.problem_of(_Outline(config.task, config.automaton))
        return ParallelPlan.for_problem(outline, netlist, machine)
    problem = config.problem
    return ParallelPlan.for_problem(problem, netlist, machine, search_bytes(problem, netlist))


class _Outline(Task):
    """A task whose section alone is known."""

    def sample(self, rng: np.random.Generator) -> Sample:
        raise TaskError("the task's code is not loaded")


def runs_at_a_time(configs: list[Config], asked: int | None, runs: int) -> int:
    """Return how many of a sweep's runs train side by side, by default as many as fit.

    Raises ConfigError if not even one of each fits, or fewer than `asked`.
    """
    adapter = find_adapter()
    shapes = [_shape_for(config) for config in configs]
    for shape in shapes:
        adapter.require(shape, asked or 1)
    return min(runs, asked or min(MOST_RUNS, *(adapter.most_runs(shape) for shape in shapes)))


def _shape_for(config: Config) -> Shape:
    """Return the shape of a configuration's runs."""
    netlist = Model.create(config).netlist
    rollouts = rollouts_of(config.problem, netlist)
    numbers = 16 if FORMS[config.training.form](config.training.initial_logit) is None else 4
    batch = config.training.batch
    losses = rollouts.loss_channels
    return shape_of(netlist, rollouts.grid, rollouts.steps, batch, losses, numbers)
