"""Correction: what training leaves wrong in a picture with places is inverted by further gates.

Where places are wired, a picture is a function of a place's bits. Training learns most of it. The
bits that are still wrong are such a function, too, and its whole table is known: a small shared
diagram for it needs no search, and takes a time in proportion to the cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.problem import Problem
from difflogic.pictures.decision_diagram import ANY_VALUE, smallest_diagram
from difflogic.pictures.inverting_gates import add_correction
from difflogic.search.correction import Correction, step
from difflogic.search.finisher import AnyFinisher, Certify, Finished, SearchContext
from difflogic.search.walk import OnProgress, SearchProgress
from difflogic.system.array_types import Array
from difflogic.system.work import ignore
from difflogic.tasks.base import Task


class Corrector(AnyFinisher):
    """Corrects the circuits of one wiring, in place of a `Finisher`."""

    def __init__(self, start: SoftCircuit, task: Task, certify: Certify) -> None:
        """`start` is any circuit of the wiring; `task` starts from settled places."""
        places = task.automaton.counted(task.height, task.width)
        assert places is not None, "only a picture with places can be corrected"
        self._start = start
        self._task = task
        self._places = places
        self._certify = certify

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        """It fits pictures in which fixed gates count a cell's place."""
        return problem.architecture.fixed is not None

    @classmethod
    def of(cls, context: SearchContext) -> Corrector:
        return cls(context.start, context.problem.task, context.certify)

    def finish(
        self, logits: Array, rng: np.random.Generator, on_progress: OnProgress = ignore
    ) -> Finished:
        """Return whether the circuit of `logits` (16, parameters) is proved right once corrected.

        Its ops stay; `correct` returns the further gates.
        """
        circuit = self._start.of_columns(logits)
        found = self.correct(circuit)
        on_progress(SearchProgress(0, 1, found.bits))
        exact = self._certify(found.circuit).assurance.proved
        wrong = 0 if exact else found.bits
        return Finished(circuit.ops, exact, found.bits, wrong, wrong, 0)

    def complete(self, circuit: SoftCircuit) -> SoftCircuit:
        """Return `circuit` with gates that invert what it gets wrong."""
        return self.correct(circuit).circuit

    def correct(self, circuit: SoftCircuit) -> Correction:
        """Return the correction of a circuit."""
        last = self.correction
        if last is None or not np.array_equal(last.before.logits, circuit.logits):
            table, groups = self._wrong(circuit)
            diagram = smallest_diagram(table, groups)
            bits = int((table > 0).sum())
            after = circuit
            if bits:
                added = add_correction(circuit.layers, circuit.logits, self._places, diagram)
                after = SoftCircuit(*added)
            self.correction = last = Correction(circuit, after, bits, diagram.gates)
        return last

    def _wrong(self, circuit: SoftCircuit) -> tuple[npt.NDArray[np.int8], list[list[int]]]:
        """Return the table of wrong bits (loss channels, 2 ** known bits), and its groups of bits.

        The number of a column is a cell's row and column. What no cell has is ANY_VALUE.
        """
        task = self._task
        start, target = task.sample(np.random.default_rng(0))
        (shown,) = step(circuit, task, start[None])[:, list(task.loss_channels)]
        columns = self._places.bits[1]
        known = self._places.known
        place = np.tensordot(1 << np.arange(known), start[-known:], 1)
        table = np.full((len(task.loss_channels), 1 << known), ANY_VALUE, np.int8)
        table[:, place] = shown ^ target.astype(np.uint8)
        order = list(range(known))[::-1]
        return table, [order[columns:], order[:columns]]
