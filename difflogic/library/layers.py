"""Rollouts as a layer of other frameworks: states out, gradients of any loss back in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difflogic.circuit import gates
from difflogic.circuit.firing import draw_masks
from difflogic.config import Config, load_config, shipped_configs
from difflogic.engine.arrangement import Arrangement
from difflogic.engine.layout import Grid
from difflogic.engine.plan import worth_waking
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.library.loading import Loaded, load
from difflogic.model.model import Model
from difflogic.system.arrays import bits, real_numbers
from difflogic.system.errors import ConfigError

Array = npt.NDArray[Any]
Keep = Sequence[int] | Literal["all"] | None
PullBack = Callable[[Array], tuple[Array, Array]]

ENGINES = 2
"""Engines that are kept: one for training and one for tests of another size."""


def as_model(source: Model | Config | Loaded | str | Path) -> Model:
    """Return a model, or an untrained one of a configuration, a shipped one's name or a .toml.

    Raises what `load` and `load_config` raise.
    """
    if isinstance(source, str | Path) and (
        str(source) in shipped_configs() or Path(source).suffix == ".toml"
    ):
        source = load_config(source)
    return Model.create(source) if isinstance(source, Config) else load(source).require_model()


class SoftRollout:
    """Rolls a soft automaton out from any logits and states, and takes any gradients back.

    `source` is a model, a run, a configuration or its name; logits are given with each call.
    `workers` are as many threads as pay by default, and change no bit. Calls from several threads
    wait for each other.
    """

    def __init__(
        self, source: Model | Config | Loaded | str | Path, *, workers: int | None = None
    ) -> None:
        if workers is not None and workers < 1:
            raise ConfigError(f"workers: {workers}: give at least 1, or None")
        self.model = as_model(source)
        self._workers = workers
        self._engines: dict[tuple[Any, ...], Engine] = {}
        self._lock = threading.RLock()
        self._calls = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the threads where they are."""
        return _restored, (self.model, self._workers)

    def with_logits(self, logits: Array) -> Model:
        """Return the model with other logits, (parameters, 16): to save, test, simplify, prove."""
        return replace(self.model, logits=np.array(logits, order="C"))

    def draw_masks(
        self, batch: int, size: tuple[int, int], steps: int | None = None, *, seed: int, epoch: int
    ) -> npt.NDArray[np.uint8] | None:
        """Return the masks that training draws, (batch, steps, H, W); None for a synchronous one.

        A mask is 1 where a cell takes its new state.
        """
        automaton = self.model.config.automaton
        return draw_masks(seed, epoch, batch, steps or automaton.steps, *size, automaton.fire_rate)

    def __call__(
        self,
        logits: Array,
        starts: Array,
        *,
        steps: int | None = None,
        keep: Keep = None,
        masks: npt.NDArray[np.uint8] | None = None,
        hard: bool = False,
    ) -> tuple[Array, PullBack]:
        """Roll a batch out. Returns states and a function that takes their gradients back.

        `logits` (parameters, 16), float32 or float64, set the precision; `starts` is (batch, C, H,
        W), bits or real numbers. Without `keep`, states are those after `steps`, by default the
        configuration's, of the starts' shape; `keep` asks for several steps, ascending, 0 is the
        start, and "all" for those from 0 to `steps`: (batch, kept, C, H, W). An asynchronous
        automaton needs `masks` (batch, steps, H, W), 1 where a cell takes its new state. With
        `hard` every gate is its most probable op, and gradients pass to the logits as if it were
        the mixture (straight-through).

        The function takes dL/d(states), of the states' shape, and returns dL/d(logits) and
        dL/d(starts). It may be called at any time and more than once: if other rollouts came
        between, it repeats its own. The starts must not be changed before it is called.

        Raises ConfigError for what does not fit.
        """
        logits, starts = real_numbers("logits", logits), real_numbers("starts", starts)
        masks = None if masks is None else bits("masks", masks)
        shape = self.shape(logits, starts, masks, steps=steps, keep=keep)
        kept = self._kept(steps, keep)
        loss_steps = [step for step in kept if step]
        masks = None if masks is None else np.ascontiguousarray(masks[:, : kept[-1]], np.uint8)
        probabilities = gates.softmax(logits)
        if hard:
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
        """Return the shape of the states that a call returns, for arrays of any framework.

        Raises ConfigError where shapes or types do not fit.
        """
        expected: tuple[int, ...] = self.model.logits.shape
        if tuple(logits.shape) != expected or logits.dtype not in (np.float32, np.float64):
            raise ConfigError(
                f"logits have shape {tuple(logits.shape)} and type {logits.dtype}: give "
                f"{expected}, float32 or float64"
            )
        shape, channels = tuple(starts.shape), self.model.netlist.channels
        if len(shape) != 4 or shape[1] != channels or 0 in shape:
            raise ConfigError(f"starts have shape {shape}: give (batch, {channels}, height, width)")
        kept, rate = self._kept(steps, keep), self.model.config.automaton.fire_rate
        expected = shape[0], max(1, kept[-1]), *shape[2:]
        if masks is None and rate < 1:
            raise ConfigError(
                f"masks are missing: a cell of this automaton fires with probability {rate:g}: "
                f"give {expected}, as draw_masks does, or ones"
            )
        given = expected if masks is None else tuple(masks.shape)
        if given[:1] + given[2:] != expected[:1] + expected[2:] or given[1] < expected[1]:
            raise ConfigError(f"masks have shape {given}: give {expected}, or more steps")
        return shape if keep is None else (shape[0], len(kept), *shape[1:])

    def _kept(self, steps: int | None, keep: Keep) -> list[int]:
        """Return the steps whose states are wanted, ascending."""
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
        """Return an engine for a batch of a shape; one with more steps is as good."""
        batch, _, height, width = shape
        key = batch, height, width, dtype
        engine = self._engines.pop(key, None)
        if engine is None or engine.steps < steps:
            stale = [] if engine is None else [engine]
            while len(self._engines) >= ENGINES:
                stale.append(self._engines.pop(next(iter(self._engines))))
            for each in stale:
                each.__exit__(None, None, None)
            engine = self._make(
                Grid(height, width, self.model.config.automaton.boundary), key, steps
            )
        self._engines[key] = engine
        return engine

    def _make(self, grid: Grid, key: tuple[Any, ...], steps: int) -> Engine:
        batch, dtype, netlist = key[0], key[-1], self.model.netlist
        sharing = Sharing(strategy="steps")
        plan = Arrangement.for_rollouts(netlist, grid, steps, batch, dtype, sharing)
        cores = plan.machine.cores
        workers = self._workers or min(cores, plan.at(cores).tasks, worth_waking(plan))
        sharing = Sharing(workers=workers, strategy="steps")
        return Engine(netlist, grid, steps, batch, dtype, sharing).__enter__()


def _restored(model: Model, workers: int | None) -> SoftRollout:
    return SoftRollout(model, workers=workers)
