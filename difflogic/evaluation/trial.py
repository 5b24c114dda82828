"""Counting the wrong cells of a hard circuit in a scene, and for searches its wrong bits.

Each start has its own random streams, so counts do not depend on the number of starts or steps
simulated at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from difflogic.circuit.firing import Firing
from difflogic.circuit.netlist import Netlist
from difflogic.engine.hard.candidates import Candidates
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.engine.kernels.structures import HardScript
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.scores import Counted
from difflogic.system.array_types import Array, Bits, Int64s, Words
from difflogic.system.streams import sample_streams
from difflogic.system.work import may_cancel

VALUES_AT_ONCE = 2**26
"""Channels times cells to simulate at a time, which limits memory to about 1 GB."""

EVENTS_AT_ONCE = 2**24
"""Cells times steps, over all starts, to draw masks and damage for at a time."""

Ops = Bits
Wrong = Int64s
"""Wrong bits or cells of each start after each counted step, shape (counted steps, starts)."""


def counts_of(name: str, scene: Scene, wrong: Int64s) -> list[Counted]:
    """Return a count for each step, from the wrong cells of each start (steps, starts)."""
    counted = scene.counted(wrong.shape[1])
    return [
        Counted(
            name=name,
            height=scene.grid.height,
            width=scene.grid.width,
            fire_rate=scene.fire_rate,
            step=step,
            starts=len(cells),
            wrong_starts=int((cells > 0).sum()),
            cells=counted,
            wrong_cells=int(cells.sum()),
        )
        for step, cells in zip(scene.at, wrong, strict=True)
    ]


def count_of_all_steps(name: str, scene: Scene, wrong: Int64s) -> Counted:
    """Return the count of all steps together, from the wrong cells as for `counts_of`."""
    last = replace(scene, at=scene.at[-1:])
    (count,) = counts_of(name, last, wrong.sum(axis=0, keepdims=True))
    return count.model_copy(update={"cells": count.cells * len(scene.at)})


@dataclass(frozen=True)
class Block:
    """Some packed starts, and the scripts of their rollout."""

    simulator: HardSimulator
    starts: Words
    scripts: Iterable[HardScript]
    steps: int
    """Number of steps of all scripts together."""

    def count(self, ops: Ops, channels: tuple[int, ...]) -> Wrong:
        """Return what the scripts count of each start after each counted step, (counts, batch)."""
        self.simulator.load(ops, channels)
        self.simulator.state[:] = self.starts
        found = []
        done = 0
        for script in self.scripts:
            found.append(self.simulator.run(script, done, self.steps))
            done += script.steps
        return np.concatenate(found)


class Trial:
    """A scene whose starts, masks, damage and targets are drawn and packed once; it counts bits.

    Call it with the ops of any circuit of the netlist. `samples` are the numbers of its starts.
    """

    def __init__(self, netlist: Netlist, scene: Scene, samples: Sequence[int]) -> None:
        self.scene = scene
        self.samples = tuple(samples)
        self._blocks = [
            replace(block, scripts=tuple(block.scripts))
            for block in _blocks(netlist, scene, self.samples, by_cell=False)
        ]

    @property
    def active_gates(self) -> int:
        """Number of gates of the last circuit that the counted channels ever depend on."""
        return self._blocks[0].simulator.active_gates

    def candidates(self) -> Candidates | None:
        """Return the fast judge of single changes; None if the starts need too much memory."""
        if len(self._blocks) > 1 or len(list(self._blocks[0].scripts)) > 1:
            return None
        block = self._blocks[0]
        (script,) = block.scripts
        return Candidates(block.simulator, block.starts, script)

    def __call__(self, ops: Ops) -> Wrong:
        """Return the wrong bits of each start, shape (counted steps, starts).

        `ops` holds the op of each parameter, shape (parameters,).
        """
        may_cancel()
        found = [block.count(ops, self.scene.channels) for block in self._blocks]
        return np.concatenate(found, axis=1)


def count_wrong(netlist: Netlist, ops: Ops, scene: Scene, starts: int) -> Wrong:
    """Return the wrong cells of each start after each counted step, (counted steps, starts).

    Memory does not grow with the number of steps.
    """
    blocks = _blocks(netlist, scene, range(starts), by_cell=True)
    return np.concatenate([block.count(ops, scene.channels) for block in blocks], axis=1)


def _blocks(
    netlist: Netlist, scene: Scene, samples: Sequence[int], by_cell: bool
) -> Iterator[Block]:
    at_once = VALUES_AT_ONCE // (scene.grid.cells * netlist.channels)
    at_once = max(1, min(len(samples), at_once))
    simulator = HardSimulator(netlist, scene.grid, at_once)
    for first in range(0, len(samples), at_once):
        part = samples[first : first + at_once]
        if len(part) < at_once:  # the last ones
            simulator = HardSimulator(netlist, scene.grid, len(part))
        states, targets = draw_samples(scene, part)
        ignored = np.isnan(targets[:, 0])
        if scene.ignored is not None:
            ignored |= scene.ignored.astype(np.bool_)
        how = partial(simulator.script, ignored=ignored, by_cell=by_cell)
        scripts = _scripts(how, scene, part, scene.targets(targets))
        yield Block(simulator, simulator.pack_states(states), scripts, scene.at[-1])


def draw_samples(scene: Scene, samples: Sequence[int]) -> tuple[Bits, Array]:
    """Draw starts (batch, C, H, W) and targets (batch, L, H, W) by their numbers."""
    numbers = np.asarray(samples)
    stretches = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    drawn = [scene.draw(int(stretch[0]), len(stretch)) for stretch in stretches]
    if len(drawn) == 1:
        return drawn[0]
    return tuple(np.concatenate(arrays) for arrays in zip(*drawn, strict=True))  # type: ignore[return-value]


def _scripts(
    pack: Callable[..., HardScript], scene: Scene, samples: Sequence[int], targets: Bits
) -> Iterator[HardScript]:
    """Draw masks, damage and targets of some starts, and `pack` them, for some steps at a time."""
    seed, _, mask, epoch = scene.streams
    streams = sample_streams(seed, mask, epoch, samples)
    fires = Firing(scene.fire_rate, (scene.grid.height, scene.grid.width), streams)
    at = np.array(scene.at)
    counts = scene.counts(samples)
    at_once = max(1, EVENTS_AT_ONCE // (scene.grid.cells * len(samples)))
    for first in range(0, scene.at[-1], at_once):
        steps = range(first, min(first + at_once, scene.at[-1]))
        damage = None
        if scene.damage is not None and first < scene.damage.until:
            damage = scene.damage.draw(scene.grid, scene.streams, samples, steps)
        counted = (at > steps.start) & (at <= steps.stop)
        yield pack(
            len(steps),
            fires.draw(len(steps)),
            damage,
            at=(at[counted] - first).tolist(),
            targets=targets[counted] if targets.ndim == 5 else targets,
            channels=scene.channels,
            counts=counts[counted] if scene.undamaged_at else None,
        )
