"""Whether losses after several steps of one rollout are what the oracle says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import SEQUENTIAL, Sharing
from difflogic.scale.verification.cases import Case
from difflogic.scale.verification.findings import (
    EXACT,
    KERNEL_TOLERANCE,
    Finding,
    distance,
    relative,
)
from difflogic.system.streams import Purpose, stream

Array = npt.NDArray[np.floating]


class _Question(NamedTuple):
    """Which states of a case are compared with what."""

    case: Case
    loss_steps: tuple[int, ...]
    channels: tuple[int, ...]
    targets: npt.NDArray[np.float64]


def supervised_steps_agree(case: Case, workers: int = 2) -> Iterator[Finding]:
    """Compare losses and gradients with the oracle, and shared work with sequential work.

    The last two steps are supervised, and then the first one and one before the last: such a
    rollout ends before the engine's longest.
    """
    channels = tuple(range(case.netlist.channels))[::-1][:2]
    shape = (case.batch, len(channels), case.grid.height, case.grid.width)
    rng = stream(case.seed, Purpose.HELD_OUT_START)
    targets = rng.random(shape)
    targets[rng.random(shape) < 0.3] = np.nan  # does not count
    steps = case.steps
    for loss_steps in ((steps - 1, steps), tuple(sorted({1, steps - 1}))):
        question = _Question(case, loss_steps, channels, targets)
        where = f"{case.name}, loss after steps {', '.join(map(str, loss_steps))}"
        losses, gradients = _by_the_engine(question, np.float64, SEQUENTIAL)
        expected_losses, expected = _by_the_oracle(question)
        found = relative(losses, expected_losses)
        yield Finding("losses, float64 kernels", "oracle", where, found, KERNEL_TOLERANCE)
        found = relative(gradients, expected)
        yield Finding("gradients, float64 kernels", "oracle", where, found, KERNEL_TOLERANCE)
        alone, shared = (
            _by_the_engine(question, np.float32, sharing)
            for sharing in (SEQUENTIAL, Sharing(workers))
        )
        found = max(distance(x, y) for x, y in zip(alone, shared, strict=True))
        yield Finding(f"losses and gradients, {workers} workers", "sequential", where, found, EXACT)


def _by_the_engine(
    question: _Question, dtype: npt.DTypeLike, sharing: Sharing
) -> tuple[Array, Array]:
    """Return the loss of each sample, and dL/d(coefficients).

    The engine has run before, over all steps from other starts: what that left in its buffers
    must not matter.
    """
    case = question.case
    coefficients = gates.mix(gates.softmax(case.logits)).astype(dtype)
    with Engine(case.netlist, case.grid, case.steps, case.batch, dtype, sharing) as engine:
        engine.forward(coefficients, 1 - case.starts, case.masks)
        engine.backward(np.ones(case.starts.shape, dtype))
        losses, _ = engine.run_training(
            coefficients,
            case.starts,
            question.targets,
            question.channels,
            case.masks,
            question.loss_steps,
        )
        return np.array(losses), engine.reduce(np.zeros_like(coefficients))


def _by_the_oracle(question: _Question) -> tuple[Array, Array]:
    case, channels = question.case, question.channels
    coefficients = gates.mix(gates.softmax(case.logits))
    losses, gradients = np.zeros(case.batch), np.zeros_like(coefficients)
    for sample, target in enumerate(question.targets):
        states = case.rollout(coefficients, sample)
        # Gradients add up, so each loss may be taken back by itself.
        for step in question.loss_steps:
            until = states[: step + 1]
            losses[sample] += oracle.loss(until[-1], target, channels)
            upstream = oracle.loss_gradient(until[-1], target, channels)
            gradients += case.gradients(coefficients, sample, until, upstream)
    return losses, gradients
