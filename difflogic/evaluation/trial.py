"""How many cells a hard circuit gets wrong in a scene.

Each start has its own random streams, so counts do not depend on how many starts or steps are
simulated at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import firing
from difflogic.circuit.netlist import Netlist
from difflogic.engine.candidates import Batch, Candidates, Round, Walk
from difflogic.engine.hard import Bits, HardSimulator, Script, Words
from difflogic.engine.workers import Workers
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.shared_judging import SharedJudging
from difflogic.system.ranks import ALONE, Ranks

VALUES_AT_ONCE = 2**26
"""Channels times cells that are simulated at a time, which bounds memory to about 1 GB."""

EVENTS_AT_ONCE = 2**24
"""Cells times steps, over all starts, for which masks and damage are drawn at a time."""

Ops = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Some of the starts, packed, and the scripts of their rollout."""

    simulator: HardSimulator
    starts: Words
    scripts: Iterable[Script]
    steps: int
    """Number of steps of all scripts together."""

    def count(self, ops: Ops, channels: tuple[int, ...]) -> Counts:
        """Return the wrong bits of each start after each counted step, (counts, batch)."""
        self.simulator.load(ops, channels)
        self.simulator.state[:] = self.starts
        found, done = [], 0
        for script in self.scripts:
            found.append(self.simulator.run(script, done, self.steps))
            done += script.steps
        return np.concatenate(found)


class Trial:
    """A scene whose starts, masks, damage and targets are drawn and packed once.

    Call it with the ops of any circuit of the netlist, as often as you like. `samples` are the
    numbers of its starts.
    """

    def __init__(self, netlist: Netlist, scene: Scene, samples: Sequence[int]) -> None:
        self.scene, self.samples = scene, tuple(samples)
        self._blocks = [
            replace(block, scripts=tuple(block.scripts))
            for block in _blocks(netlist, scene, self.samples)
        ]

    @property
    def active_gates(self) -> int:
        """Gates of the last circuit that the counted channels ever depend on."""
        return self._blocks[0].simulator.active_gates

    def candidates(self, workers: Workers) -> Candidates | None:
        """Return the fast judge of single changes; None if the starts need too much memory."""
        if len(self._blocks) > 1 or len(list(self._blocks[0].scripts)) > 1:
            return None
        block = self._blocks[0]
        (script,) = block.scripts
        return Candidates(block.simulator, block.starts, script, workers)

    def __call__(self, ops: Ops) -> Counts:
        """Return the wrong bits of each start, shape (counted steps, starts).

        `ops` holds the op of each parameter, shape (parameters,).
        """
        found = [block.count(ops, self.scene.channels) for block in self._blocks]
        return np.concatenate(found, axis=1)


AT_ONCE = 64
"""Changes that ranks judge together between two reports of progress."""

AHEAD = 8
"""The same if each change is simulated separately."""

PATIENCE = 32
"""Changes in a row that are not kept before ranks judge the following ones together."""


