"""A run's learning on a GPU: logits, soft gates, rollouts and AdamW all stay on the device.

A training step sends its samples, and gets back a loss for each, the gates' ops, and whether all
gradients are finite. Logits are read back only for a search, a checkpoint or a model.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.forms import FORMS
from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.sections import TrainingConfig
from difflogic.engine.soft.arrangement import Arrangement
from difflogic.gpu.adapter import find_adapter
from difflogic.gpu.fleet import MIXES, MOVES, REDUCES, RUNS, Fleet, Fleets, Job
from difflogic.gpu.tables import shape_of, tables
from difflogic.system.array_types import Array, Bits, Float32s
from difflogic.system.errors import TrainingError

FREE = 2.0**30
"""The target of a cell that does not count: a shader may assume that no number is NaN."""


class DeviceLearned:
    """A `Learner` (training/learner.py) on a GPU; its arrays only have the right shapes.

    It is its own `Differentiator`.
    """

    def __init__(
        self, logits: Array, training: TrainingConfig, fleets: Fleets | None = None
    ) -> None:
        """Runs of one shape in the same `fleets` share dispatches."""
        self._host = logits
        self._training = training
        self._fleets = fleets
        self._form = FORMS[training.form](training.initial_logit)
        self.conformed_gates = self._conform()
        """Number of gates whose initial logits did not have the form."""
        self.ops = np.zeros(logits.shape[1], np.uint8)
        """The most probable op of each gate in the last mixture."""
        self.decided = 0.0
        """Share of gates, 0 to 1, whose op was decided in the last mixture."""
        self._steps = 0
        self._fresh = True
        self._moves = False
        self._place: tuple[Fleet, int] | None = None
        self._stale = False
        """Whether the device has newer logits than the host."""
        numbers = 16 if self._form is None else 4
        self._moments = {name: np.zeros((numbers, logits.shape[1]), np.float32) for name in MEANS}
        """AdamW's two means, while no device keeps them."""

    @property
    def logits(self) -> Array:
        """The current logits. To replace them, call `load`."""
        self._settle()
        if self._stale:
            self._host[:] = self._read("LOGIT", self._host)
            self._stale = False
        return self._host

    def engine(self, netlist: Netlist, grid: Grid, plan: Arrangement) -> Self:
        """Prepare for a circuit's rollouts and gradients with these logits."""
        steps = plan.rollouts.steps
        numbers = len(self._moments["FIRST"])
        shape = shape_of(netlist, grid, steps, plan.batch, plan.rollouts.loss_channels, numbers)
        if self._place is None or self._place[0].shape != shape:
            learned = self._leave()
            adapter = find_adapter()
            fleets = self._fleets
            fleet = Fleet(adapter, shape, 1) if fleets is None else fleets.of(adapter, shape)
            self._place = fleet, fleet.take()
            for part, array in learned.items():
                self._write(part, array)
        fleet, run = self._place
        fleet.write("net", run, "LEVEL", tables(netlist, shape))
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        pass

    def close(self) -> None:
        """Give up the place on the device; keep what was learned if it can still be read."""
        try:
            self._leave()
        except TrainingError:
            fleet, run = self._at
            fleet.leave(run)
            self._place = None

    def _leave(self) -> dict[str, Array]:
        """Give up the place on the device; return what was learned there."""
        if self._place is None:
            return {"LOGIT": self._host, **self._moments}
        learned = {"LOGIT": self.logits, **self._means()}
        fleet, run = self._place
        fleet.leave(run)
        self._place = None
        self._moments = {name: learned[name] for name in MEANS}
        return learned

    def mix(self) -> Array:
        """Make the next rollouts mix the gates on the device; the result is not fetched."""
        self._fresh = True
        return np.zeros((len(self.ops), 4), np.float32)

    def step(self, gradients: Array) -> None:
        """Take a step with the device's gradients, before the next mixture."""
        self._steps += 1
        self._moves = True

    def load(self, logits: Array) -> None:
        """Replace the logits."""
        self._settle()
        self._host[:] = logits
        self._stale = False
        self._write("LOGIT", self._host)

    def forget(self, logits: Array) -> None:
        """Start over from other logits."""
        self.load(logits)
        self._conform()
        self._write("LOGIT", self._host)
        self._steps = 0
        for name, array in self._moments.items():
            self._write(name, np.zeros_like(array))

    def state(self) -> dict[str, Array]:
        """Return copies of AdamW's state."""
        self._settle()
        names = dict(zip(MEANS, ("adamw_first", "adamw_second"), strict=True))
        means = {names[name]: array.copy() for name, array in self._means().items()}
        return {"adamw_steps": np.array(self._steps, np.int64), **means}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Restore AdamW's state and the "logits" saved with it."""
        self.load(state["logits"])
        self._steps = int(state["adamw_steps"])
        self._write("FIRST", state["adamw_first"])
        self._write("SECOND", state["adamw_second"])

    def run_training(
        self,
        coefficients: Array,
        starts: Array,
        targets: Array,
        loss_channels: Sequence[int],
        masks: Bits | None = None,
        loss_steps: Sequence[int] = (),
    ) -> tuple[list[float], dict[str, float]]:
        """Do as `Engine.run_training`, with the coefficients on the device.

        After `mix` the gradients start at zero. All time counts as "forward".
        """
        begun = time.perf_counter()
        fleet, run = self._at
        places = np.zeros(fleet.shape.channels, np.uint32)
        places[list(loss_channels)] = 1 + np.arange(len(loss_channels))
        fleet.write("jobs", run, "CHANNEL", places)
        wanted = np.nan_to_num(targets, nan=FREE)
        for part, batch in (("STATE", starts), ("TARGET", wanted), ("MASK", masks)):
            if batch is not None:
                fleet.write("states", run, part, self._spread(batch))
        does = RUNS | REDUCES | (MIXES if self._fresh else 0)
        report = self._do(does, loss_steps[-1], len(starts), loss_steps, masks is not None)
        self._fresh = False
        words = report[fleet.shape.batch :]
        self.ops[:] = words & 15
        self.decided = np.count_nonzero(words & 256) / len(words)
        self._finite = not (words & 512).any()
        losses = report[: len(starts)].view(np.float32).tolist()
        return losses, {"forward": time.perf_counter() - begun}

    def reduce(self, total: Array) -> Array:
        """Leave the gradients on the device; `total` becomes NaN if any is not finite."""
        if not self._finite:
            total[:] = np.nan
        return total

    @property
    def _at(self) -> tuple[Fleet, int]:
        assert self._place is not None, "ask for an engine first"
        return self._place

    def _conform(self) -> int:
        return 0 if self._form is None else self._form.conform(self._host)

    def _settle(self) -> None:
        """Take the pending step, if any."""
        if self._moves:
            self._do(0)

    def _do(
        self,
        does: int,
        steps: int = 0,
        samples: int = 0,
        loss_steps: Sequence[int] = (0,),
        masked: bool = False,
    ) -> npt.NDArray[np.uint32]:
        fleet, run = self._at
        does |= MOVES if self._moves else 0
        rates = self._training.rates(max(1, self._steps))
        job = Job(run, does, steps, samples, loss_steps, masked, fresh=self._fresh, rates=rates)
        report = fleet.do(job)
        self._stale |= self._moves
        self._moves = False
        return report

    def _means(self) -> dict[str, Array]:
        if self._place is None:
            return self._moments
        return {name: self._read(name, array) for name, array in self._moments.items()}

    def _read(self, part: str, like: Array) -> Array:
        fleet, run = self._at
        return fleet.read("learned", run, part, like.size).reshape(like.shape)

    def _write(self, part: str, array: Array) -> None:
        if self._place is None:
            if part in self._moments:
                self._moments[part][:] = array
            return
        fleet, run = self._at
        fleet.write("learned", run, part, np.asarray(array, np.float32))

    def _spread(self, batch: Array) -> Float32s:
        """Lay out samples (batch, rows, H, W) lane by lane, (rows, lanes)."""
        shape = self._at[0].shape
        lanes = np.zeros((batch.shape[1], shape.lanes), np.float32)
        flat = batch.reshape(len(batch), batch.shape[1], -1).transpose(1, 0, 2)
        lanes[:, : len(batch) * shape.grid.cells] = flat.reshape(batch.shape[1], -1)
        return lanes


MEANS = ("FIRST", "SECOND")
"""AdamW's means of the gradient and of its square, by their names on the device."""
