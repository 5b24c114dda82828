"""The workers of an engine: their own buffers, and the calls that they do together."""

from __future__ import annotations

from typing import Any

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.teams import ABORTED, BEGAN, ENDED, MEETING, WAITING
from difflogic.engine.kernels.training import train_by_gates
from difflogic.engine.soft.arrangement import Arrangement, allocate
from difflogic.engine.soft.compilation import training_kernel
from difflogic.engine.soft.split import split_program
from difflogic.engine.soft.work_stats import WorkStats
from difflogic.engine.workers import Workers


class Crew:
    """Runs the training kernel on all workers of a plan.

    A context manager: the workers' threads live as long as the context.
    """

    def __init__(self, netlist: Netlist, plan: Arrangement) -> None:
        self._workers = Workers(plan.workers)
        self._team = plan.team
        self._groups = plan.groups
        self._kernel = training_kernel(plan.sharing.strategy, plan.workers)
        self._created = 0
        (self._control,) = allocate({"control": plan.control}).values()
        self._problem = k.Setup(self._team, plan.rollouts.program.code, plan.layout)
        self._chunks = len(self._problem.layout.chunk_start) - 1
        # Workers that share a tile use the buffers of their first one.
        parts = plan.parts
        splits = self._kernel is train_by_gates
        self._workspaces = [
            k.Workspace(**allocate(plan.rollouts.workspace(splits, leads=worker % parts == 0)))
            for worker in range(plan.workers)
        ]
        self._split = split_program(netlist, parts) if splits else None

    def __enter__(self) -> Crew:
        self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._workers.__exit__(*raised)

    def call(self, batch: k.Batch, span: k.Span) -> None:
        """Do a part of a training step, and add the seconds that workers waited to its clock."""
        self._control[:] = 0
        task = k.Call(self._problem, batch, span, self._control)
        calls: list[tuple[Any, ...]]
        calls = [(worker, task, space) for worker, space in enumerate(self._workspaces)]
        if self._split is not None:
            calls = [(*call, self._seat(worker, self._split)) for worker, call in enumerate(calls)]
        try:
            self._workers.run(self._kernel, calls)
        except BaseException:
            # Ctrl-C came before all workers had started: nobody must wait for a missing one.
            self._control[ABORTED] = 1
            raise
        parts = span.parts
        whole = self._team.groups_alone
        ways = (parts & k.FORWARD != 0) + (parts & k.BACKWARD != 0)
        shared = (self._groups - whole) * self._chunks * (span.end - span.first)
        self._created += ways * (whole + shared)
        began = batch.clock[:, BEGAN]
        ended = batch.clock[:, ENDED]
        # A worker also waits before it wakes and after it is done, while others work.
        batch.clock[:, WAITING + (parts & -parts).bit_length() - 1] += began - began.min()
        batch.clock[:, WAITING + parts.bit_length() - 1] += ended.max() - ended

    def _seat(self, worker: int, split: k.SplitCode) -> k.Seat:
        team, part = divmod(worker, split.parts)
        place = len(self._control) - MEETING * (self._team.workers - team)
        leader = self._workspaces[team * split.parts]
        return k.Seat(part, split, leader, self._control, place)

    @property
    def work(self) -> WorkStats:
        """What all workers have done since the crew was created."""
        each = (WorkStats.of(space.cursor) for space in self._workspaces)
        return sum(each, WorkStats(created=self._created))
