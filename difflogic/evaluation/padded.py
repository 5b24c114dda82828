"""Whether a rule from examples is right on every longer line, with background on both sides.

Lines with up to MOST cells of background on each side are run until they rest. A line with MOST
cells on a side stands for all that have more there, if in its background, from a cell x outwards,

- x and the next cell, and the next cell and the one after it, do the same, d steps apart;
- no cell beyond x changes in the first d steps.

For then a line with one more cell runs like this: the new cell follows x, and does the same d steps
later; the cells inside do as before, and those beyond it as before, but d steps later. Each cell
sees what it saw in the shorter line, at the same step or d steps later, so it does the same. And
the longer line has the property too, one cell further out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.evaluation.scores import ProofEntries
from difflogic.evaluation.settled import SLOWEST, settle
from difflogic.examples.encoding import Encoding, apply_rule
from difflogic.examples.pairs import Pair
from difflogic.proof.answer import TIME_IS_UP
from difflogic.proof.convergence.planes import unpack
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import NEVER, Deadline

MOST = 8

DELAYS = range(SLOWEST + 1)
"""Steps that a cell may follow its inner neighbour after."""


def prove_padded(
    automaton: Automaton,
    encoding: Encoding,
    channels: int,
    pairs: Sequence[Pair],
    deadline: Deadline = NEVER,
) -> ProofEntries:
    """Prove or refute that a rule is right on examples with background on both sides.

    `channels` are those of training. Planes and periodic boundaries stay open.
    """
    if any(len(pair.before) > 1 for pair in pairs):
        return ProofEntries(
            verdict=Verdict.open, text="not proved for larger planes: only lines are tried"
        )
    if automaton.boundary != "zero":
        return _open("only lines with zeros beyond their ends are tried")
    known = True
    for left, right in product(range(MOST + 1), repeat=2):
        if deadline.passed:
            return _open(TIME_IS_UP)

        def longer(grid: Bits, sides: tuple[int, int] = (left, right)) -> Bits:
            return np.pad(grid, ((0, 0), sides), constant_values=encoding.background)

        def run(starts: Bits, sides: tuple[int, int] = (left, right)) -> Bits:
            nonlocal known
            states: list[Bits] = []
            settled = settle(automaton, starts, lambda *now: states.append(unpack(*now)))
            history = np.stack(states).reshape(len(states), -1, *starts[:, 0, 0].shape)
            known &= settled.rests
            for width, inwards in zip(sides, (history[..., ::-1], history), strict=True):
                if width == MOST:
                    known &= _repeats(inwards[..., -MOST:])
            return settled.shown

        shown = apply_rule(encoding, channels, [longer(pair.before) for pair in pairs], run)
        for number, (pair, grid) in enumerate(zip(pairs, shown, strict=True), 1):
            if not np.array_equal(grid, longer(pair.after)):
                where = f"{left} cells of background before it and {right} after it"
                text = f"fails on pair {number} with {where}"
                return ProofEntries(verdict=Verdict.refuted, text=text)
    if not known:
        return _open(f"{MOST} cells of background do not show what any number of them does")
    text = "proved with background on both sides, too, to any length"
    return ProofEntries(verdict=Verdict.proved, text=text)


def _repeats(history: Bits) -> bool:
    """Whether each run has cells that allow for more, in its background on one side.

    `history` has the shape (steps, channels, runs, cells), from the inner cell to the edge.
    """
    found = np.zeros(history.shape[2], np.bool_)
    rest = history[-1:]
    for delay in DELAYS:
        whole = np.concatenate([history, rest.repeat(delay, axis=0)])
        late = np.concatenate([history[:1].repeat(delay, axis=0), history])
        follows = (whole[..., 1:] == late[..., :-1]).all(axis=(0, 1))
        waits = (history[: delay + 1] == history[:1]).all(axis=(0, 1))
        waits = np.logical_and.accumulate(waits[:, ::-1], axis=1)[:, ::-1]
        found |= (follows[:, :-1] & follows[:, 1:] & waits[:, 1:-1]).any(axis=1)
    return bool(found.all())


def _open(reason: str) -> ProofEntries:
    return ProofEntries(verdict=Verdict.open, text=f"not proved for longer lines: {reason}")