class Changes:
    """Judges changes of single gates of one circuit in a trial, in parallel.

    The numbers are sums of the trial's counts. If the circuit's values do not fit in memory, each
    change is simulated separately. Several ranks, which all have the same circuit and changes,
    judge a part each if that is faster.
    """

    def __init__(self, trial: Trial, workers: Workers, ops: Ops, ranks: Ranks = ALONE) -> None:
        """Changes apply to the circuit with `ops` (parameters,). Enter the `workers` before."""
        self._trial, self._workers, self._ops = trial, workers, ops.copy()
        self._ranks, self._shared_judging = ranks, SharedJudging(ranks)
        candidates = trial.candidates(workers)
        fits = candidates is not None and candidates.differ_from(self._ops)
        self._candidates = candidates if fits else None

    @property
    def ops(self) -> Ops:
        """The current circuit's ops, shape (parameters,)."""
        return self._ops

    def keep(self, gates: Sequence[int], ops: Sequence[int]) -> None:
        """Apply some changes; later ones build on them."""
        self._ops[np.asarray(gates, np.int64)] = ops
        if self._candidates is not None and not self._candidates.take_over(gates, ops):
            self._candidates = None

    def go_to(self, ops: Ops) -> None:
        """Switch to another circuit."""
        gates = np.flatnonzero(ops != self._ops)
        if len(gates):
            self.keep(gates.tolist(), ops[gates].tolist())

    def walk(
        self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk, on_progress: Callable[[], None]
    ) -> None:
        """Continue a walk through changes, `ops[i]` for gate `gates[i]`; apply those it keeps.

        At least one is tried, even if the budget is spent. `on_progress` is called now and then.
        The result does not depend on how many are judged at a time.
        """
        # All ranks take the same branches, however many workers each has.
        idle, alone = 0, self._ranks.size == 1
        patience = 0 if self._ranks.always_share else PATIENCE
        while walk.place < len(ops) and (walk.goes_on or not walk.place):
            first = walk.place
            if self._candidates is None or (not alone and idle >= patience):
                on_progress()
                most = (AHEAD if self._candidates is None else AT_ONCE) * self._ranks.size
                some = slice(first, first + most)
                idle = 0 if self._walk_ahead(gates[some], ops[some], walk) else idle
                continue
            some = slice(first, None if alone else first + patience - idle)
            kept, fits = self._candidates.walk(gates[some], ops[some], walk, on_progress)
            for place in first + kept:
                self._ops[gates[place]] = ops[place]
            idle = walk.place - (first + int(kept[-1]) + 1 if len(kept) else first - idle)
            if not fits:
                self._candidates = None

    def _walk_ahead(self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk) -> bool:
        """Judge some changes together; continue a walk up to the first that is kept.

        Returns whether one was kept. The changes after it have to be judged again.
        """
        # Stop at the first that is certain to be kept.
        stop = walk.wrong - (walk.sideways < 1.0)
        judged = self.judge(gates.tolist(), ops.tolist(), walk.wrong, stop)
        for gate, op, wrong, active in zip(gates.tolist(), ops.tolist(), *judged, strict=False):
            walk.place += 1
            if op != self._ops[gate] and walk.decide(int(wrong), int(active)):
                self.keep([gate], [op])
                return True
            if not walk.goes_on:
                break
        return False

    def rounds(self, batches: Sequence[Batch], most_gates: int) -> Generator[Round, None, None]:
        """Yield the hits of some batches of changes in turn.

        A hit is the first change of a batch that leaves no bit wrong; it is skipped if it leaves
        more than `most_gates` active gates. Rounds without a hit only count candidates. Close the
        generator before applying a change.
        """
        begun = 0
        if self._candidates is not None and self._ranks.size == 1:
            begun = yield from self._candidates.rounds(batches, most_gates)
            if begun < len(batches):
                self._candidates = None
        for number, (gates, ops) in list(enumerate(batches))[begun:]:
            wrong, active = self.judge(gates.tolist(), ops.tolist(), limit=0, stop=0)
            last = len(wrong) - 1
            if wrong[last] or active[last] > most_gates:
                yield Round(number, len(wrong))
            else:
                yield Round(number, len(wrong), last, int(active[last]))

    def judge(
        self, gates: Sequence[int], ops: Sequence[int], limit: int, stop: int = -1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the wrong bits and the active gates with `ops[i]` for gate `gates[i]`, for each i.

        Active gates are those that the counted channels ever depend on. A number of wrong
        bits above `limit` only means more than `limit`, and the active gates are then not known.
        The results end with the first change that leaves at most `stop` bits wrong.
        """
        return self._shared_judging(self._judge, self._fits, gates, ops, limit, stop)

    def _fits(self, everywhere: bool) -> bool:
        """Drop the values unless they fit `everywhere`; return whether this rank has them."""
        if not everywhere:
            self._candidates = None
        return self._candidates is not None

    def _judge(
        self, gates: Sequence[int], ops: Sequence[int], limit: int, stop: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if self._candidates is not None:
            judged = self._candidates.judge(gates, ops, limit, stop)
            if judged is not None:
                return judged
            self._candidates = None
        wrong: list[int] = []
        active: list[int] = []
        for gate, op in zip(gates, ops, strict=True):
            changed = self._ops.copy()
            changed[gate] = op
            wrong.append(int(self._trial(changed).sum()))
            active.append(self._trial.active_gates)
            if wrong[-1] <= stop:
                break
        return np.array(wrong), np.array(active)


def count_wrong(netlist: Netlist, ops: Ops, scene: Scene, starts: int) -> Counts:
    """Count like a Trial, in memory that does not grow with the number of steps."""
    blocks = _blocks(netlist, scene, range(starts))
    return np.concatenate([block.count(ops, scene.channels) for block in blocks], axis=1)


def _blocks(netlist: Netlist, scene: Scene, samples: Sequence[int]) -> Iterator[Block]:
    at_once = VALUES_AT_ONCE // (scene.grid.cells * netlist.channels)
    at_once = max(1, min(len(samples), at_once))
    simulator = HardSimulator(netlist, scene.grid, at_once)
    for first in range(0, len(samples), at_once):
        part = samples[first : first + at_once]
        if len(part) < at_once:  # the last ones
            simulator = HardSimulator(netlist, scene.grid, len(part))
        states, targets = draw_samples(scene, part)
        scripts = _scripts(simulator, scene, part, scene.targets(targets))
        yield Block(simulator, simulator.pack_states(states), scripts, scene.at[-1])


def draw_samples(scene: Scene, samples: Sequence[int]) -> tuple[Bits, npt.NDArray]:
    """Draw starts (batch, C, H, W) and targets (batch, L, H, W) by their numbers."""
    numbers = np.asarray(samples)
    stretches = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    drawn = [scene.draw(int(stretch[0]), len(stretch)) for stretch in stretches]
    if len(drawn) == 1:
        return drawn[0]
    return tuple(np.concatenate(arrays) for arrays in zip(*drawn, strict=True))  # type: ignore[return-value]


def _scripts(
    simulator: HardSimulator, scene: Scene, samples: Sequence[int], targets: Bits
) -> Iterator[Script]:
    """Draw and pack masks, damage and targets of some starts, for some steps at a time."""
    seed, _, mask, epoch = scene.streams
    height, width = scene.grid.height, scene.grid.width
    fires = firing(scene.fire_rate, height, width, seed, mask, epoch, samples)
    at, counts = np.array(scene.at), scene.counts(samples)
    at_once = max(1, EVENTS_AT_ONCE // (scene.grid.cells * len(samples)))
    for first in range(0, scene.at[-1], at_once):
        steps = range(first, min(first + at_once, scene.at[-1]))
        damage = None
        if scene.damage is not None and first < scene.damage.until:
            damage = scene.damage.draw(scene.grid, scene.streams, samples, steps)
        counted = (at > steps.start) & (at <= steps.stop)
        yield simulator.script(
            len(steps),
            fires.draw(len(steps)),
            damage,
            (at[counted] - first).tolist(),
            targets[counted] if targets.ndim == 5 else targets,
            scene.channels,
            scene.ignored,
            counts[counted] if scene.alone else None,
        )
