"""Certificates decide whether a circuit that is right on samples is right for every start."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Gates, evaluate
from difflogic.circuit.grid import Boundary, Walls
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.circuit.netlist import Netlist
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.engine.hard.hard_simulator import prune
from difflogic.evaluation.assurance import MOST_STATE_BITS, question_of
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.trial import Ops
from difflogic.model.hardening import automaton_of
from difflogic.proof.convergence.every_size import Grids
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.convergence.planes import Board
from difflogic.proof.prover import prove
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits, Words
from difflogic.tasks.base import Task

RECALLED = 64
"""Number of findings in the cache: in polishing, 3 of 5 circuits were among the last 16."""

DOUBTFUL = 64
"""Number of starts to draw from those that a certificate leaves open."""


class Judge:
    """Certifies circuits of one netlist, in milliseconds each, with the same result anywhere."""

    def __init__(self, netlist: Netlist, plan: Plan) -> None:
        self._netlist = netlist
        self._plan = plan
        self._last: tuple[Ops, Finding] | None = None
        self._kept: tuple[Ops, bool] | None = None
        self._recent: dict[tuple[Any, ...], Finding] = {}
        """By circuit, the most recently used last."""

    @property
    def can_prove(self) -> bool:
        """Whether certificates apply to the task, and its grid is not too large."""
        bits = self._netlist.channels * self._plan.scene.grid.cells
        return self._plan.numbered_starts is not None and bits <= MOST_STATE_BITS

    def proves(self, ops: Ops) -> bool:
        """Whether every start reaches the target and stays there, on every grid if asked so."""
        return self.certified_step(ops) is not None and self.keeps(ops)

    def is_late(self, ops: Ops) -> bool:
        """Whether sets do not prove a circuit right, or only from a step after the decisive one."""
        step = self.certified_step(ops)
        latest = self.latest_step
        return step is None or (latest is not None and step > latest)

    def doubtful_starts(self, ops: Ops) -> Bits:
        """Return states that the certificate leaves open, shape (DOUBTFUL, C, height, width).

        They depend only on the circuit. If some start stays wrong, some of these do.
        """
        finding = self._by_sets(ops)
        grid = self._plan.scene.grid
        least, most = (
            finding.question.board.bits(words)[:, -grid.height :, -grid.width :]
            for words in finding.final_sets
        )
        rng = np.random.default_rng(0)
        starts = np.zeros((DOUBTFUL, self._netlist.channels, *least.shape[1:]), np.uint8)
        drawn = rng.integers(0, 2, (DOUBTFUL, *least.shape), dtype=np.uint8)
        labels = list(finding.question.circuit.labels)
        starts[:, labels] = np.where(least == most, least, drawn)
        return starts

    def certified_step(self, ops: Ops) -> int | None:
        """Return the step from which sets prove a circuit right; None if they do not.

        For a task that asks for every size, it is also right on the small grids: nearly always, it
        is then proved on every grid. `keeps` makes that proof.
        """
        found = self._by_sets(ops)
        if found.from_step is None:
            return None
        unknown = (self._unknown(found, step) for step in range(len(found.states)))
        return next(step for step, cells in enumerate(unknown) if not cells)

    @property
    def latest_step(self) -> int | None:
        """The latest step at which a certificate is in time; None if it counts rounds."""
        return self._plan.decisive[0] if self._plan.scene.fire_rate == 1 else None

    def unknown_in_time(self, ops: Ops) -> int | None:
        """Return the number of cells that sets leave unknown at the first counted step.

        None if sets do not prove the circuit right at a later step either.
        """
        found = self._by_sets(ops)
        step = self._plan.decisive[0]
        if found.from_step is None:
            return None
        return 0 if found.from_step <= step else self._unknown(found, step)

    def _unknown(self, found: Finding, step: int) -> int:
        """Return the number of visible bits of the training grid that are unknown at a step."""
        shown = np.bitwise_xor(*found.states[step])[list(found.question.visible_places)]
        return int(np.bitwise_count(shown & self._own).sum())

    def _by_sets(self, ops: Ops) -> Finding:
        # `certified_step` and `unknown_in_time` are called in turn for the same circuit.
        if self._last is None or not np.array_equal(self._last[0], ops):
            self._last = ops.copy(), self._recalled(self._question(ops))
        return self._last[1]

    def _recalled(self, question: Convergence) -> Finding:
        """Answer a question by sets, or from the cache: most changes do not affect the circuit."""
        circuit = question.circuit
        parts = circuit.op, circuit.a, circuit.b, circuit.outputs
        key = *(part.tobytes() for part in parts), circuit.labels
        found = self._recent.pop(key, None) or by_sets(question)
        self._recent[key] = found
        if len(self._recent) > RECALLED:
            del self._recent[next(iter(self._recent))]
        return found

    @cached_property
    def _asked(self) -> tuple[Boundary | Walls, Bits]:
        """What lies between and beyond the grids of a question, and their targets.

        If the task is about every size, small grids lie above and on the left of the training grid.
        """
        grid = self._plan.scene.grid
        task = self._plan.proved
        assert self._plan.numbered_starts is not None, "ask can_prove first"
        if task is None:
            return grid.boundary, self._plan.numbered_starts.target
        assert task.lasting_period is not None, "asks_every_size says so"
        small = tuple(Grids.smallest(task.lasting_period).sides)
        walls = Walls((*small, grid.height), (*small, grid.width))
        return walls, walls.cut(task.lasting_target_on(max(walls.rows), max(walls.columns)))

    @cached_property
    def _own(self) -> Words:
        """The cells of the training grid, as a plane."""
        (_, target) = self._asked
        grid = self._plan.scene.grid
        own = np.zeros(target[0].shape, np.bool_)
        own[-grid.height :, -grid.width :] = True
        (found,) = Board(len(own), own.shape[1], "zero").words(own[None])
        words: Words = found
        return words

    def _question(self, ops: Ops) -> Convergence:
        visible = tuple(self._plan.scene.channels)
        (boundary, target) = self._asked
        circuit = self._live_circuit(ops, visible)
        (_, height, width) = target.shape
        rate = self._plan.scene.fire_rate
        return Convergence(circuit, visible, height, width, boundary, target, rate)

    def _live_circuit(self, ops: Ops, visible: tuple[int, ...]) -> Circuit:
        """Return the part that the future of `visible` depends on, folded.

        Like `live_part.live_circuit`, but only for live gates, less than a tenth.
        """
        code = prune(self._netlist, ops, visible).code
        xag = Xag(self._netlist.inputs)
        a, b, op = code.gates.T.tolist()
        literals = evaluate(Gates(op, a, b), map(xag.input, range(xag.inputs)), xag)
        outputs = [literals[row] for row in code.outputs.tolist()]
        channels = code.channels.tolist()
        return to_circuit(xag, outputs, tuple(channels), channels)

    def keeps(self, ops: Ops) -> bool:
        """Whether the circuit with `ops` provably keeps what it shows, if the task requires that.

        A rule for a line that fails on other lengths solves a stage, and the next one improves it.
        True if the task asks for nothing.
        """
        task = self._plan.proved
        if task is None:
            return True
        # A search asks several times about the same circuit.
        if self._kept is None or not np.array_equal(self._kept[0], ops):
            self._kept = ops.copy(), self._proves_kept(ops, task)
        return self._kept[1]

    def _proves_kept(self, ops: Ops, task: Task) -> bool:
        circuit = hard_circuit(self._netlist, ops)
        answer = prove(question_of(automaton_of(circuit, task), task))
        if answer.verdict is Verdict.refuted and self._plan.leads_on and task.machine is not None:
            line, _ = answer.evidence.wrong
            return len(line) != task.width
        return answer.verdict is Verdict.proved
