"""The story of a run, in words."""

import pytest

from difflogic.run.measures import PHASES
from difflogic.run.story import advise, answer, in_training, story, time_by_part
from tests.difflogic.run.summaries import summary

GAIN = {"gates": (7, 6), "from_step": (18, 16)}
SOUP = {"name": "random soup", "height": 128, "width": 128, "fire_rate": 1.0, "step": 300}
SOUP |= {"starts": 1, "wrong_starts": 1, "cells": 4915200, "wrong_cells": 7}
TESTED = {"about": "", "notes": [], "counts": [SOUP], "first_wrong_step": 12}
WRONG = {"checked": {"exact": False}}


def run(**changes):
    return summary(exact_epoch=40, **changes)


SEARCHED = "a search from the learned circuit found an exact one at epoch 40"


@pytest.mark.parametrize(
    ("changes", "part", "said"),
    [
        ({}, "learned", "gradient descent got 77.34 % of its samples' bits right at epoch 30"),
        (
            {"scores": {"best_accuracy": 1.0}},
            "learned",
            "gradient descent got all its samples' bits right at",
        ),
        ({"scores": {"best_accuracy": None}}, "learned", None),
        ({"attempts": {"begun": 3, "result": 2}}, "learned", "epoch 30, in attempt 2 of 3"),
        ({}, "searched", SEARCHED),
        ({"searched": False}, "searched", "the learned circuit was found exact at epoch 40"),
        ({"scores": {"accuracy": 1.0}}, "searched", "the learned circuit was found exact"),
        (
            {"scores": {"accuracy": 1.0}, "corrected": {"gates": 24, "bits": 0}},
            "searched",
            "the learned circuit was found exact",
        ),
        (
            {"corrected": {"gates": 24, "bits": 1}},
            "searched",
            "24 gates from the table of 1 wrong bit made the circuit exact at epoch 40",
        ),
        ({"scores": WRONG}, "searched", None),
        ({}, "polished", None),
        (
            {"polished": GAIN},
            "polished",
            "random changes left 6 of 7 active gates, right from step 18 → 16 on",
        ),
        (
            {"polished": GAIN | {"from_step": None}},
            "polished",
            "random changes left 6 of 7 active gates",
        ),
        ({}, "tested", "164 of 16384 cells wrong at step 20, 7 at step 40, from 64 random "),
        (
            {"scores": {"exactness": TESTED}},
            "tested",
            "; random soup of 128×128 cells, step 300: 7 of 4915200 wrong, the first at step 12",
        ),
        (
            {"scores": {"right_pairs": {"training": (3, 3), "held out": (1, 1)}}},
            "examples",
            "training 3 of 3, held out 1 of 1 pairs right",
        ),
        ({}, "proof", "proved for every start"),
    ],
)
def test_each_figure_is_of_one_circuit(changes, part, said):
    text = story(run(**changes)).get(part)
    assert text is None if said is None else said in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "proved: 6 active gates, in 18.5 s"),
        ({"interrupted": True}, "interrupted: 6 active gates, in 18.5 s"),
        ({"scores": WRONG}, "late: 6 active gates, in 18.5 s"),
    ],
)
def test_the_answer(changes, said):
    assert answer(run(**changes)) == said
    assert story(run(**changes), "of a part")["proof"] == "of a part"


@pytest.mark.parametrize(("verdict", "reason"), [("proved", "Too late"), ("refuted", "Not exact")])
def test_only_what_is_proved_comes_too_late(verdict, reason):
    known = {"verdict": verdict, "from_step": 500}
    assert advise(run(scores=WRONG | {"assurance": known}), "r").reason.startswith(reason)


def test_all_time_is_in_one_part():
    phases = dict.fromkeys(PHASES, 0.0) | {"forward": 2.0, "backward": 3.0, "finish": 4.0}
    around = {"start": 1.0, "compilation": 8.0, "tests": 16.0, "others": None}
    found = summary(seconds={**around, "phases": phases}).seconds
    parts = {"training": 5.0, "search": 4.0, "start-up": 9.0, "tests": 16.0}
    assert time_by_part(found) == parts
    assert in_training(phases) == "backward 60 %, forward 40 %"
    found.others = 32.0
    assert time_by_part(found) == parts | {"other ways": 32.0}
