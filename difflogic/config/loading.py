"""Loads configurations: shipped or given files, recipes and overrides."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from difflogic.config import mistakes, schema
from difflogic.config.checking import check
from difflogic.config.models import RUN, Config
from difflogic.config.recipes import apply_recipe
from difflogic.config.schema import TASK, TOP_LEVEL
from difflogic.pictures.picture import IMAGE_SUFFIXES, picture_directory
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, MissingFileError, did_you_mean, shorten
from difflogic.system.files import STANDARD, for_shell, nearest, read_named
from difflogic.system.toml import MAX_TOML_BYTES, parse_toml
from difflogic.tasks import TASKS, CustomSection, is_custom
from difflogic.tasks.code import find_code, load_code, try_out
from difflogic.tasks.target import resolve_target

KIND = (TASK, "kind")

PUBLISHED_ABOUT = (TASK, "automaton", "perception", "update")
"""The sections of the experiment that published results are about."""

OTHER_FILES = {
    (*IMAGE_SUFFIXES, ".txt"): "to grow a picture: dct train-pattern --target",
    (".csv", ".json", ".jsonl", ".npz"): "to learn from a file of grids before and after: "
    "dct train-examples",
}
"""What other files are for, by their suffixes."""

_BARE_WORD = re.compile(r"[A-Za-z0-9_.+-]+")


class Override(NamedTuple):
    """A value that replaces the file's."""

    key: str
    """Such as ``section.key``, or ``section.key=value`` in TOML; a bare word is a string."""
    value: Any = None
    """None if the text has it."""
    typed: str = ""
    """The option as the user typed it, such as ``--epochs 5``, for messages; "" if nobody did."""

    @property
    def option(self) -> str:
        """The option that gave this value; "" if it follows from others, or nobody gave it."""
        direct = self.value is None or self.typed.endswith(f" {self.value}")
        return self.typed.partition(" ")[0] if direct else ""


@checked
def load_config(
    source: str | Path,
    overrides: Sequence[str | Override] = (),
    recipe: str | None = None,
    *,
    allow_code: bool = False,
    drop_published: bool = False,
) -> Config:
    """Load a configuration: a shipped one by its name, any other by its path.

    `overrides` are texts ``section.key=value``, as for ``--set``, or `Override`s. The last one of
    a key wins; two options, as ``--seed 1`` and ``--set``, must not differ. `recipe` names a way to
    learn that replaces the file's, such as ``reference``. Relative paths of pictures and of a
    task's code start at the file's directory, or at the working directory if in an override.
    `allow_code` runs the code of a custom task: allow it only for a configuration that the user
    named. `drop_published` leaves [published] out if overrides or the recipe change what it is
    about. Raises ConfigError, which names the file or override,
    the key, what is wrong and what would be right.
    """
    path = _locate(source)
    data = _read(path)
    published = repr([data.get(section) for section in PUBLISHED_ABOUT])
    if recipe is not None:
        data = apply_recipe(recipe, data)
    found: list[tuple[str, str]] = []
    origins = _override(data, overrides, found)
    if KIND in origins:
        _drop_keys_of_other_kinds(data, origins)
    if drop_published and published != repr([data.get(section) for section in PUBLISHED_ABOUT]):
        data.pop("published", None)
    task = data.get(TASK)
    kind = task.get("kind") if isinstance(task, dict) else None
    shipped = TASKS.get(kind) if isinstance(kind, str) else None
    read_keys = shipped.Section.resolved if shipped is not None else ()
    places = [(TASK, key) for key in read_keys or ("kind",)]
    overridden = {key for section, *rest in origins if section == TASK for key in rest}
    base = Path() if places[0] in origins else path.parent
    try:
        if read_keys:
            resolve_target(data[TASK], base, overridden)
        elif allow_code and is_custom(kind):
            _load_code(data, base)
    except ConfigError as error:
        origin = next((origins[place] for place in places if place in origins), str(path))
        found.append((origin, f"[{TASK}] {places[0][1]}: {error}"))
        return check(data, str(path), origins, found, known=places[:1])
    config = check(data, str(path), origins, found)
    if allow_code and isinstance(config.task, CustomSection):
        config = config.with_facts(task_start=try_out(config.task, config.automaton))
    return config


def shipped_configs() -> list[str]:
    """Return the names of the shipped configurations."""
    return sorted(path.stem for path in picture_directory().parent.glob("*.toml"))


