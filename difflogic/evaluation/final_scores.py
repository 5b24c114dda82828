"""Scores of a finished run."""

from __future__ import annotations

from typing import Any

from difflogic.evaluation.circuit_test import EXACTNESS, TESTS, Subject
from difflogic.evaluation.exactness import assure, check
from difflogic.evaluation.settled import right_pairs
from difflogic.model.model import Model
from difflogic.system.json_values import json_value


def final_scores(model: Model) -> dict[str, Any]:
    """Score the hard circuit of a finished run.

    `checked` has the wrong cells in all cases, or on starts; `assurance` what is proved. If the
    task's target moves on, `exactness` has the counts on all cases and in a random soup.
    """
    subject = Subject(model, model.config, model.config.training.seed)
    scores: dict[str, Any] = {"checked": check(model), "assurance": json_value(assure(model))}
    pairs = right_pairs(subject.automaton, subject.task)
    if pairs is not None:
        scores["right_pairs"] = pairs
    if subject.task.has_changing_targets():
        scores["exactness"] = TESTS[EXACTNESS].measure(subject)
    return scores
