"""summary.json's content."""

import json

import pytest

from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.training.metrics import History, MetricsRow
from difflogic.training.run_directory import RunDirectory
from difflogic.training.summary import final_scores, summarize
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny


@pytest.fixture(scope="module")
def trained():
    """A trainer after all its 3 epochs, and their history."""
    history = History()
    with Trainer(tiny("training.epochs=3")) as trainer:
        while not trainer.done:
            result = trainer.step()
            row = MetricsRow(result.epoch, result.soft_loss, result.hard_loss, result.accuracy)
            history.add(row)
    return trainer, history


def test_it_tells_what_the_run_was_and_what_it_reached(trained):
    trainer, history = trained
    summary = summarize(trainer.config, trainer, history, resumed=2, processor=1.5)
    assert summary["experiment"] == "checkerboard-small"
    assert (summary["seed"], summary["workers"]) == (23, 1)
    assert (summary["epochs"], summary["epochs_requested"]) == (3, 3)
    assert (summary["finished"], summary["interrupted"], summary["resumed"]) == (True, False, 2)
    assert summary["exact_epoch"] is summary["polished"] is None
    assert summary["seconds"]["processor"] == 1.5
    first, second, third = history.rows
    scores = summary["scores"]
    assert scores["soft_loss"] == third.soft_loss
    assert (scores["hard_loss"], scores["accuracy"]) == (third.hard_loss, third.accuracy)
    best = min((first, second, third), key=lambda row: row.hard_loss)
    assert (scores["best_hard_loss"], scores["best_epoch"]) == (best.hard_loss, best.epoch)
    assert scores["held_out"] == final_scores(trainer.result)["held_out"]
    assert summary["seconds"]["training"] == sum(summary["seconds"]["phases"].values())


def test_it_tells_which_attempt_the_result_is_of(trained):
    assert "attempts" not in summarize(trained[0].config, *trained, resumed=0, processor=0.0)
    asked = tiny("training.epochs=9", "training.restart_every=4", "finishing.every=2")
    with Trainer(asked) as trainer:
        while not trainer.done:
            trainer.step()
    found = summarize(asked, trainer, History(), resumed=0, processor=0.0)["attempts"]
    assert found == {"begun": 3, "result": trainer._best.attempt + 1}
    untrained = summarize(asked, Trainer(asked), History(), resumed=0, processor=0.0)
    assert untrained["attempts"] == {"begun": 1, "result": 1}


def test_a_run_of_no_epoch_has_one_that_can_be_written(tmp_path):
    trainer = Trainer(tiny("training.epochs=9"))
    summary = summarize(trainer.config, trainer, History(), resumed=0, processor=0.0)
    assert summary["scores"]["soft_loss"] is None
    RunDirectory(tmp_path).write_summary(summary)
    read = RunDirectory(tmp_path).read_summary()
    assert {key: read[key] for key in summary} == json.loads(json.dumps(summary))
    assert read["files"] == {}


def test_a_life_like_rule_ends_with_all_boards_and_a_soup():
    wrong = load_config("game-of-life-small", ["training.epochs=1"])
    scores = final_scores(Model.create(wrong))
    boards, soup = scores["exactness"]["counts"]
    assert (boards["cells"], soup["cells"]) == (512 * 9, 128 * 128 * 300)
    assert boards["wrong_cells"] > 0 < soup["wrong_cells"]
    assert scores["exactness"]["exact"] is scores["held_out"]["exact"] is False
    assert set(final_scores(Model.create(tiny()))) == {"held_out", "assurance"}
