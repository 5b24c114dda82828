"""How tough a circuit is: how many cells are wrong while squares are erased again and again."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.circuit.specification import Bits
from difflogic.engine.hard import HardSimulator
from difflogic.engine.layout import Grid
from difflogic.evaluation.assurance import ANY_ORDER, WOUND
from difflogic.evaluation.scene import FIRST_FOUND, Damage, Streams, scene_of
from difflogic.evaluation.trial import Ops, Trial
from difflogic.model.hardening import automaton_of, hard_circuit
from difflogic.proof.convergence import decide_quickly
from difflogic.proof.convergence.confinement import Ground, follow, windows_of
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.convergence.sizes import every_size
from difflogic.system.streams import Purpose, stream
from difflogic.tasks import Sample, Task

SIDE, SQUARE, FIRE_RATE = 64, 10, 0.6
"""As in `dct eval --test robustness`: of 64×64 cells, 10×10 are erased after each step."""

COUNTED = range(400, 701, 10)
"""Steps after which wrong cells are counted; the first ones from random cells do not count."""

DRAWS = 4
"""Grids that are damaged; with a single one, chance decides by 20 cells and more."""

STRIDE = 7
"""A quick look whether damage stays local takes each seventh window."""

LESSONS = 64
"""Lessons, and states met under damage, that a circuit must not forget."""

HURT, SETTLING = 6, 80
"""Side of the squares that are erased on a lesson's grid, and steps until a state is taken."""

EPOCH = 1
"""Names the random streams, beside those of a search's starts."""


class Toughness:
    """Measures circuits of one netlist, on the same random numbers."""

    def __init__(self, netlist: Netlist, task: Task, seed: int) -> None:
        self._netlist, self._task = netlist, task
        self._streams = Streams(seed, Purpose.CHECK_START, Purpose.CHECK_MASK, EPOCH)

    def __call__(self, ops: Ops) -> float:
        """Return the mean number of wrong cells under continuing damage."""
        return float(self._trial(ops).mean())

    @cached_property
    def _trial(self) -> Trial:
        scene = scene_of(self._task.on_grid(SIDE, SIDE), self._streams, COUNTED)
        damage = Damage(SQUARE, COUNTED[-1], anywhere=True)
        hurt = replace(scene, fire_rate=FIRE_RATE, damage=damage)
        return Trial(self._netlist, hurt, tuple(range(DRAWS)))

    def confines(self, ops: Ops, quickly: bool) -> bool:
        """Return whether each start is right on every grid, and damage stays local, by proof.

        With `quickly`, only a part of the places that damage may have is looked at.
        """
        task = self._task
        small = live_part(automaton_of(hard_circuit(self._netlist, ops), task))
        targets, period = task.lasting_target_on, task.lasting_period
        table = every_size(small, targets, period, decide_quickly).table
        if table is None:
            return False
        found = windows_of(Ground.of(table), WOUND)
        asked = replace(table.question, fire_rate=ANY_ORDER)
        for stride in (STRIDE,) if quickly else (STRIDE, 1):
            spread, _, _ = follow(asked, WOUND, found[::stride], until_closed=False)
            if spread.max() > WOUND.reach:
                return False
        return True  # the wound closes, too, since every start does

    def habits(self, ops: Ops) -> Trial:
        """Return a trial in which the circuit with `ops` has no wrong cell: what it does well.

        Its samples are lessons, without the cells that it gets wrong, and single steps from states
        that it meets under continuing damage, where it is to do what it does now.
        """
        lessons = scene_of(self._task.lessons, self._streams, (1,))
        starts, targets = lessons.draw(0, LESSONS)
        met = self._met(ops, starts)
        simulator = HardSimulator(self._netlist, lessons.grid, LESSONS)
        simulator.load(ops)
        shown = list(lessons.channels)
        done, then = (simulator.rollout(each, 1)[:, shown] for each in (starts, met))
        wrong = (done != targets).any(axis=1, keepdims=True)
        starts = np.concatenate([starts, met])
        targets = np.concatenate([np.where(wrong, np.nan, targets), then])

        def draw(first: int, batch: int) -> Sample:
            return starts[first : first + batch], targets[first : first + batch]

        return Trial(self._netlist, replace(lessons, draw=draw), tuple(range(2 * LESSONS)))

    def _met(self, ops: Ops, states: Bits) -> Bits:
        """Return states (samples, channels, height, width) some steps later, under damage."""
        samples, _, height, width = states.shape
        grid = Grid(height, width, "zero")
        simulator = HardSimulator(self._netlist, grid, samples)
        simulator.load(ops)
        rng = stream(self._streams.seed, Purpose.CHECK_MASK, EPOCH, FIRST_FOUND)
        fired = rng.random((samples, SETTLING, height, width)) <= FIRE_RATE
        square = Damage(min(HURT, height, width), SETTLING - 1, anywhere=True)
        hurt = square.draw(grid, self._streams, range(samples), range(SETTLING))
        return simulator.rollout(states, SETTLING, fired.astype(np.uint8), hurt)
