"""Settings without effect are accepted, and a run warns about them."""

from dataclasses import replace

import pytest

from difflogic.config import load_config, shipped_configs
from difflogic.config.effects import why_not_rectify, without_effect
from difflogic.library.training import train
from difflogic.search.finisher import SearchContext
from difflogic.search.rectification import can_rectify
from difflogic.sweeps.sweep import sweep
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.tasks import make_task
from tests.difflogic.training.tiny import growing, tiny

RECTIFY = "finishing.rectify=9"


@pytest.mark.parametrize(
    ("name", "override", "why"),
    [
        ("checkerboard", RECTIFY, "starts are random"),
        ("checkerboard-async", RECTIFY, "cells fire by chance"),
        ("letter-g", "automaton.fire_rate=0.5", "cells fire by chance"),
    ],
)
def test_rectify_without_effect(name, override, why):
    (warning,) = without_effect(load_config(name, [override]))
    assert warning.startswith("[finishing] rectify does nothing: it needs one start, or all cases")
    assert warning.endswith(f"but here {why}: set it to 0")
    assert not without_effect(load_config(name, [override, "finishing.rectify=0"]))


@pytest.mark.parametrize(
    "overrides",
    [["finishing.candidates=0"], ["finishing.every=0", "training.restart_every=0"]],
    ids=["no candidates", "no checks"],
)
def test_rectify_without_search(overrides):
    (warning,) = without_effect(load_config("letter-g", overrides))
    assert "[finishing] rectify does nothing: there is no search" in warning


@pytest.mark.once
@pytest.mark.parametrize("made", [tiny, growing])
def test_run_warns_once(made, tmp_path, said):
    config = made(RECTIFY, "training.epochs=1")
    train(config, directory=tmp_path / "run")
    warned = [line for line in said if line.startswith("warning: ")]
    assert warned == [f"warning: {each}" for each in without_effect(config)]
    assert len(warned) == (made is tiny)
    train(resume=tmp_path / "run")
    assert sum("rectify" in line for line in said) == (made is tiny)


def test_sweep_warns_once(tmp_path, said):
    path = tmp_path / "tiny.toml"
    path.write_text(tiny(RECTIFY, "training.epochs=1").to_toml(), "utf-8")
    options = SweepOptions("0-1", directory=tmp_path / "sweep", jobs=1)
    sweep(str(path), options)
    assert sum("rectify does nothing" in line for line in said) == 1


@pytest.mark.parametrize("name", shipped_configs())
def test_warning_agrees_with_the_search(name):
    config = load_config(name)
    task = make_task(config).stages[0]
    plan = SearchContext(None, config.problem.of(task), 1, None, None, None).plan
    can = can_rectify(replace(plan.scene, at=plan.decisive), plan.exhaustive or plan.starts == 1)
    assert (why_not_rectify(config) is None) == can


def test_no_sample_of_a_huge_grid_is_drawn():
    sides = ("task.height=60000", "task.width=60000")
    assert why_not_rectify(load_config("checkerboard", [RECTIFY, *sides])) is None
