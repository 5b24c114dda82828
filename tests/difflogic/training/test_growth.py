"""A pool that waits until the target grows: first right at the training step, then for ever."""

from __future__ import annotations

import numpy as np
import pytest

from difflogic.config import config_from_dict, load_config
from difflogic.evaluation.assurance import assure
from difflogic.library.training import train
from difflogic.model.model import Model
from difflogic.scale.verification.checks import with_sections
from difflogic.search.finishing import Finished
from difflogic.system.errors import ConfigError
from difflogic.system.streams import stream
from difflogic.training.best import BestCircuit
from difflogic.training.metrics import History
from difflogic.training.session import execute
from difflogic.training.summary import summarize
from difflogic.training.trainer import Trainer
from tests.difflogic.training.test_holding import HOLDING
from tests.difflogic.training.tiny import growing, resumed, steps, stop_after, trained

STAGED = (
    *HOLDING,
    "pool.after_growth=true",
    "training.epochs=300",
    "finishing.from_epoch=60",
    "training.restart_every=120",
)
"""A plus that is grown at epoch 90, and stays at epoch 120."""


def test_the_target_is_grown_first_and_then_stays(monkeypatch):
    drawn = set()

    def recorded(seed, purpose, epoch, number):
        drawn.add(epoch)
        return stream(seed, purpose, epoch, number)

    monkeypatch.setattr("difflogic.training.pool.stream", recorded)
    trained(growing(*STAGED), 100)
    assert drawn == set(range(90, 100))
    monkeypatch.undo()
    trainer, results = trained(growing(*STAGED))
    found = [result.finished for result in results if result.finished]
    assert [one.grown for one in found] == [False, True, False]
    assert [one.exact for one in found] == [False, False, True]
    assert trainer.exact_epoch == 120
    assert assure(trainer.result).text == "proved at step 3 and at every later one"


def test_until_then_it_learns_as_without_a_pool():
    _, results = trained(growing(*STAGED), 90)
    _, alone = trained(growing(*STAGED, "task.hold=false", "pool.batch=0"), 90)
    assert [one.soft_loss for one in results] == [one.soft_loss for one in alone]


def test_learning_goes_on_from_the_circuit_that_was_found_at_full_strength():
    config = growing(*STAGED, "hardening.to_epoch=100000")
    with Trainer(config) as trainer:
        while not (last := trainer.step()).finished or not last.finished.grown:
            assert not trainer._hardening.at_full_strength
        found = last.finished
        np.testing.assert_array_equal(trainer.model.ops, found.ops)
        np.testing.assert_array_equal(trainer.result.ops, found.ops)
        assert trainer._hardening.at_full_strength
        assert not trainer._optimizer.first.any()
        assert trainer.exact_epoch is None
        # As it goes on to be judged by all that is asked for, also where searches are early.
        assert not trainer._attempt.growing


@pytest.mark.parametrize("until", [45, 90, 100])
def test_a_resumed_run_ends_with_the_same_bits(until):
    resumed(growing(*STAGED), until)


def test_the_number_of_workers_changes_no_bit():
    one, _ = trained(growing(*STAGED), 110)
    more, _ = trained(growing(*STAGED, "parallel.workers=3"), 110)
    np.testing.assert_array_equal(one.model.logits, more.model.logits)


def test_each_attempt_grows_anew():
    """Also after one that was grown at its very last epoch."""
    config = growing(*STAGED, "training.restart_every=90", "finishing.candidates=4000")
    with Trainer(config) as trainer:
        list(steps(trainer, 91))
        assert trainer._attempt.number == 1
        assert trainer._attempt.growing
        assert not trainer._hardening.at_full_strength
        state = trainer.state()
    with Trainer(config) as trainer:
        trainer.restore(state)
        assert trainer._attempt.growing
        trainer.restore({**state, "epoch": np.array(89), "pool_from": np.array(60)})
        assert (trainer._attempt.number, trainer._attempt.pool_from) == (0, 60)
        assert trainer._hardening.at_full_strength
        trainer.restore(state)
        assert trainer._attempt.growing


def test_a_search_at_the_last_epoch_alone_is_not_adopted():
    """A run that is extended goes on as if it had never ended there."""
    config = growing(*STAGED, "training.epochs=95", "finishing.from_epoch=91")
    trainer, results = trained(config)
    assert results[-1].finished is not None
    assert not results[-1].finished.grown
    assert trainer._attempt.growing
    np.testing.assert_array_equal(
        trainer.model.logits,
        trained(growing(*STAGED, "finishing.from_epoch=96"), 95)[0].model.logits,
    )


