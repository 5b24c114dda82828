"""Trainers that share batches as ranks, here as threads: they give equal bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.experiment import following
from difflogic.experiment.following import follow_all, gather
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.opened_run import StartModel, fitted
from difflogic.system.errors import ConfigError
from difflogic.system.ranks import ALONE, Ranks
from difflogic.training import rank_plan
from difflogic.training.rank_plan import RankPlan
from tests.difflogic.system.ranks.threads import in_threads
from tests.difflogic.training.tiny import growing, least_bytes, tiny
from tests.examples import examples


def lead(config, ranks, epochs, model=None):
    """Train as rank 0; return the state, and the losses of all epochs."""
    with Trainer(config, model, ranks) as trainer:
        gather(trainer, ranks)
        losses = []
        for _ in range(epochs):
            with ranks.step():
                losses.append(trainer.step().soft_loss)
        ranks.finish()
        return {name: array.tobytes() for name, array in trainer.state().items()}, losses


def shared(config, size, epochs):
    with in_threads(size, follow_all) as ranks:
        return lead(config, ranks, epochs)


LEAST = least_bytes(tiny("training.batch=8"))


def rank_of(rank, size):
    ranks = Ranks()
    ranks.rank = rank
    ranks.size = size
    ranks.here = size
    return ranks


@pytest.mark.parametrize(
    ("make", "ranks", "epochs", "overrides"),
    [
        # Several waves per rank: its slots wait for those of the ranks before.
        (tiny, 3, 3, ["training.batch=8", f"parallel.memory_budget={LEAST}B"]),
        (tiny, 3, 3, ["training.batch=2", "automaton.fire_rate=0.6"]),
        (tiny, 3, 3, ["training.batch=3", "training.later_steps=3"]),
        (tiny, 3, 2, ["finishing.every=1", "finishing.candidates=100", "automaton.fire_rate=0.6"]),
        (growing, 2, 5, ["finishing.every=2", "finishing.candidates=300"]),
        (growing, 3, 2, ["pool.batch=1", "finishing.every=0"]),
        (growing, 3, 2, ["pool.batch=40", "finishing.every=0"]),
    ],
)
def test_ranks_change_no_bit(make, ranks, epochs, overrides):
    config = make(*overrides)
    assert shared(config, ranks, epochs) == lead(config, ALONE, epochs)


def test_ranks_prove_and_polish_alike():
    config = growing("training.seed=8", "finishing.candidates=8000", "finishing.polish=400")
    expected = lead(config, ALONE, 10)
    best = np.frombuffer(expected[0]["best"], np.int64)
    assert best[2] == 10  # the exact epoch
    assert shared(config, 3, 10) == expected


@examples(30)
@given(batch=st.integers(1, 40), size=st.integers(1, 9), side=st.sampled_from([3, 4, 6, 16]))
def test_ranks_get_every_sample_once_in_whole_groups(batch, size, side):
    config = load_config(
        "checkerboard-small",
        [f"training.batch={batch}", f"task.height={side}", f"task.width={side}"],
        recipe="reference",
    )
    netlist = NETLIST
    done = 0
    for ranks in (rank_of(rank, size) for rank in range(size)):
        share = RankPlan.of(config.problem, netlist, ranks)
        assert share.samples.start == done
        done = share.samples.stop
        assert share.samples.stop - share.samples.start <= share.plan.batch
        assert done == batch or done % share.plan.samples_per_group == 0
    assert done == batch


NETLIST = Model.create(load_config("checkerboard-small")).netlist


def test_another_version_is_refused(monkeypatch):
    ranks = Ranks()
    ranks.receive = lambda: {"versions": {"dct": "0"}, "config": {}}
    with pytest.raises(ConfigError, match="equal ones"):
        following.follow(ranks)


def test_code_that_rank_0_names_is_not_run_for_it():
    """Only whoever started this process may allow it."""
    loaded = []
    ranks = Ranks()
    message = tiny().to_dict() | {"task": {"kind": "their.py:Task", "height": 4, "width": 4}}
    ranks.receive = lambda: {"versions": following.made_with(), "config": message}
    with pytest.raises(ConfigError, match="--allow-code"):
        following.follow(ranks, lambda: loaded.append("code"))
    assert loaded == ["code"]


@pytest.mark.thorough
def test_ranks_receive_the_start_model():
    """Its wiring comes from another seed; starting over needs it too."""
    settings = ["training.batch=5", "training.restart_every=2", "finishing.every=2"]
    saved = Model.create(tiny("training.seed=7", "perception.directions=random"))
    start = StartModel.of(saved)
    config = start.named_in(tiny(*settings, "perception.directions=random"))
    model = fitted(start.model, config, "saved")
    expected = lead(config, ALONE, 5, model)
    with in_threads(3, follow_all) as ranks:
        assert lead(config, ranks, 5, model) == expected
    assert expected != lead(tiny(*settings, "perception.directions=random"), ALONE, 5)


def test_ranks_without_samples_or_cores_cause_a_warning(monkeypatch):
    monkeypatch.setattr(rank_plan, "cpu_count", lambda: 3)

    def warnings(size, *overrides):
        config = load_config("checkerboard-small", ["parallel.workers=1", *overrides])
        ranks = rank_of(0, size)
        problem = config.problem
        netlist = Model.create(config).netlist
        return RankPlan.of(problem, netlist, ranks).warnings(problem, ranks)

    assert warnings(1) == warnings(2, "training.batch=2") == []
    (warning,) = warnings(3, "training.batch=1")
    assert warning.startswith("3 ranks for 1 group of samples per step: 2 of them")
    assert warnings(2, "training.batch=1", "pool.batch=2") == []
    (warning,) = warnings(4, "training.batch=4")
    assert warning.startswith("4 ranks on 3 cores: they wait")
