"""Checks a configuration's tables, and reports all their problems at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from difflogic.config import mistakes
from difflogic.config.models import Config
from difflogic.config.schema import TASK
from difflogic.tasks import CustomSection, custom


def config_from_dict(data: Mapping[str, Any], source: str) -> Config:
    """Check plain tables, as from `Config.to_dict`; `source` names them in messages."""
    return check(data, source, {}, [])


def check(
    data: Mapping[str, Any],
    source: str,
    origins: Mapping[mistakes.At, str],
    found: Iterable[tuple[str, str]],
    known: Collection[mistakes.At] = (),
) -> Config:
    """Validate, or raise one ConfigError with the problems already `found` and all others.

    Problems at the places `known` are left out, since they follow from one that was found.
    """
    found = list(found)
    try:
        config = Config.model_validate(dict(data))
    except ValidationError as error:
        for problem in mistakes.find(error):
            if problem.place not in known:
                found.append((_origin(problem, source, origins), problem.text))
        raise mistakes.combine(found) from None
    task = config.task
    if isinstance(task, CustomSection):
        try:
            config = config.model_copy(update={TASK: custom.complete(task)})
        except ValidationError as error:
            model = custom.class_of(task).Section
            for problem in mistakes.find(error, model):
                found.append((_origin(problem, source, origins), problem.text))
    if found:
        raise mistakes.combine(found)
    return config


def _origin(problem: mistakes.Mistake, source: str, origins: Mapping[mistakes.At, str]) -> str:
    """Return where a value came from: its override, or the file."""
    if origins.get(problem.place):
        return origins[problem.place]
    if not problem.is_disagreement:
        return source
    # Values that disagree may come from several places. Name the overrides in the sections that
    # the problem names, or only those of them whose keys it names; without such ones, all.
    sections = {name.lower() for name in re.findall(r"\[(\w+)\]", problem.text)}
    near = [place for place in origins if place[0] in sections]
    named = [place for place in near if re.search(rf"\b{place[-1]}\b", problem.text)]
    typed = [origins[place] for place in named or near or origins if origins[place]]
    return ", ".join(dict.fromkeys([source, *typed]))
