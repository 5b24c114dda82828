"""How tough a circuit is: how many cells are wrong while squares are erased again and again."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.circuit.live_part import live_part
from difflogic.circuit.netlist import Netlist
from difflogic.evaluation.assurance import WOUND, question_of
from difflogic.evaluation.scene import Damage, Scene, Streams, scene_of
from difflogic.evaluation.trial import Ops, Trial
from difflogic.model.hardening import automaton_of
from difflogic.proof.convergence.every_size import Plane
from difflogic.proof.convergence.limits import Limits, limits_of
from difflogic.proof.prover import prove
from difflogic.system.streams import Purpose
from difflogic.tasks.base import Task

GRID_SIDE = 64
WOUND_SIDE = 10
WOUNDED_FIRE_RATE = 0.6
"""As in `dct eval --test robustness`: of 64×64 cells, 10×10 are erased after each step."""

COUNTED_STEPS = range(400, 701, 10)
"""Steps after which wrong cells are counted; the first ones from random cells do not count."""

GRIDS_DAMAGED = 4
"""Grids that are damaged; with a single one, chance decides by 20 cells and more."""

LESSONS = 192
"""Lessons that a smaller circuit must not forget."""

EPOCH = 1
"""Names the random streams, beside those of a search's starts."""


class Toughness:
    """Measures circuits of one netlist, on the same random numbers."""

    def __init__(self, netlist: Netlist, task: Task, seed: int) -> None:
        self._netlist = netlist
        self._task = task
        self._streams = Streams(seed, Purpose.CHECK_START, Purpose.CHECK_MASK, EPOCH)

    def __call__(self, ops: Ops) -> float:
        """Return the mean number of wrong cells under continuing damage."""
        return float(self._trial(ops).mean())

    @cached_property
    def _trial(self) -> Trial:
        scene = scene_of(self._task.on_grid(GRID_SIDE, GRID_SIDE), self._streams, COUNTED_STEPS)
        damage = Damage(WOUND_SIDE, COUNTED_STEPS[-1], anywhere=True)
        hurt = replace(scene, fire_rate=WOUNDED_FIRE_RATE, damage=damage)
        return Trial(self._netlist, hurt, tuple(range(GRIDS_DAMAGED)))

    @cached_property
    def lessons(self) -> Trial:
        """Counts wrong bits in lessons."""
        return Trial(self._netlist, self._lessons, range(LESSONS))

    @cached_property
    def _lessons(self) -> Scene:
        scene = scene_of(self._task.lessons, self._streams, (1,))
        drawn = scene.draw(0, LESSONS)
        return replace(scene, draw=lambda first, batch: drawn)

    def confines(self, ops: Ops) -> bool:
        """Return whether each start is right on every grid, and damage stays local, by proof."""
        automaton = automaton_of(hard_circuit(self._netlist, ops), self._task)
        kept = prove(question_of(automaton, self._task, WOUND)).confinement
        return kept is not None and kept.in_any_order

    def limits(self, ops: Ops) -> tuple[Circuit, Limits] | None:
        """Return the part of a circuit that matters, and what one in its place must do.

        That is what the proofs rest on, for some of the wounds, and lessons. None if every start is
        not proved, or some wound does not stay local.
        """
        task = self._task
        small = live_part(automaton_of(hard_circuit(self._netlist, ops), task))
        table = prove(Plane(small, task.lasting_target_on, task.lasting_period)).evidence.table
        if table is None:
            return None
        limits = limits_of(table, WOUND)
        if limits is None:
            return None
        circuit = table.question.circuit
        some = list(circuit.labels)
        drawn = self._lessons.draw(0, LESSONS)
        limits.add_lessons(*(np.asarray(each)[:, some] for each in drawn))
        return circuit, limits
