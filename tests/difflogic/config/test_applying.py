"""Settings that a task has no use for are refused, with a reason, and in old files do nothing."""

from dataclasses import replace

import pytest

from difflogic.config import config_from_dict, load_config, shipped_configs
from difflogic.config.applying import why_not_rectify
from difflogic.errors import ConfigError
from difflogic.training import attempt
from difflogic.training.rectifying import can_rectify

RECTIFY = "finishing.rectify=9"


def refused(name, *overrides):
    """The message for an experiment that asks for what it cannot have."""
    with pytest.raises(ConfigError) as raised:
        load_config(name, overrides)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "override", "why"),
    [
        ("checkerboard", RECTIFY, "starts are random"),
        ("checkerboard-async", RECTIFY, "cells fire by chance"),
        ("letter-g-heal", RECTIFY, "damage is to grow back"),
        ("letter-g", "automaton.fire_rate=0.5", "cells fire by chance"),
    ],
)
def test_a_search_that_cannot_rectify(name, override, why):
    found = refused(name, override)
    assert f"--set {override}: [finishing] rectify: needs one start, or all cases" in found
    assert f"and here {why}: set it to 0" in found
    assert load_config(name, [override, "finishing.rectify=0"]).finishing.rectify == 0


def test_it_is_named_beside_what_else_is_typed():
    found = refused("letter-g", "training.epochs=5", "automaton.fire_rate=0.5")
    assert "letter-g.toml, --set training.epochs=5, --set automaton.fire_rate=0.5: " in found


def test_a_file_of_before_still_loads():
    """It was taken, and did nothing."""
    table = load_config("checkerboard").to_dict()
    table["finishing"]["rectify"] = 9
    assert config_from_dict(table, "run", saved=True).finishing.rectify == 9
    with pytest.raises(ConfigError, match=r"^mine.toml: \[finishing\] rectify: needs one start"):
        config_from_dict(table, "mine.toml")


@pytest.mark.parametrize("name", shipped_configs())
def test_it_is_known_before_there_is_a_search(name):
    """As searches tell it, from the scenes that they look at."""
    config = load_config(name)
    plans = [attempt._plan_of_checks(config)]
    if config.pool.after_growth:
        plans.append(attempt._plan_of_growth(config))
    can = [
        can_rectify(replace(plan.scene, at=plan.decisive), plan.exhaustive or plan.starts == 1)
        for plan in plans
    ]
    assert (why_not_rectify(config) is None) == any(can)


def test_a_grid_that_is_too_large_is_not_drawn():
    sides = ("task.height=60000", "task.width=60000")
    assert why_not_rectify(load_config("checkerboard", [RECTIFY, *sides])) is None
