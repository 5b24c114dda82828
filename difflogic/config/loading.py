"""Reading configurations: shipped or given files, overrides, and every way they can fail."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from difflogic.config import problems, schema
from difflogic.config.models import KEYS_OF_KIND, Config
from difflogic.config.recipes import apply_recipe
from difflogic.config.schema import TOP_LEVEL
from difflogic.config.targets import SIDES, TARGET, resolve_target
from difflogic.errors import ConfigError, did_you_mean

MAX_BYTES = 2**20
"""A configuration has 2 kB: what is larger is something else, perhaps without an end."""

_TEXTS = (TARGET, ("task", "rule"))
"""Places whose values are no single words."""

_BARE_WORD = re.compile(r"[A-Za-z0-9_.+-]+")


def load_config(
    source: str | Path, overrides: Sequence[str] = (), recipe: str | None = None
) -> Config:
    """Load a configuration: a shipped one by its name, any other by its path.

    `recipe` names a way to learn that replaces the file's, such as ``reference``.

    `overrides` are texts ``section.key=value``, the value in TOML; a bare word is a string.
    The last one of a key wins. A relative path of a picture starts at the directory of the file
    that it stands in, and at the working directory if it stands in an override. Raises ConfigError
    that names the file or override, the key, what is wrong and what would be right.
    """
    path = _locate(source)
    data = _read(path)
    if recipe is not None:
        data = apply_recipe(recipe, data)
    found: list[tuple[str, str]] = []
    origins: dict[problems.Place, str] = {}
    for override in overrides:
        origin = problems.shorten(f"--set {override}")
        try:
            place, value = _parse_override(override)
        except ConfigError as error:
            found.append((origin, str(error)))
            continue
        origins[place] = origin
        _apply(data, place, value)
    if ("task", "kind") in origins:
        _drop_keys_of_other_kinds(data, origins)
    try:
        base = Path() if TARGET in origins else path.parent
        resolve_target(data, base, origins, picture_directory())
    except ConfigError as error:
        origin = next((origins[place] for place in (TARGET, *SIDES) if place in origins), str(path))
        found.append((origin, f"[task] target: {error}"))
        return _check(data, str(path), origins, found, known=(TARGET,))
    return _check(data, str(path), origins, found)


def config_from_dict(data: Mapping[str, Any], source: str) -> Config:
    """Check plain tables, as `Config.to_dict` gives them; `source` names them in messages."""
    return _check(data, source, {}, [])


def shipped_configs() -> list[str]:
    """Return the names of the configurations that come with the program."""
    return sorted(path.stem for path in _shipped_directory().glob("*.toml"))


def picture_directory() -> Path:
    """Return where the pictures are that come with the program."""
    return _shipped_directory() / "pictures"


def _shipped_directory() -> Path:
    package = Path(__file__).resolve().parent.parent
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def _locate(source: str | Path) -> Path:
    """Return the path of a shipped configuration's name, or of a path as it is."""
    if isinstance(source, Path):
        return source
    shipped = shipped_configs()
    if source in shipped:
        return _shipped_directory() / f"{source}.toml"
    path = Path(source)
    looks_like_a_path = path.suffix == ".toml" or len(path.parts) > 1
    if looks_like_a_path or path.is_file():
        return path
    raise ConfigError(
        f'no configuration "{source}": {did_you_mean(source, shipped)} '
        "(a file of your own is named by its path, such as my.toml)"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; shipped configurations: {', '.join(shipped_configs())}"
        ) from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a directory: name a TOML file in it") from None
    except PermissionError:
        raise ConfigError(f"{path}: may not be read: check the file's permissions") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{str(path)!r}: cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes: this is no configuration")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: no text in UTF-8 (byte {error.start}): a configuration is a TOML file"
        ) from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply: this is no configuration") from None
    except ValueError as error:  # with line and column, from tomllib
        raise ConfigError(f"{path}: no valid TOML: {error}") from None


def _parse_override(override: str) -> tuple[problems.Place, Any]:
    """Return the place and the value of ``section.key=value``. Raises ConfigError."""
    name, equals, text = override.partition("=")
    name, text = name.strip(), text.strip()
    if not equals or not name or not text:
        raise ConfigError("write it as section.key=value, such as training.epochs=50")
    place = tuple(part.strip() for part in name.split("."))
    _check_place(place)
    return place, _parse_text(text) if place in _TEXTS else _parse_value(text)


def _check_place(place: problems.Place) -> None:
    if len(place) == 1:
        if place[0] in schema.sections():
            example = schema.keys(place[0])[0]
            raise ConfigError(f"[{place[0]}] is a section: name a key, as {place[0]}.{example}")
        if place[0] not in schema.keys(TOP_LEVEL):
            raise ConfigError(problems.unknown(place))
        return
    if place[0] not in schema.sections():
        raise ConfigError(problems.unknown(place[:1], is_section=True))
    if len(place) > 2 or place[1] not in schema.keys(place[0]):
        raise ConfigError(problems.unknown((place[0], ".".join(place[1:]))))


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    if parsed.keys() == {"value"}:  # a line break in the text could add more
        return parsed["value"]
    if _BARE_WORD.fullmatch(text):
        return text
    raise ConfigError("the value is no valid TOML: quote a string, close a list")


def _parse_text(text: str) -> str:
    """Return the string in quotes, or the text as it is: paths and rules need no quotes."""
    try:
        value = _parse_value(text)
    except ConfigError:
        return text
    return value if isinstance(value, str) else text


def _drop_keys_of_other_kinds(data: dict[str, Any], origins: Mapping[problems.Place, str]) -> None:
    """Forget what the file says about its own kind of task, as an override chose another."""
    task = data.get("task")
    if isinstance(task, dict):
        for kind, keys in KEYS_OF_KIND.items():
            for key in keys:
                if kind != task.get("kind") and ("task", key) not in origins:
                    task.pop(key, None)


def _apply(data: dict[str, Any], place: problems.Place, value: Any) -> None:
    if len(place) == 1:
        data[place[0]] = value
        return
    section = data.setdefault(place[0], {})
    if isinstance(section, dict):  # what else it may be is reported by the check
        section[place[1]] = value


def _check(
    data: Mapping[str, Any],
    source: str,
    origins: Mapping[problems.Place, str],
    found: Iterable[tuple[str, str]],
    known: Collection[problems.Place] = (),
) -> Config:
    """Validate, or raise one ConfigError with what was found before and all that is wrong.

    `known` are places whose problem was found before: what else is wrong there follows from it.
    """
    found = list(found)
    try:
        config = Config.model_validate(dict(data))
    except ValidationError as error:
        for problem in problems.find(error):
            if problem.place not in known:
                found.append((_origin(problem, source, origins), problem.text))
        raise problems.combine(found) from None
    if found:
        raise problems.combine(found)
    return config


def _origin(problem: problems.Problem, source: str, origins: Mapping[problems.Place, str]) -> str:
    """Say where the value came from: its override, or the file."""
    if problem.place in origins:
        return origins[problem.place]
    # Values that disagree may come from several places: name all that could be at fault.
    return ", ".join([source, *origins.values()]) if problem.is_disagreement else source
