"""Training steps on a GPU against the plain oracle, and whole runs against the processor's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.config import load_config
from difflogic.experiment.searching import Trainer
from difflogic.gpu.fleet import Fleets
from difflogic.system.errors import ConfigError, TrainingError
from tests.difflogic.gpu.devices import SHARED, expected, gradients, on_gpu, randomized, relative
from tests.difflogic.training.tiny import growing, steps, tiny

SEED = "training.seed=23"
"""With some others gradients nearly cancel, and float32 rounds more of what is left."""
SMALL = ("training.batch=3", "task.height=5", "task.width=7", SEED)
CASES = {
    "synchronous": tiny(*SMALL),
    "asynchronous": tiny(*SMALL, "automaton.fire_rate=0.6"),
    "torus": tiny(*SMALL, 'automaton.boundary="periodic"'),
    "two losses": tiny(*SMALL, "training.later_steps=2", "automaton.fire_rate=0.6"),
    "held channels, and cells that do not count": load_config(
        "flood", ["automaton.steps=2", "training.batch=3"]
    ),
    "many channels": growing('task.start="center"'),
    "truth tables": tiny(
        *SMALL,
        "training.form=truth-table",
        "training.initial_logit=3",
        "training.initial_spread=0.5",
    ),
}
"""SMALL: 35 cells of 3 samples fill six and a half tiles."""


@pytest.mark.parametrize("name", CASES)
def test_a_step_agrees_with_the_oracle(name):
    config = CASES[name].without_searches()
    state = Trainer(config).state() if name == "truth tables" else randomized(config)
    loss, wanted = expected(config, state)
    with on_gpu(config) as trainer:
        trainer.restore(state)
        found = trainer.step()
        assert found.soft_loss == pytest.approx(loss, rel=1e-5)
        assert relative(gradients(trainer), wanted) < 1e-5


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("training.form=truth-table", "training.initial_logit=3", "training.initial_spread=0.5"),
        ("pool.batch=2",),
        ("training.beta1=0", "training.weight_decay=0.01", "training.gradient_clip=0.01"),
    ],
)
def test_a_run_agrees_with_the_processor(more):
    """Compare logits and ops after each step, from the same state."""
    config = tiny(
        "automaton.fire_rate=0.6" if "pool.batch=2" not in more else "training.batch=2", SEED, *more
    )
    config = config.without_searches()
    with Trainer(config) as one, on_gpu(config) as other:
        for _ in range(4):
            other.restore(one.state())
            wanted = one.step()
            found = other.step()
            assert found.soft_loss == pytest.approx(wanted.soft_loss, rel=1e-5)
            assert (found.hard_loss, found.accuracy) == (wanted.hard_loss, wanted.accuracy)
            assert found.decided == wanted.decided
            # Where a gradient is nearly 0, AdamW's first steps keep only its sign.
            off = (
                np.abs(one.model.logits - other.model.logits) > 1e-3 * config.training.learning_rate
            )
            assert off.mean() < 0.02
            assert_array_equal(one.model.ops, other.model.ops)


def test_a_run_gives_the_same_bits_alone_resumed_and_side_by_side():
    config = tiny().without_searches()
    config = config.with_sections(training={"restart_every": 3})

    def train(seed, fleets=SHARED):
        with on_gpu(config.with_sections(training={"seed": seed}), fleets) as trainer:
            return [each.soft_loss for each in steps(trainer, 5)], trainer.state()

    alone = {seed: train(seed) for seed in (1, 2, 3)}
    with on_gpu(config.with_sections(training={"seed": 1})) as trainer:
        list(steps(trainer, 2))
        half = trainer.state()
    with on_gpu(config.with_sections(training={"seed": 1})) as trainer:
        trainer.restore(half)
        assert [each.soft_loss for each in steps(trainer, 5)] == alone[1][0][2:]
    fleets = Fleets(3)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda seed: train(seed, fleets), alone))
    for found, (losses, state) in zip(together, alone.values(), strict=True):
        assert found[0] == losses
        for name, array in state.items():
            assert_array_equal(found[1][name], array)


def test_a_run_can_move_to_the_processor_and_back():
    config = tiny().without_searches()
    with on_gpu(config) as trainer:
        whole = [each.soft_loss for each in steps(trainer, 6)]
    state = Trainer(config).state()
    losses = []
    for until, make in ((2, on_gpu), (4, Trainer), (6, on_gpu)):
        with make(config) as trainer:
            trainer.restore(state)
            losses += [each.soft_loss for each in steps(trainer, until)]
            state = trainer.state()
    assert losses[:2] == whole[:2]
    assert losses == pytest.approx(whole, rel=1e-4)


def test_numbers_that_are_not_finite_end_the_run():
    config = tiny().without_searches()
    state = randomized(config)
    state["logits"][3, 5] = np.inf
    with on_gpu(config) as trainer:
        trainer.restore(state)
        with pytest.raises(TrainingError, match="epoch 1: "):
            trainer.step()


def test_a_lost_device_is_reported_with_what_to_do():
    with on_gpu(tiny().without_searches(), Fleets(1)) as trainer:
        trainer.step()
        trainer.descent.learned._at[0]._device.destroy()
        with pytest.raises(TrainingError, match=r"lost.* --resume RUN --device cpu"):
            trainer.step()


def test_float64_is_refused():
    with pytest.raises(ConfigError, match=r"precision: a GPU computes in float32"):
        on_gpu(tiny("training.precision=float64"))


def test_a_stage_with_another_grid_keeps_what_was_learned():
    """Logits and AdamW's means move to new buffers."""
    config = load_config("addition", ["parallel.workers=1"]).without_searches()
    found = []
    for make in (Trainer, on_gpu):
        with make(config) as trainer:
            losses = [trainer.step().soft_loss for _ in range(2)]
            trainer.descent._go_to(0, stage=1)
            found.append(losses + [trainer.step().soft_loss for _ in range(2)])
    assert found[1] == pytest.approx(found[0], rel=1e-4)
