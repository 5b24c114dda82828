"""Rollouts as a layer of other frameworks: they return states, and take gradients of any loss."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import index
from pathlib import Path
from typing import Any, Literal

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.grid import Grid
from difflogic.config import Config, load_config, shipped_configs
from difflogic.engine.soft.arrangement import Arrangement
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import Sharing
from difflogic.library.loaded import Loaded, load
from difflogic.model.model import Model
from difflogic.system.array_types import Array, Bits
from difflogic.system.arrays import bits, real_numbers
from difflogic.system.declaration import Count, checked
from difflogic.system.errors import ConfigError

Keep = Sequence[int] | Literal["all"] | None
PullBack = Callable[[Array], tuple[Array, Array]]

ENGINES = 2
"""Engines to keep: one for training and one for tests of another size."""

BEYOND = 1e-3
"""How far starts may lie outside of 0 to 1, as states of another rollout do by rounding."""

ModelSource = Model | Config | Loaded | str | Path


def real_starts(starts: Any) -> Array:
    """Return starts as an array. Raises ConfigError for numbers beyond 0 to 1."""
    found = real_numbers("starts", starts)
    if found.size and not -BEYOND <= found.min() <= found.max() <= 1 + BEYOND:
        raise ConfigError(
            f"starts: are from {found.min():g} to {found.max():g}: give bits, or real numbers from "
            "0 to 1"
        )
    return found


class SoftRollout:
    """Rolls a soft automaton out from any logits and states, and takes gradients back.

    `source` is a model, a run, a configuration or its name; logits are given with each call. With
    `hard`, each gate is its most probable op, and gradients pass to the logits as if it were the
    mixture (straight-through). `workers` is the number of threads, by default as many as pay off;
    it changes no bit. Calls from several threads wait for each other. Raises what `load` and
    `load_config` raise.
    """

    @checked
    def __init__(
        self, source: ModelSource, *, hard: bool = False, workers: Count | None = None
    ) -> None:
        if isinstance(source, str | Path) and (
            str(source) in shipped_configs() or Path(source).suffix == ".toml"
        ):
            source = load_config(source)
        if isinstance(source, Config):
            source = Model.create(source)
        self.model = load(source).require_model()
        self.hard = hard
        self._workers = workers
        self._engines: dict[tuple[Any, ...], Engine] = {}
        self._locks = {os.getpid(): threading.RLock()}
        self._calls = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the threads."""
        return partial(SoftRollout, hard=self.hard, workers=self._workers), (self.model,)

    @property
    def _lock(self) -> threading.RLock:
        """The lock of this process. After a fork, a thread that is not here may hold the parent's,
        and be at work in its engines.
        """
        if os.getpid() not in self._locks:
            self._engines, self._calls = {}, self._calls + 1
            self._locks = {os.getpid(): threading.RLock()}
        return self._locks[os.getpid()]

    def with_logits(self, logits: Array) -> Model:
        """Return the model with other logits, (parameters, 16), for the library's functions.

        Raises ConfigError for what is not finite.
        """
        return replace(self.model, logits=np.array(real_numbers("logits", logits), order="C"))

    def __call__(
        self,
        logits: Array,
        starts: Array,
        *,
        steps: int | None = None,
        keep: Keep = None,
        masks: Bits | None = None,
    ) -> tuple[Array, PullBack]:
        """Roll a batch out. Return states, and a function that takes their gradients back.

        `logits` (parameters, 16), float32 or float64, set the precision. `starts` (batch, C, H, W)
        are bits or real numbers. Without `keep`, the result has the starts' shape and is the state
        after `steps`, by default the configuration's. With `keep`, a list of ascending steps (0 is
        the start) or "all" (0 to `steps`), it is (batch, kept, C, H, W). An asynchronous automaton
        needs `masks` (batch, steps, H, W), 1 where a cell updates.

        The function takes dL/d(states), of the states' shape, and returns dL/d(logits) and
        dL/d(starts). It may be called at any time and more than once; after other rollouts, it
        repeats its own. Do not change the starts before it is called.

        Raises ConfigError for arguments that do not fit.
        """
        logits = real_numbers("logits", logits)
        starts = real_starts(starts)
        masks = None if masks is None else bits("masks", masks)
        shape = self.shape(logits, starts, masks, steps=steps, keep=keep)
        kept = self._kept(steps, keep)
        loss_steps = [step for step in kept if step]
        masks = None if masks is None else np.ascontiguousarray(masks[:, : kept[-1]], np.uint8)
        probabilities = gates.softmax(logits)
        if self.hard:
            coefficients = gates.COEFFICIENTS.astype(logits.dtype)[gates.harden(logits)]
        else:
            coefficients = gates.mix(probabilities)

        def roll() -> tuple[Engine, int]:
            self._calls += 1
            engine = self._engine(starts.shape, max(1, kept[-1]), logits.dtype)
            engine.forward(coefficients, starts, masks, loss_steps or [1])
            return engine, self._calls

        with self._lock:
            engine, call = roll()
            states = engine.states(kept)
        del engine

        def pull_back(gradients: Array) -> tuple[Array, Array]:
            nonlocal call
            gradients = real_numbers("gradients", gradients).astype(logits.dtype, copy=False)
            if gradients.shape != shape:
                raise ConfigError(f"gradients have shape {gradients.shape}: give {shape}")
            gradients = gradients.reshape(len(starts), len(kept), *starts.shape[1:])
            after = [gradients[:, place] for place, step in enumerate(kept) if step]
            with self._lock:
                if call != self._calls:
                    _, call = roll()
                engine = self._engine(starts.shape, max(1, kept[-1]), logits.dtype)
                to_coefficients = engine.backward(*after)
                to_starts = engine.start_gradients()
            if kept[0] == 0:
                to_starts += gradients[:, 0]
            return gates.mix_gradient(probabilities, to_coefficients), to_starts

        return states.reshape(shape), pull_back

    def shape(
        self,
        logits: Any,
        starts: Any,
        masks: Any = None,
        *,
        steps: int | None = None,
        keep: Keep = None,
    ) -> tuple[int, ...]:
        """Return the shape of a call's states, for arrays of any framework.

        Raises ConfigError for shapes or types that do not fit.
        """
        expected: tuple[int, ...] = self.model.logits.shape
        if tuple(logits.shape) != expected or logits.dtype not in (np.float32, np.float64):
            raise ConfigError(
                f"logits have shape {tuple(logits.shape)} and type {logits.dtype}: give "
                f"{expected}, float32 or float64"
            )
        shape = tuple(starts.shape)
        channels = self.model.netlist.channels
        if len(shape) != 4 or shape[1] != channels or 0 in shape:
            raise ConfigError(f"starts have shape {shape}: give (batch, {channels}, height, width)")
        kept = self._kept(steps, keep)
        rate = self.model.config.automaton.fire_rate
        expected = shape[0], max(1, kept[-1]), *shape[2:]
        if masks is None and rate < 1:
            raise ConfigError(
                f"masks are missing: a cell of this automaton fires with probability {rate:g}: "
                f"give {expected}, 1 where it fires"
            )
        if masks is not None and rate == 1:
            raise ConfigError("masks: every cell of this automaton fires: leave them out")
        given = expected if masks is None else tuple(masks.shape)
        if given[:1] + given[2:] != expected[:1] + expected[2:] or given[1] < expected[1]:
            raise ConfigError(f"masks have shape {given}: give {expected}, or more steps")
        return shape if keep is None else (shape[0], len(kept), *shape[1:])

    def _kept(self, steps: int | None, keep: Keep) -> list[int]:
        """Return the steps whose states are returned, ascending."""
        last = self.model.config.automaton.steps if steps is None else steps
        if not isinstance(last, int | np.integer) or last < 0:
            raise ConfigError(f"steps: {last!r}: give a whole number, 0 or more")
        if keep is None:
            return [int(last)]
        if isinstance(keep, str):
            if keep != "all":
                raise ConfigError(f'keep: "{keep}": give steps, ascending, or "all"')
            return list(range(last + 1))
        try:
            kept = [index(step) for step in keep]
        except TypeError:
            kept = []
        if not kept or kept != sorted(set(kept)) or kept[0] < 0 or kept[-1] > last:
            raise ConfigError(
                f"keep: {keep!r}: give whole numbers from 0 to {last}, ascending, each once"
            )
        return kept

    def _engine(self, shape: tuple[int, ...], steps: int, dtype: np.dtype) -> Engine:
        """Return an engine for a batch of this shape with at least this many steps."""
        batch, _, height, width = shape
        key = batch, height, width, dtype
        engine = self._engines.pop(key, None)
        if engine is None or engine.steps < steps:
            stale = [] if engine is None else [engine]
            while len(self._engines) >= ENGINES:
                stale.append(self._engines.pop(next(iter(self._engines))))
            for each in stale:
                each.__exit__(None, None, None)
            grid = Grid(height, width, self.model.config.automaton.boundary)
            netlist = self.model.netlist
            plan = Arrangement.for_rollouts(netlist, grid, steps, batch, dtype, Sharing())
            cores = plan.machine.cores
            workers = self._workers or min(cores, plan.at(cores).tasks, plan.useful_workers)
            engine = Engine(netlist, grid, steps, batch, dtype, Sharing(workers)).__enter__()
        self._engines[key] = engine
        return engine
