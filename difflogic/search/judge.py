"""Certificates decide whether a circuit that is right on samples is right for every start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Gates, evaluate
from difflogic.circuit.netlist import Netlist
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.engine.hard import mark_live
from difflogic.evaluation.assurance import MOST_BITS, assure_automaton
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.trial import Ops
from difflogic.model.hardening import automaton_of, hard_circuit
from difflogic.proof.convergence import Bits, Finding, Question, Verdict, by_sets, decide_quickly
from difflogic.proof.convergence.planes import unpack
from difflogic.tasks import Task

RECALLED = 64
"""Number of findings in the cache: in polishing, 3 of 5 circuits were among the last 16."""

DOUBTFUL = 64
"""Number of starts to draw from those that a certificate leaves open."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a certificate says about a circuit."""

    finding: Finding
    channels: int
    """Number of channels of the netlist; the certificate's circuit may have fewer."""
    decisive: int
    """The first step at which no cell may be wrong."""

    @property
    def proved(self) -> bool:
        """Whether every start reaches the target and stays there."""
        return self.finding.verdict is Verdict.proved

    @property
    def in_time(self) -> bool:
        """Whether the proof covers the decisive steps."""
        step, together = self.finding.from_step, self.finding.question.synchronous
        return self.proved and together and step is not None and step <= self.decisive

    def doubtful_starts(self) -> Bits:
        """Return states that the certificate leaves open, shape (DOUBTFUL, C, height, width).

        They depend only on the circuit. If some start stays wrong, some of these do.
        """
        question, final = self.finding.question, self.finding.final_sets
        least, most = (unpack(question.board, planes) for planes in final)
        rng = np.random.default_rng(0)
        starts = np.zeros((DOUBTFUL, self.channels, *least.shape[1:]), np.uint8)
        drawn = rng.integers(0, 2, (DOUBTFUL, *least.shape), dtype=np.uint8)
        starts[:, list(question.circuit.labels)] = np.where(least == most, least, drawn)
        return starts


class Judge:
    """Certifies circuits of one netlist, in milliseconds each, with the same result anywhere."""

    def __init__(self, netlist: Netlist, plan: Plan) -> None:
        self._netlist, self._plan = netlist, plan
        self._last: tuple[Ops, Finding] | None = None
        self._kept: tuple[Ops, bool] | None = None
        self._recent: dict[tuple[Any, ...], Finding] = {}
        """By circuit, the most recently used last."""

    @property
    def can_prove(self) -> bool:
        """Whether certificates apply to the task, and its grid is not too large."""
        bits = self._netlist.channels * self._plan.scene.grid.cells
        return self._plan.numbered_starts is not None and bits <= MOST_BITS

    def __call__(self, ops: Ops) -> Judgement:
        """Judge the circuit with `ops` (parameters,). Requires `can_prove`."""
        found = self._by_sets(ops)
        if found.verdict is not Verdict.proved:
            found = decide_quickly(found.question)
        return Judgement(found, self._netlist.channels, self._plan.decisive[0])

    def certified_step(self, ops: Ops) -> int | None:
        """Return the step from which sets prove a circuit right; None if they do not."""
        return self._by_sets(ops).from_step

    @property
    def latest_step(self) -> int | None:
        """The latest step at which a certificate is in time; None if it counts rounds."""
        return self._plan.decisive[0] if self._plan.scene.fire_rate == 1 else None

    def unknown_in_time(self, ops: Ops) -> int | None:
        """Return the number of cells that sets leave unknown at the first counted step.

        None if sets do not prove the circuit right at a later step either.
        """
        found, step = self._by_sets(ops), self._plan.decisive[0]
        if found.from_step is None:
            return None
        if found.from_step <= step:
            return 0
        state = found.states[step]
        visible = (
            state.least[channel] ^ state.most[channel] for channel in found.question.visible_places
        )
        return sum(map(int.bit_count, visible))

    def _by_sets(self, ops: Ops) -> Finding:
        # `certified_step` and `unknown_in_time` are called in turn for the same circuit.
        if self._last is None or not np.array_equal(self._last[0], ops):
            self._last = ops.copy(), self._recalled(self._question(ops))
        return self._last[1]

    def _recalled(self, question: Question) -> Finding:
        """Answer a question by sets, or from the cache: most changes do not affect the circuit."""
        circuit = question.circuit
        parts = circuit.op, circuit.a, circuit.b, circuit.outputs
        key = *(part.tobytes() for part in parts), circuit.labels
        found = self._recent.pop(key, None) or by_sets(question)
        self._recent[key] = found
        if len(self._recent) > RECALLED:
            del self._recent[next(iter(self._recent))]
        return found

    def _question(self, ops: Ops) -> Question:
        scene, numbered_starts = self._plan.scene, self._plan.numbered_starts
        assert numbered_starts is not None, "ask can_prove first"
        visible = tuple(scene.channels)
        return Question(
            self._live_circuit(ops, visible),
            visible,
            scene.grid.height,
            scene.grid.width,
            scene.grid.boundary,
            numbered_starts.target,
            scene.fire_rate,
        )

    def _live_circuit(self, ops: Ops, visible: tuple[int, ...]) -> Circuit:
        """Return the part that the future of `visible` depends on, folded.

        Like `convergence.folding.live_circuit`, but only for live gates, less than a tenth.
        """
        netlist = self._netlist
        live, marked = mark_live(netlist, ops, visible)
        live[: netlist.inputs] = True
        gates, channels = np.flatnonzero(live[netlist.inputs :]), np.flatnonzero(marked).tolist()
        # An input that an op ignores may get the index of any earlier row.
        place = np.cumsum(live) - 1
        fields = (ops[netlist.param[gates]], place[netlist.a[gates]], place[netlist.b[gates]])
        xag = Xag(netlist.inputs)
        literals = evaluate(
            Gates(*(each.tolist() for each in fields)), map(xag.input, range(netlist.inputs)), xag
        )
        outputs = [literals[row] for row in place[netlist.outputs[channels]].tolist()]
        return to_circuit(xag, outputs, tuple(channels), channels)

    def keeps(self, ops: Ops) -> bool:
        """Whether the circuit with `ops` provably keeps what it shows, if the task requires that.

        On a line, whether every length is decided: a rule that fails on longer lines solves a
        stage, and the next stage improves it. True if the task asks for nothing.
        """
        plan = self._plan
        task = plan.holding_task or plan.every_size_task or plan.settling_task
        if task is None:
            return True
        # A search asks several times about the same circuit.
        if self._kept is None or not np.array_equal(self._kept[0], ops):
            self._kept = ops.copy(), self._proves_kept(ops, task)
        return self._kept[1]

    def _proves_kept(self, ops: Ops, task: Task) -> bool:
        circuit = hard_circuit(self._netlist, ops)
        found = assure_automaton(automaton_of(circuit, task), task).verdict
        return found is Verdict.proved or (task.machine is not None and found is Verdict.refuted)
