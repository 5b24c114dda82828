"""summary.json's content."""

import hashlib
import json
import math

import pytest

from difflogic.config import load_config
from difflogic.evaluation.final_scores import final_scores
from difflogic.experiment.results import summarize
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.metrics import History, MetricsRow
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import parse, render, require_whole, write_summary
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.run.summaries import FOUND, summary
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
    found = summarize(trainer.config, trainer, history, resumed=2)
    assert (found.experiment, found.seed, found.workers) == ("checkerboard-small", 36, 1)
    assert (found.epochs, found.epochs_requested, found.resumed) == (3, 3, 2)
    assert found.exact_epoch is found.polished is None
    scores = found.scores
    assert scores.soft_loss == history.rows[-1].soft_loss
    assert (scores.hard_loss, scores.accuracy) == (1.0, 0.75)
    assert (scores.best_hard_loss, scores.best_accuracy, scores.best_epoch) == (1.0, 0.875, 2)
    assert scores.checked == final_scores(trainer.result)["checked"]
    assert found.seconds.training == sum(found.seconds.phases.values())
    assert found.seconds.tests > 0


def test_attempts_in_a_summary(trained):
    assert "attempts" not in summarize(trained[0].config, *trained, resumed=0).as_dict()
    config = tiny("training.epochs=9", "training.restart_every=4", "finishing.every=2")
    with Trainer(config) as trainer:
        untrained = summarize(config, trainer, History(), resumed=0).attempts
        assert (untrained.begun, untrained.result) == (1, 1)
        while not trainer.done:
            trainer.step()
    found = summarize(config, trainer, History(), resumed=0).attempts
    assert (found.begun, found.result) == (3, trainer._best.attempt + 1)


def test_scores_of_a_life_like_rule():
    wrong = load_config("game-of-life-small", ["training.epochs=1"])
    scores = final_scores(Model.create(wrong))
    boards, soup = scores["exactness"].counts
    assert (boards.cells, soup.cells) == (512 * 9, 128 * 128 * 300)
    assert boards.wrong_cells > 0 < soup.wrong_cells
    assert scores["exactness"].exact is scores["checked"].exact is False
    assert set(final_scores(Model.create(tiny()))) == {"checked", "assurance"}


@pytest.mark.parametrize(
    "optional",
    [
        {"polished": {"gates": (6, 3), "from_step": (18, 16), "candidates": 4003}},
        {
            "polished": {"gates": (6, 3), "from_step": None, "candidates": 4003},
            "attempts": {"begun": 2, "result": 1},
        },
        {"scores": {"soft_loss": math.nan, "assurance": {"period": 2}}},
    ],
)
def test_a_summary_round_trip(optional):
    given = summary(**optional)
    text = render(given, {"model.npz": "ab"})
    found = parse(text.encode())
    assert found.files == {"model.npz": "ab"}
    content = found.as_dict()
    assert {key: content[key] for key in given.as_dict()} == given.as_dict()
    assert render(found, {"model.npz": "ab"}) == text  # sealed only once
    del content["sha256"]
    assert json.loads(sealed(content)) == json.loads(text)


def sealed(content):
    """Return the bytes of a summary with a right seal, whatever it holds."""
    seal = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps(content | {"sha256": seal}).encode()


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"epochs": True}, "epochs"),
        ({"polished": {"gates": [6, 3], "from_step": [1, 2, 3]}}, r"polished\.from_step"),
        ({"attempts": {"begun": 2, "result": "1"}}, r"attempts\.result"),
    ],
)
def test_wrong_types_are_named(changes, place):
    with pytest.raises(ValueError, match=f'^"{place}" is missing or has a wrong type'):
        parse(sealed(FOUND | changes))


def test_every_changed_byte_is_noticed():
    content = render(summary(), {"model.npz": "ab"}).encode()
    for place in range(0, len(content), 37):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        try:
            found = parse(bytes(damaged))
        except ValueError:
            continue
        # The content is still the same: another kind of blank, for example.
        assert found == parse(content), damaged[place - 5 : place + 5]


@pytest.mark.parametrize("name", ["summary.json", "config.toml", "metrics.csv"])
def test_no_resume_is_advised_that_a_directory_would_stop(tmp_path, name):
    run = RunDirectory(tmp_path)
    for path in run.summed_up:
        path.write_text("seed = 1")
    write_summary(run, summary())
    (tmp_path / name).unlink()
    if name != "summary.json":
        with pytest.raises(RunDirectoryError, match="is missing: to use") as missing:
            require_whole(run, tiny())
        assert ("dct train --resume" in str(missing.value)) == (name == "metrics.csv")
        for other in ("damaged", "seed = 2"):
            run.config.write_text(other)
            with pytest.raises(RunDirectoryError, match=r"name that file$"):
                require_whole(run, tiny())
        run.config.unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(RunDirectoryError, match=f"; {name} is a directory, .*: move it away$"):
        require_whole(run, tiny())
