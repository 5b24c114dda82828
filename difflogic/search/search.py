"""A local search that changes one gate at a time, to leave fewer cells wrong.

It first tries the changes that the logits or the gradient favour. If nothing helps and few
cells are wrong, it also keeps changes that make nothing worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.firing import firing
from difflogic.circuit.gates import COEFFICIENTS, OPS
from difflogic.circuit.netlist import Netlist
from difflogic.engine.candidates import Candidates, Found, Walk
from difflogic.engine.hard import HardSimulator, live_parameters
from difflogic.engine.hard_gradients import HardGradients
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Patches
from difflogic.evaluation.trial import Ops, Trial, draw_samples
from difflogic.search.sizes import most_samples

SHORTLIST = 150
"""Candidates per gradient, from the logits and from the gradient each."""

IMPROVEMENTS = 6
"""Improvements after which a gradient is out of date."""

SIDEWAYS = 0.3
"""Probability of keeping a change on a shortlist that leaves equally many cells wrong."""

DRIFT = 250
"""Random changes to try after a shortlist without improvement."""

FEW_WRONG = 32
"""With at most this many wrong cells, drifting pays; with more, a stuck search ends."""

MORE_GATES = 1.3
"""Largest size of a drifting circuit, in active gates of the first one: each active gate makes
every candidate slower."""

PATIENCE = 4
"""Shortlists in a row without improvement after which a search with many wrong cells ends."""

GRADIENT_COST = 40
"""A gradient counts as this many candidates, since it takes about as long."""

AHEAD = 8
"""Changes to judge between two reports of progress, if each is simulated separately."""


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come."""

    candidates: int
    """Number of circuits tried."""
    budget: int
    """Largest number of circuits to try."""
    wrong: int
    """Wrong cells of the current circuit, on the starts of the search."""


OnProgress = Callable[[SearchProgress], None]

Sensitivity = Callable[[Ops, tuple[int, ...]], npt.NDArray[np.floating]]
"""Takes ops and the numbers of starts on which they fail. Returns the predicted change of wrong
cells, (parameters, 16), by gate and new op."""