def _locate(source: str | Path) -> Path:
    """Return the path of a shipped configuration's name, or the given path."""
    if isinstance(source, Path):
        return source
    shipped = shipped_configs()
    if source in shipped:
        return picture_directory().parent / f"{source}.toml"
    path = Path(source)
    for suffixes, use in OTHER_FILES.items():
        if path.suffix.lower() in suffixes:
            named = f"{use} {for_shell(source)}"
            raise ConfigError(f"{source}: is no configuration, which is a TOML file: {named}")
    looks_like_a_path = source == STANDARD or path.suffix == ".toml" or len(path.parts) > 1
    # Unlike Path's own, these also answer for names that are too long.
    if looks_like_a_path or os.path.isfile(path):
        return path
    if os.path.isdir(path):
        raise ConfigError(f"{source}: is a directory: name a configuration or a TOML file")
    raise ConfigError(
        f'no configuration "{source}": {did_you_mean(source, shipped)} '
        "(for your own file give a path, such as my.toml)"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        content = read_named(path, MAX_TOML_BYTES, "a configuration")
    except MissingFileError:
        hint = nearest(path, shipped_configs()) or ": dct config list shows the shipped ones"
        raise ConfigError(f"{path}: no such file{hint}") from None
    try:
        return parse_toml(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: is not UTF-8 text (byte {error.start}): a configuration is a TOML file"
        ) from None
    except ValueError as error:  # with line and column, from tomllib
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _load_code(data: dict[str, Any], directory: Path) -> None:
    """Run the code that [task] names, and record its hash in [run]."""
    facts = data.setdefault(RUN, {})
    if not isinstance(facts, dict):  # the check reports it
        return
    pinned = facts.get("task_sha256")
    code = find_code(data[TASK]["kind"], directory, pinned if isinstance(pinned, str) else None)
    load_code(code)
    facts["task_sha256"] = code.sha256


def _override(
    data: dict[str, Any], overrides: Sequence[str | Override], found: list[tuple[str, str]]
) -> dict[mistakes.At, str]:
    """Change the tables, and return the origin of each value that an override gives.

    Adds the origins and problems of the others to `found`.
    """
    is_custom = any(_names_code(item) for item in (data.get(TASK), *overrides))
    last: dict[mistakes.At, tuple[Any, Override]] = {}
    for override in overrides:
        if not isinstance(override, Override):
            override = Override(override, typed=f"--set {override}")
        try:
            place, value = _parse_override(override, is_custom)
        except ConfigError as error:
            found.append((shorten(override.typed), str(error)))
            continue
        before, earlier = last.get(place, (value, override))
        if override.option and earlier.option not in ("", override.option) and value != before:
            why = f"{shorten(earlier.typed)} gives another value: leave one out"
            found.append((shorten(override.typed), why))
        last[place] = value, override
    for place, (value, _) in last.items():
        _apply(data, place, value)
    return {place: shorten(override.typed) for place, (_, override) in last.items()}


def _names_code(item: Any) -> bool:
    """Whether a [task] or an override names a custom task, which has its own keys."""
    if isinstance(item, dict):
        return is_custom(item.get("kind"))
    text = item.key if isinstance(item, Override) else str(item)
    name, _, value = text.partition("=")
    return name.strip() == ".".join(KIND) and is_custom(value.strip().strip("\"'"))


def _parse_override(override: Override, is_custom: bool) -> tuple[mistakes.At, Any]:
    """Return the place and the value of an override. Raises ConfigError."""
    name, _, text = override.key.partition("=")
    name, text = name.strip(), text.strip()
    if not name or not (text or override.value is not None):
        raise ConfigError("write it as section.key=value, such as training.epochs=50")
    place = tuple(part.strip() for part in name.split("."))
    if not (is_custom and place[0] == TASK and len(place) == 2):
        _check_place(place)
    if override.value is not None:
        return place, override.value
    value = _parse_text(text) if schema.is_text(*place[:2]) else _parse_value(text)
    if len(place) == 2 and (place[1], value) in schema.removed(place[0]).items():
        raise ConfigError(f'[{place[0]}] {place[1]}: "{value}" was removed: leave it out')
    return place, value


def _check_place(place: mistakes.At) -> None:
    if len(place) == 1:
        if place[0] in schema.sections():
            example = schema.keys(place[0])[0]
            raise ConfigError(
                f"[{place[0]}] is a section: name a key, such as {place[0]}.{example}"
            )
        if place[0] not in schema.keys(TOP_LEVEL):
            raise ConfigError(mistakes.unknown(place))
        return
    if place[0] not in schema.sections():
        raise ConfigError(mistakes.unknown(place[:1], is_section=True))
    if len(place) > 2 or place[1] not in schema.keys(place[0]):
        raise ConfigError(mistakes.unknown((place[0], ".".join(place[1:]))))


def _parse_value(text: str) -> Any:
    try:
        parsed = parse_toml(f"value = {text}")
    except ValueError:
        parsed = {}
    if parsed.keys() == {"value"}:  # a line break in the text could add more
        return parsed["value"]
    if _BARE_WORD.fullmatch(text):
        return text
    raise ConfigError("the value is not valid TOML: quote strings and close lists")


def _parse_text(text: str) -> str:
    """Return the quoted string, or the whole text: paths and rules need no quotes."""
    try:
        value = _parse_value(text)
    except ConfigError:
        return text
    return value if isinstance(value, str) else text


def _drop_keys_of_other_kinds(data: dict[str, Any], origins: Mapping[mistakes.At, str]) -> None:
    """Drop the file's keys that the kind of task from an override does not have."""
    task = data.get(TASK)
    if isinstance(task, dict):
        for key in list(task):
            kinds = schema.kinds_with(key)
            if kinds and task.get("kind") not in kinds and (TASK, key) not in origins:
                del task[key]
    facts = data.get(RUN)
    if isinstance(facts, dict):
        data[RUN] = {key: value for key, value in facts.items() if not key.startswith("task_")}


def _apply(data: dict[str, Any], place: mistakes.At, value: Any) -> None:
    if len(place) == 1:
        data[place[0]] = value
        return
    section = data.setdefault(place[0], {})
    if isinstance(section, dict):  # the check reports it
        section[place[1]] = value