def test_what_came_after_growth_is_better_than_what_was_right_before():
    config = growing(*STAGED)
    logits = np.zeros((16, 116), np.float32)
    best = BestCircuit(config, logits)

    def keep(wrong, epoch, growing, exact=False):
        ops = np.zeros(116, np.uint8)
        found = Finished(ops, exact, wrong, wrong, wrong, 1)
        best._keep(found, logits, epoch, 0, growing)
        return best.epoch, best.exact_epoch

    assert keep(3, 10, True) == (10, None)
    assert keep(4, 20, True) == (10, None)
    assert keep(0, 30, True, exact=True) == (30, None)
    assert keep(50, 40, False) == (40, None)
    assert keep(60, 50, False) == (40, None)
    # Of the next attempt.
    assert keep(0, 60, True, exact=True) == (40, None)
    again = BestCircuit(config, logits)
    again.restore(best.state())
    best = again
    assert keep(0, 70, True) == (40, None)
    assert keep(0, 80, False, exact=True) == (80, 80)


def test_without_searches_it_would_wait_for_ever():
    with pytest.raises(ConfigError, match=r"\[pool\] after_growth: without searches"):
        growing("pool.batch=1", "pool.after_growth=true", "finishing.every=0")


PATIENT = (*STAGED, "pool.restart_every=20", "finishing.every=30", "pool.tolerance=0")
"""Grown at epoch 90, and given too few epochs of a pool to be checked there; never grown again."""


def test_a_pool_has_epochs_of_its_own_until_learning_starts_over():
    stages = []
    with Trainer(growing(*PATIENT)) as trainer:
        for _ in steps(trainer, 231):
            attempt = trainer._attempt
            stage = (attempt.number, attempt.first_epoch, attempt.pool_from)
            if stage not in stages:
                assert trainer._hardening.since == attempt.first_epoch
                stages.append(stage)
    # 120 epochs to grow, 20 from there on.
    assert stages == [(0, 0, None), (0, 0, 90), (1, 110, None), (2, 230, None)]


@pytest.mark.parametrize("until", [100, 110, 150])
def test_a_resumed_run_knows_its_attempt(until):
    # The best circuit is of the first attempt, with its wiring.
    for one in resumed(growing(*PATIENT), until, 160):
        assert one._attempt.number == 1
        assert one._best.epoch == 90
        np.testing.assert_array_equal(one.result.netlist.a, one.first.netlist.a)
        assert (one.model.netlist.a != one.first.netlist.a).any()


def test_a_pool_starts_over_only_where_growth_does():
    with pytest.raises(
        ConfigError, match=r"\[pool\] restart_every: \[training\] restart_every = 0"
    ):
        growing(*PATIENT, "training.restart_every=0")
    # And searches find what has grown.
    with pytest.raises(ConfigError, match=r"\[pool\] after_growth: without searches"):
        growing(*PATIENT, "pool.batch=0", "finishing.every=0")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"training": {"restart_every": 0}}, "restart_every"),
        (
            {
                "pool": {"batch": 0, "restart_every": 0},
                "training": {"restart_every": 0},
                "finishing": {"every": 0},
            },
            "after_growth",
        ),
    ],
)
def test_a_run_goes_on_that_an_earlier_version_took(tmp_path, changes, key):
    """And its model loads. What a user writes is refused."""
    config = with_sections(growing(*PATIENT, "training.epochs=6"), **changes)
    whole, path = tmp_path / "whole", tmp_path / "run"
    execute(config, whole)
    execute(config, path, should_stop=stop_after(3))
    assert train(resume=path).finished
    first, again = (Model.load(run / "model.npz") for run in (whole, path))
    np.testing.assert_array_equal(first.logits, again.logits)
    assert again.config == first.config
    assert again.config.pool == config.pool
    for refused in (
        lambda: load_config(path / "config.toml"),
        lambda: config_from_dict(config.to_dict(), str(path / "config.toml")),
        lambda: train(path / "config.toml", directory=tmp_path / "new"),
        lambda: train(path / "config.toml", resume=path),
    ):
        with pytest.raises(ConfigError, match=rf"config\.toml: \[pool\] {key}: "):
            refused()


def test_growth_without_a_bound_has_attempts_too():
    """As an earlier version took it: a pool's epochs end an attempt, no others are counted."""
    config = with_sections(growing(*PATIENT), training={"restart_every": 0})
    assert config.starts_over
    with Trainer(config) as trainer:
        assert not trainer._attempt.ends_before(10**6)
        trainer._attempt.pool_from = 90
        assert trainer._attempt.ends_before(110)
        summary = summarize(config, trainer, History(), resumed=0, processor=0.0)
    assert summary["attempts"]["begun"] == 1


def test_only_a_pool_that_waits_for_growth_is_counted():
    with pytest.raises(ConfigError, match=r"\[pool\] restart_every: counts the epochs of a pool"):
        growing("pool.batch=1", "pool.restart_every=20")
