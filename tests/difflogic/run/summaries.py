"""Summaries of a run that never was."""

from difflogic.run.measures import PHASES
from difflogic.run.summary import Summary

PROOF = {"verdict": "proved", "text": "proved for every start from step 18 on", "from_step": 18}
FOUND = {
    "experiment": "checkerboard",
    "seed": 23,
    "workers": 2,
    "plan": {},
    "epochs": 500,
    "epochs_requested": 500,
    "finished": True,
    "interrupted": False,
    "resumed": 0,
    "exact_epoch": None,
    "searched": True,
    "polished": None,
    "corrected": None,
    "scores": {
        "soft_loss": 1.25,
        "hard_loss": 4.0,
        "accuracy": 0.7,
        "best_hard_loss": 0.0,
        "best_accuracy": 0.7734,
        "best_epoch": 30,
        "checked": {
            "tested": "64 random starts",
            "starts": 64,
            "cells": 16384,
            "step": 20,
            "wrong_cells": 164,
            "later_step": 40,
            "wrong_cells_later": 7,
            "exact": True,
            "exactness": {},
            "active_gates": 6,
        },
        "assurance": PROOF,
    },
    "seconds": {
        "training": 5.0,
        "start": 0.5,
        "compilation": 12.5,
        "tests": 0.25,
        "all": 18.5,
        "processor": 21.0,
        "phases": dict.fromkeys(PHASES, 0.0) | {"forward": 2.0, "backward": 3.0},
    },
    "versions": {},
    "cpu": {"name": "none", "count": 1},
}


def merged(found, changes):
    """Return a dict with changes, which may be inside other dicts."""
    inside = {
        key: merged(found[key], value)
        for key, value in changes.items()
        if isinstance(value, dict) and isinstance(found.get(key), dict)
    }
    return found | changes | inside


def summary(**changes):
    """Return a summary of a run that is exact and proved, with changes."""
    return Summary(**merged(FOUND, changes))
