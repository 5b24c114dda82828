"""The workers of an engine: their own buffers, and the calls that they do together."""

from __future__ import annotations

from typing import Any

from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.teams import ABORTED, BEGAN, ENDED, WAITING
from difflogic.engine.kernels.training import train
from difflogic.engine.soft.arrangement import Arrangement, allocate
from difflogic.engine.soft.work_stats import WorkStats
from difflogic.engine.workers import Workers


class Crew:
    """Runs the training kernel on all workers of a plan.

    A context manager: the workers' threads live as long as the context.
    """

    def __init__(self, plan: Arrangement) -> None:
        self._workers = Workers(plan.workers)
        self._team = plan.team
        self._groups = plan.groups
        self._created = 0
        (self._control,) = allocate({"control": plan.control}).values()
        self._problem = k.Setup(self._team, plan.rollouts.program.code, plan.layout)
        self._chunks = len(self._problem.layout.chunk_start) - 1
        self._workspaces = [
            k.Workspace(**allocate(plan.rollouts.workspace())) for _ in range(plan.workers)
        ]

    def __enter__(self) -> Crew:
        self._workers.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._workers.__exit__(*raised)

    def call(self, batch: k.Batch, span: k.Span) -> None:
        """Do a part of a training step, and add the seconds that workers waited to its clock."""
        self._control[:] = 0
        task = k.Call(self._problem, batch, span, self._control)
        calls = [(worker, task, space) for worker, space in enumerate(self._workspaces)]
        try:
            self._workers.run(train, calls)
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

    @property
    def work(self) -> WorkStats:
        """What all workers have done since the crew was created."""
        each = (WorkStats.of(space.cursor) for space in self._workspaces)
        return sum(each, WorkStats(created=self._created))
