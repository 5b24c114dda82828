"""Attempts that fall behind are given up, once, and learning starts over with another wiring."""

from __future__ import annotations

from dataclasses import replace

import pytest

from difflogic.search.finishing import Finished
from difflogic.system.errors import ConfigError
from difflogic.training.best import BestCircuit
from difflogic.training.metrics import Restart, restarts
from difflogic.training.run_directory import RunDirectory
from difflogic.training.session import execute
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import resumed, steps, stop_after, tiny, trained

EPOCHS = 26


def config(*overrides):
    return tiny(
        f"training.epochs={EPOCHS}",
        "training.restart_every=12",
        "training.abandon_after=5",
        "training.abandon_above=0",
        "finishing.every=3",
        "finishing.candidates=0",
        *overrides,
    )


def beginnings(config):
    found = []
    with Trainer(config) as trainer:
        for _ in steps(trainer, EPOCHS):
            attempt = trainer._attempt
            if (attempt.number, attempt.first_epoch) not in found:
                found.append((attempt.number, attempt.first_epoch))
                assert trainer._hardening.since == attempt.first_epoch
    return found


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        # At the first search that is due 5 epochs after the beginning of each.
        ((), [(0, 0), (1, 6), (2, 12), (3, 18), (4, 24)]),
        # Nothing is more than all wrong.
        (("training.abandon_above=1",), [(0, 0), (1, 12), (2, 24)]),
        # The first attempt has no search before epoch 9.
        (("finishing.from_epoch=8",), [(0, 0), (1, 9), (2, 15), (3, 21)]),
        (("training.abandon_after=0",), [(0, 0), (1, 12), (2, 24)]),
    ],
)
def test_an_attempt_ends_at_the_first_search_that_finds_it_behind(overrides, expected):
    assert beginnings(config(*overrides)) == expected


def test_the_next_attempt_is_that_of_any_start_over():
    _, results = trained(config())
    _, late = trained(config("training.abandon_after=0", "training.restart_every=6"))
    assert [one.soft_loss for one in results] == [one.soft_loss for one in late]


def test_it_is_told_when_one_is_given_up_and_why():
    _, results = trained(config())
    told = {one.epoch: (one.attempt, one.given_up) for one in results if one.given_up}
    bits = 64 * 6 * 7
    assert list(told) == [6, 12, 18, 24]
    for (epoch, (attempt, why)), number in zip(told.items(), (1, 2, 3, 4), strict=True):
        least = min(one.finished.wrong_fresh for one in results[epoch - 6 : epoch] if one.finished)
        assert (attempt, why.epochs, why.above) == (number, 6, 0)
        assert (why.wrong, why.cells % bits) == (least, 0)
    assert not any(one.given_up for one in trained(config("training.abandon_above=1"))[1])


def rows(path):
    """The rows of a run's metrics, without seconds."""
    return [replace(row, phase_seconds={}) for row in RunDirectory(path).read_metrics(EPOCHS).rows]


def test_the_metrics_and_the_summary_tell_the_attempts(tmp_path):
    """And are those of a run that was never interrupted, whenever it is."""
    summary = execute(config(), tmp_path / "whole")
    assert (summary["attempts"]["begun"], summary["attempts"]["given_up"]) == (5, 4)
    whole = rows(tmp_path / "whole")
    assert restarts(whole) == [Restart(6 * n, n + 1, True) for n in range(1, 5)]
    part = tmp_path / "part"
    for epochs in (5, 1, 1, 5):  # before, at and after the end of one, and at that of the next
        execute(config(), part, should_stop=stop_after(epochs))
    assert execute(config(), part)["attempts"] == summary["attempts"]
    assert rows(part) == whole


def test_a_run_whose_metrics_tell_no_attempts_goes_on(tmp_path):
    path = tmp_path / "run"
    execute(config(), path, should_stop=stop_after(7))
    lines = (path / "metrics.csv").read_text().splitlines()
    before = "".join(line.rsplit(",", 2)[0] + "\n" for line in lines)
    (path / "metrics.csv").write_text(before)
    attempts = execute(config(), path)["attempts"]
    # Of those that were given up before it went on nothing is known.
    assert (attempts["begun"], attempts["given_up"]) == (5, None)
    assert [row.attempt for row in rows(path)][:8] == [None] * 7 + [2]
    assert [one.epoch for one in restarts(rows(path))] == [12, 18, 24]


@pytest.mark.parametrize("until", [5, 6, 7, 12, 20])
def test_a_resumed_run_goes_on_with_the_same_bits(until):
    resumed(config(), until)


def test_the_share_is_of_all_bits_that_are_compared():
    asked = config()
    with Trainer(asked) as trainer:
        finisher = trainer._attempt.finisher
        counted, starts = finisher._fresh[0](trainer.model.ops).shape
        assert finisher.fresh_bits == counted * starts * 6 * 7


@pytest.mark.parametrize(("wrong", "over"), [(420, False), (421, True)])
def test_it_goes_on_if_no_more_than_the_share_is_wrong(wrong, over, monkeypatch):
    with Trainer(config("training.abandon_above=0.1")) as trainer:
        attempt = trainer._attempt
        monkeypatch.setattr(type(attempt.finisher), "fresh_bits", 4200)
        attempt.hear(3, 4200)
        assert not attempt.abandoned
        attempt.hear(6, wrong)
        assert attempt.abandoned == over
        # Between the epochs at which every run looks nothing is given up.
        attempt.abandoned = False
        attempt.hear(7, 4200)
        assert not attempt.abandoned


def test_the_best_circuit_of_the_attempt_counts():
    asked = config()
    with Trainer(asked) as trainer:
        logits = trainer._logits
        best = BestCircuit(asked, logits)
        found = [Finished(logits.argmax(axis=0), False, 9, 9, wrong, 0) for wrong in (7, 9, 8)]
        best._keep(found[0], logits, 3, attempt=0, growing=False)
        assert best.wrong_of(0, found[1]) == 7
        assert best.wrong_of(1, found[1]) == 9
        best._keep(found[1], logits, 6, attempt=1, growing=False)
        assert best.wrong_of(1, found[2]) == 8


@pytest.mark.parametrize("epochs", [0, 5])
def test_there_has_to_be_another_attempt_and_a_longer_one(epochs):
    with pytest.raises(ConfigError, match=r"\[training\] abandon_after: gives up an attempt"):
        config(f"training.restart_every={epochs}")
