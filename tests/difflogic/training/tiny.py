"""Tiny training runs, and what several tests do with them."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from difflogic.circuit import gates
from difflogic.config import load_config
from difflogic.engine import oracle
from difflogic.experiment.device_plan import plan_of
from difflogic.experiment.searching import Trainer
from difflogic.tasks import make_task
from difflogic.verification.case import UNEVEN

TINY = (*UNEVEN, "training.seed=36", "parallel.workers=1")


def tiny(*overrides):
    """A checkerboard of 6×7 cells, 2 channels and 42 parameters."""
    return load_config("checkerboard-small", [*TINY, *overrides], recipe="reference")


def least_bytes(config):
    """Bytes of a budget that holds as few of the samples at once as can be."""
    plan = plan_of(config)
    return replace(plan, wave=min(plan.batch, plan.samples_per_group)).bytes


PLUS = "..#..\n..#..\n#####\n..#..\n..#.."
GROWING = (
    f'task.target="""\n{PLUS}"""',
    "task.height=5",
    "task.width=5",
    "automaton.channels=4",
    "automaton.steps=3",
    "perception.kernels=4",
    "update.gates=[32,16,8,4]",
    "training.learning_rate=0.1",
    "training.seed=23",
    "training.epochs=60",
    "parallel.workers=1",
    "finishing.every=10",
    "finishing.candidates=4000",
)


def growing(*overrides):
    """A plus of 5×5 cells from one cell, 116 parameters; a search finds it with some seeds.

    With seeds 0 and 5 at epoch 50; with 8000 candidates and seed 8 at epoch 10.
    """
    return load_config("lizard", [*GROWING, *overrides], recipe="reference")


def wrong_in_the_picture(config, netlist, ops):
    """Wrong cells of a picture that grows from its only start, by the oracle."""
    start, target = make_task(config).sample(np.random.default_rng(0))
    steps = config.automaton.steps
    boundary = config.automaton.boundary
    states = oracle.rollout(netlist, gates.one_hot(ops), start, steps, boundary)
    return int((states[-1][[0]] != target).sum())


def stop_after(epochs):
    """Return a `should_stop` that stops a run after `epochs` epochs."""
    calls = iter(range(epochs + 1))
    return lambda: next(calls) == epochs


def steps(trainer, epochs):
    """Take the steps up to epoch `epochs`, or to the run's end."""
    while not trainer.done and trainer.epoch < epochs:
        yield trainer.step()


def trained(config, epochs=10**9):
    """Return a trainer after `epochs` epochs, or at the run's end, and the results of its steps."""
    with Trainer(config) as trainer:
        return trainer, list(steps(trainer, epochs))


def resumed(config, until, epochs=10**9):
    """Return a trainer of a whole run, and one that resumed twice after epoch `until`.

    Asserts that all end with the same bits.
    """
    trainer, results = trained(config, epochs)
    state = trained(config, until)[0].state()
    with Trainer(config) as second:
        for _ in range(2):
            second.restore(state)
            rest = list(steps(second, epochs))
            assert [one.soft_loss for one in rest] == [one.soft_loss for one in results[until:]]
    for left, right in ((trainer.model, second.model), (trainer.result, second.result)):
        assert_array_equal(left.logits, right.logits)
        assert_array_equal(left.netlist.a, right.netlist.a)
    assert {name: array.dtype for name, array in state.items()} == {
        name: array.dtype for name, array in trainer.state().items()
    }
    return trainer, second
