"""summary.json's content."""

import hashlib
import json
from functools import reduce

import pytest

from difflogic.config import load_config
from difflogic.experiment.scores import final_scores, summarize
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.metrics import History, MetricsRow
from difflogic.run.summary import parse, render
from tests.difflogic.training.tiny import tiny


@pytest.fixture(scope="module")
def trained():
    """A trainer after all its 3 epochs, and their history."""
    history = History()
    with Trainer(tiny("training.epochs=3")) as trainer:
        while not trainer.done:
            result = trainer.step()
            # The best epoch is neither the first nor the last, which is as good.
            hard, right = {1: (5.0, 0.5), 2: (1.0, 0.875), 3: (1.0, 0.75)}[result.epoch]
            history.add(MetricsRow(result.epoch, result.soft_loss, hard, right))
    return trainer, history


def test_contents_of_a_summary(trained):
    trainer, history = trained
    summary = summarize(trainer.config, trainer, history, resumed=2)
    assert summary["experiment"] == "checkerboard-small"
    assert (summary["seed"], summary["workers"]) == (36, 1)
    assert (summary["epochs"], summary["epochs_requested"]) == (3, 3)
    assert (summary["finished"], summary["interrupted"], summary["resumed"]) == (True, False, 2)
    assert summary["exact_epoch"] is summary["polished"] is None
    scores = summary["scores"]
    assert scores["soft_loss"] == history.rows[-1].soft_loss
    assert (scores["hard_loss"], scores["accuracy"]) == (1.0, 0.75)
    best = [scores[f"best_{name}"] for name in ("hard_loss", "accuracy", "epoch")]
    assert best == [1.0, 0.875, 2]
    assert scores["checked"] == final_scores(trainer.result)["checked"]
    seconds = summary["seconds"]
    assert seconds["training"] == sum(seconds["phases"].values())
    assert seconds["tests"] > 0


def test_attempts_in_a_summary(trained):
    assert "attempts" not in summarize(trained[0].config, *trained, resumed=0)
    config = tiny("training.epochs=9", "training.restart_every=4", "finishing.every=2")
    with Trainer(config) as trainer:
        while not trainer.done:
            trainer.step()
    found = summarize(config, trainer, History(), resumed=0)["attempts"]
    assert found == {"begun": 3, "result": trainer._best.attempt + 1}
    untrained = summarize(config, Trainer(config), History(), resumed=0)
    assert untrained["attempts"] == {"begun": 1, "result": 1}


def test_scores_of_a_life_like_rule():
    wrong = load_config("game-of-life-small", ["training.epochs=1"])
    scores = final_scores(Model.create(wrong))
    boards, soup = scores["exactness"]["counts"]
    assert (boards["cells"], soup["cells"]) == (512 * 9, 128 * 128 * 300)
    assert boards["wrong_cells"] > 0 < soup["wrong_cells"]
    assert scores["exactness"]["exact"] is scores["checked"]["exact"] is False
    assert set(final_scores(Model.create(tiny()))) == {"checked", "assurance"}


@pytest.fixture(scope="module")
def summary():
    """Of a run without epochs."""
    trainer = Trainer(tiny("training.epochs=9"))
    return summarize(trainer.config, trainer, History(), resumed=0)


@pytest.mark.parametrize(
    "optional",
    [
        {},
        {"polished": {"gates": [6, 3], "from_step": [18, 16], "candidates": 4003}},
        {"polished": {"gates": [6, 3], "from_step": None, "candidates": 4003}},
        {"attempts": {"begun": 2, "result": 1}},
    ],
)
def test_a_summary_round_trip(summary, optional):
    summary = summary | optional
    text = render(summary, {"model.npz": "ab"})
    found = parse(text.encode())
    assert found["files"] == {"model.npz": "ab"}
    assert {key: found[key] for key in summary} == json.loads(json.dumps(summary))
    assert render(found, {"model.npz": "ab"}) == text  # sealed only once
    seal = found.pop("sha256")
    assert seal == hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"epochs": True}, "epochs"),
        ({"polished": {"gates": [6, "3"], "from_step": None}}, r"polished\.gates\.1"),
        ({"polished": {"gates": [6, 3], "from_step": [1, 2, 3]}}, r"polished\.from_step"),
        ({"attempts": {"begun": 2, "result": "1"}}, r"attempts\.result"),
    ],
)
def test_wrong_types_are_named(summary, changes, place):
    text = render(summary | changes, {})
    with pytest.raises(ValueError, match=f'^"{place}" is missing or has a wrong type'):
        parse(text.encode())


UNREAD = {"plan", "files", "exactness", "start", "tests", "all"}
"""Entries that are only shown, or that are there for some tasks."""


@pytest.mark.parametrize("part", [(), ("scores",), ("scores", "checked"), ("seconds",)])
def test_no_entry_may_be_of_another_type(summary, part):
    good = json.loads(render(summary, {}))
    del good["sha256"]
    inside = reduce(dict.__getitem__, part, good)
    for key in inside.keys() - UNREAD:
        right, inside[key] = inside[key], [[1]]
        with pytest.raises(ValueError, match="is missing or has a wrong type"):
            parse(render(good, {}).encode())
        inside[key] = right


def test_every_changed_byte_is_noticed(summary):
    content = render(summary, {"model.npz": "ab"}).encode()
    for place in range(0, len(content), 37):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        try:
            found = parse(bytes(damaged))
        except ValueError:
            continue
        # The content is still the same: another kind of blank, for example.
        assert found == parse(content), damaged[place - 5 : place + 5]