class Search:
    """A local search. The current circuit has `ops` and leaves `wrong` cells wrong."""

    def __init__(
        self,
        netlist: Netlist,
        logits: npt.NDArray[Any],
        sensitivity: Sensitivity,
        rng: np.random.Generator,
        budget: int,
        on_progress: OnProgress,
    ) -> None:
        self.ops: Ops = logits.argmax(axis=0).astype(np.uint8)
        self.wrong = 0
        self.candidates = 0
        self.few_wrong = FEW_WRONG
        self._netlist, self._sensitivity = netlist, sensitivity
        self._rng, self._budget, self._on_progress = rng, budget, on_progress
        self._gap = (logits.max(axis=0) - logits).T
        self._most_gates = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return self.candidates >= self._budget

    def set_trial(self, trial: Trial) -> None:
        """Continue with the starts of `trial`."""
        self._trial = trial
        self._changes = Changes(trial, self.ops)
        self.wrong = int(trial(self.ops).sum())
        self._most_gates = self._most_gates or MORE_GATES * trial.active_gates

    def run(self) -> None:
        """Change gates until no cell is wrong, the budget is spent, or nothing helps."""
        idle = 0
        while self.wrong and not self.is_over and idle < PATIENCE:
            before = self.wrong
            self._descend()
            idle = 0 if self.wrong < before else idle + 1
            if idle and 0 < self.wrong <= self.few_wrong:
                self._escape()
                idle = 0

    def _descend(self) -> None:
        wrong = self._trial(self.ops).sum(axis=0)
        failing = np.argsort(-wrong, kind="stable")[: np.count_nonzero(wrong)]
        # Slopes multiply from step to step. Where they overflow, predict nothing.
        change = np.nan_to_num(
            self._sensitivity(self.ops, tuple(self._trial.samples[place] for place in failing))
        )
        self.candidates += GRADIENT_COST
        self._try(list(self._shortlist(change)), SIDEWAYS, IMPROVEMENTS)

    def _escape(self) -> None:
        """Escape from a circuit that no change of one gate improves.

        A random walk among the many changes without effect leads out (neutral drift: Miller and
        Smith 2006).
        """
        gates = self._rng.choice(np.flatnonzero(self._live()), DRIFT)
        ops = self._rng.integers(0, OPS, DRIFT)
        self._try(list(zip(gates.tolist(), ops.tolist(), strict=True)), 1.0, DRIFT)

    def _try(self, changes: list[tuple[int, int]], sideways: float, improvements: int) -> None:
        """Keep each change that leaves fewer cells wrong, or as many with probability `sideways`.

        Ends after `improvements` improvements, if nothing is wrong, or if the budget is spent.
        """
        if not changes:
            return
        gates, ops = (np.array(each) for each in zip(*changes, strict=True))
        before = self._rng.bit_generator.state
        walk = Walk(
            self.wrong,
            improvements,
            self._budget,
            self._most_gates,
            sideways,
            self._rng.random(len(changes)),
            self.candidates,
        )

        def on_progress() -> None:
            self._on_progress(SearchProgress(walk.tried, self._budget, walk.wrong))

        self._changes.walk(gates.astype(np.int32), ops.astype(np.uint8), walk, on_progress)
        # As if each number had been drawn only when needed.
        self._rng.bit_generator.state = before
        self._rng.random(walk.drawn)
        self.ops, self.wrong, self.candidates = self._changes.ops.copy(), walk.wrong, walk.tried

    def _live(self) -> npt.NDArray[np.bool_]:
        return live_parameters(self._netlist, self.ops, self._trial.scene.channels)

    def _shortlist(self, change: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
        """Yield (gate, op), the best ones first, alternately by the gradient and by the logits."""
        live = np.flatnonzero(self._live())
        rows = np.arange(len(live))
        ranked = []
        for table in (change, self._gap):
            cost = table[live]
            cost[rows, self.ops[live]] = np.inf
            others = cost.size - len(live)
            ranked.append(lowest(cost.ravel(), min(SHORTLIST, others)).tolist())
        seen: set[int] = set()
        for pair in zip(*ranked, strict=True):
            for place in pair:
                if place not in seen:
                    seen.add(place)
                    gate, op = divmod(place, OPS)
                    yield int(live[gate]), op


def lowest(values: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Return the indices of the `count` lowest values, as a stable sort would order them.

    Sorts no other values.
    """
    if not count:
        return np.empty(0, np.int64)
    bound = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < bound)
    equal = np.flatnonzero(values == bound)[: count - len(below)]
    return np.concatenate([below[np.argsort(values[below], kind="stable")], equal])


class Changes:
    """Judges changes of single gates of one circuit in a trial.

    Numbers are sums over the trial. If the circuit's values do not fit in memory, each change is
    simulated separately.
    """

    def __init__(self, trial: Trial, ops: Ops) -> None:
        """Changes apply to the circuit with `ops` (parameters,)."""
        self._trial, self._ops = trial, ops.copy()
        candidates = trial.candidates()
        fits = candidates is not None and candidates.load(self._ops)
        self._candidates: Candidates | None = candidates if fits else None

    @property
    def ops(self) -> Ops:
        """The current circuit's ops, shape (parameters,)."""
        return self._ops

    def go_to(self, ops: Ops) -> None:
        """Switch to another circuit."""
        gates = np.flatnonzero(ops != self._ops).astype(np.int32)
        self._ops[gates] = ops[gates]
        if self._candidates is not None and not self._candidates.change(gates, ops[gates]):
            self._candidates = None

    def walk(
        self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk, on_progress: Callable[[], None]
    ) -> None:
        """Continue a walk through changes, `ops[i]` for gate `gates[i]`; apply those it keeps.

        Tries at least one, even if the budget is spent. `on_progress` is called now and then. The
        result does not depend on how many are judged at a time.
        """
        while walk.place < len(ops) and (walk.goes_on or not walk.place):
            first = walk.place
            if self._candidates is None:
                on_progress()
                some = slice(first, first + AHEAD)
                self._walk_ahead(gates[some], ops[some], walk)
                continue
            kept, fits = self._candidates.walk(gates[first:], ops[first:], walk, on_progress)
            for place in first + kept:
                self._ops[gates[place]] = ops[place]
            if not fits:
                self._candidates = None

    def _walk_ahead(self, gates: npt.NDArray[np.int32], ops: Ops, walk: Walk) -> None:
        """Judge some changes; continue a walk up to the first one kept.

        The changes after it must be judged again.
        """
        # Stop at the first that is certain to be kept.
        stop = walk.wrong - (walk.sideways < 1.0)
        judged = self._judge_alone(gates, ops, stop)
        for gate, op, wrong, active in zip(gates.tolist(), ops.tolist(), *judged, strict=False):
            walk.place += 1
            if op != self._ops[gate] and walk.decide(wrong, active):
                changed = self._ops.copy()
                changed[gate] = op
                self.go_to(changed)
                return
            if not walk.goes_on:
                return

    def find(self, gates: npt.NDArray[np.integer], ops: npt.NDArray[Any]) -> Found:
        """Return the first of some changes that leaves no bit wrong."""
        if self._candidates is not None:
            found = self._candidates.find(gates, ops)
            if found is not None:
                return found
            self._candidates = None
        wrong, active = self._judge_alone(gates, ops, stop=0)
        return Found(len(wrong)) if wrong[-1] else Found(len(wrong), len(wrong) - 1, active[-1])

    def _judge_alone(
        self, gates: npt.NDArray[np.integer], ops: Ops, stop: int
    ) -> tuple[list[int], list[int]]:
        """Return wrong bits and active gates of each change, simulated one after the other.

        Active gates are those that the counted channels ever depend on. The results end with the
        first change that leaves at most `stop` bits wrong.
        """
        wrong: list[int] = []
        active: list[int] = []
        for gate, op in zip(gates, ops, strict=True):
            changed = self._ops.copy()
            changed[gate] = op
            wrong.append(int(self._trial(changed).sum()))
            active.append(self._trial.active_gates)
            if wrong[-1] <= stop:
                break
        return wrong, active


class GradientSensitivity:
    """Predicts the effect of changes from the gradient of wrong cells at the training step.

    A gate of a hard circuit is linear in each of its coefficients, and the number of wrong cells,
    Σ (1 - 2·target)·state, is linear in the last state. So the gradient is exact for one use of a
    changed gate, and approximate for all its uses at all cells and steps together.
    """

    def __init__(self, netlist: Netlist, plan: Plan, steps: int) -> None:
        """`steps` is the training step."""
        scene = plan.scene
        self._netlist, self._scene, self._steps = netlist, scene, steps
        self._holds = plan.holds
        self._batch = min(plan.starts, most_samples(scene.grid))
        self._hard = HardGradients(netlist, scene.grid, steps, self._batch)

    def __call__(self, ops: Ops, samples: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the predicted change of wrong cells, (parameters, 16), by gate and new op."""
        scene, chosen = self._scene, sorted(samples[: self._batch])
        starts, targets = draw_samples(scene, chosen)
        # Targets may have an unsigned type; NaN does not count.
        slopes = np.nan_to_num(1.0 - 2.0 * targets)
        self._hard.begin(ops, scene.channels)
        self._hard.add(starts, slopes, scene.channels, self._masks(chosen))
        if self._holds:
            # A target that must stay may be wrong later, beyond the gradient from the start.
            self._hard.add(self._onward(ops, starts, chosen), slopes, scene.channels, None)
        # Over many steps a derivative may overflow: such a change is as good as unknown.
        with np.errstate(invalid="ignore"):
            # Not by BLAS, which adds and fuses differently on each processor.
            terms = self._hard.gradients.T[:, :, None] * COEFFICIENTS.T[:, None]
            change: npt.NDArray[np.float64] = terms[0] + terms[1] + terms[2] + terms[3]
        return change - change[np.arange(len(ops)), ops][:, None]

    def _onward(
        self, ops: Ops, starts: npt.NDArray[Any], chosen: Sequence[int]
    ) -> npt.NDArray[Any]:
        """Return the states at the training step, damaged as in the scene."""
        damage = self._scene.damage
        steps = damage.until if isinstance(damage, Patches) else self._steps
        simulator = HardSimulator(self._netlist, self._scene.grid, len(chosen))
        simulator.load(ops)
        states = simulator.rollout(starts, steps)
        if isinstance(damage, Patches):
            states = states * (1 - damage.of(chosen))[:, None]
        return states

    def _masks(self, samples: Sequence[int]) -> npt.NDArray[np.uint8] | None:
        scene = self._scene
        seed, _, purpose, epoch = scene.streams
        height, width = scene.grid.height, scene.grid.width
        fires = firing(scene.fire_rate, height, width, seed, purpose, epoch, samples)
        return fires.draw(self._steps)
