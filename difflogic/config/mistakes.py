"""Pydantic's findings as sentences: where a problem is, what is wrong, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from difflogic.config import schema
from difflogic.config.models import RUN
from difflogic.config.schema import TASK, TOP_LEVEL
from difflogic.system.errors import ConfigError, did_you_mean, shown
from difflogic.tasks import CustomSection, TaskSection

_NAMED_PLACE = re.compile(r"\[(\w+)\] (\w+)")

At = tuple[str, ...]
"""A value's place: (key,) at the top level, (section,), or (section, key)."""


class Mistake(NamedTuple):
    place: At
    text: str
    is_disagreement: bool = False
    """Each value is valid alone, but not together with others."""


def find(error: ValidationError, task: type[TaskSection] | None = None) -> Iterator[Mistake]:
    """Yield each problem once, in the order of the file.

    `task` is the section that was checked, if that was not a whole configuration.
    """
    seen: set[tuple[Any, ...]] = set()
    for detail in error.errors():
        location, model = _located(detail["loc"], task)
        message = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else ""
        if message:
            # Cross-checks: each line starts with its place.
            for text in message.splitlines():
                named = _NAMED_PLACE.match(text)
                place = named.groups() if named else location[:2]
                head = "" if named or not place else f"[{'] '.join(map(str, place))}: "
                yield Mistake(tuple(map(str, place)), head + text, is_disagreement=True)
            continue
        place = tuple(str(part) for part in location[:2])
        if detail["type"] == "union_tag_not_found" and isinstance(detail["input"], dict):
            place = (TASK, "kind")
            value = detail["input"].get("kind")
            problem = "missing" if value is None else "enum"
            yield Mistake(place, _describe(problem, place, None, value, None))
            continue
        index = location[2] if len(location) > 2 and isinstance(location[2], int) else None
        # Pydantic reports a union once per branch, and calls a list with wrong items too short.
        repeated = place in seen if detail["type"] == "too_short" else (place, index) in seen
        if not repeated:
            seen |= {place, (place, index)}
            yield Mistake(place, _describe(detail["type"], place, index, detail["input"], model))


def _located(
    location: tuple[int | str, ...], task: type[TaskSection] | None
) -> tuple[tuple[int | str, ...], type[TaskSection] | None]:
    """Return where a problem is, and the model of [task] that was checked."""
    if task is not None:
        return (TASK, *location), task
    if location[:1] == (TASK,) and len(location) > 1:
        # Pydantic inserts the kind that it took the table for.
        return (TASK, *location[2:]), schema.task_sections().get(str(location[1]), CustomSection)
    return location, None


def unknown(place: At, is_section: bool = False, known: Iterable[str] = ()) -> str:
    """Return the message for a section or key that does not exist, with the nearest valid name.

    `known` are the keys to choose from, by default all of the section.
    """
    if len(place) == 1:
        name = place[0]
        if is_section:
            return f"no section [{name}]: {did_you_mean(name, schema.sections())}"
        where = "at the top level"
        hint = "only name has no section; all others have one, as in training.epochs"
    else:
        name = place[1]
        if name in schema.removed(place[0]):
            return f"[{place[0]}] {name}: was removed, as the changelog says: train without it"
        where = f"in [{place[0]}]"
        hint = did_you_mean(name, known or schema.keys(place[0]))
    homes = [section for section in schema.sections() if name in schema.keys(section)]
    if homes:
        hint = f"it belongs in [{homes[0]}]"
    return f'no key "{name}" {where}: {hint}'


def combine(found: Sequence[tuple[str, str]]) -> ConfigError:
    """Return one error for all (origin, problem) pairs, at least one."""
    lines = [f"{origin}: {problem}" for origin, problem in found]
    if len(lines) == 1:
        return ConfigError(lines[0])
    return ConfigError(f"{len(lines)} problems in the configuration:\n  " + "\n  ".join(lines))


def _describe(
    kind: str, place: At, index: int | None, value: Any, model: type[TaskSection] | None
) -> str:
    section, key = place if len(place) == 2 else (TOP_LEVEL, place[0])
    is_section = len(place) == 1 and key in {*schema.sections(), RUN}
    if kind == "extra_forbidden":
        if model is not None and key in schema.keys(TASK):
            return f"[{TASK}] {key}: belongs to another kind of task: leave it out"
        is_table = len(place) == 1 and isinstance(value, dict)
        return unknown(place, is_table, () if model is None else model.model_fields)
    if kind == "missing" and is_section:
        return f"the section [{key}] is missing: it needs {', '.join(_required(key))}"
    if kind == "missing":
        where = f"[{section}]" if section else "the top level"
        meaning = schema.meaning(section, key, model)
        accepted = schema.accepted(section, key, model=model)
        return f'{where} needs a key "{key}", {accepted}: {meaning}'
    if is_section:
        return f"[{key}] must be a section of keys, not {shown(value)}"
    name = f"[{section}] {key}" if section else key
    if index is not None:
        name += f"[{index}]"
    accepted = schema.accepted(section, key, item=index is not None, model=model)
    hint = _hint(schema.choices(section, key, model), value)
    return f"{name} must be {accepted}, not {shown(value)}{hint}"


def _required(section: str) -> list[str]:
    fields = schema.sections()[section].model_fields
    return [key for key, field in fields.items() if field.is_required()]


def _hint(choices: Sequence[str], value: Any) -> str:
    if not isinstance(value, str) or not choices:
        return ""
    hint = did_you_mean(value, choices)
    return f": {hint}" if hint.startswith("did you mean") else ""
