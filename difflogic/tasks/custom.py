"""Custom tasks: a user's code, named as "my_task.py:Majority".

The section of a custom task is plain data: it is read, compared and saved without its code. The
code runs only when a caller allows it (code.py). From then on this process knows the class
by the hash of its file, for every configuration that names the same code.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from difflogic.circuit.grid import Start
from difflogic.system.errors import ConfigError
from difflogic.system.files import write_whole
from difflogic.tasks.base import Task
from difflogic.tasks.checked import blamed
from difflogic.tasks.section import AutomatonConfig, TaskSection

_KIND = re.compile(r"(?P<place>[^:\s][^:\0\n]{0,1000}):(?P<name>[A-Za-z_][A-Za-z0-9_]{0,100})")
_PLAIN = (bool, int, float, str)


class CodeNotAllowedError(ConfigError):
    """A custom task whose code is not allowed to run."""


def is_custom(kind: object) -> bool:
    """Whether `kind` names a custom task."""
    return isinstance(kind, str) and _KIND.fullmatch(kind) is not None


class CustomSection(TaskSection):
    """A custom task: a class in a file beside the configuration."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    kind: str = Field(
        description="the file of the class, a colon, and its name",
        json_schema_extra={"pattern": ":"},
    )
    _sha256: str | None = PrivateAttr(default=None)
    _start_name: Start | None = PrivateAttr(default=None)

    @property
    def sha256(self) -> str | None:
        """Hash of the code that it was used with; None before that."""
        return self._sha256

    @property
    def start_name(self) -> Start:
        """Where its circuits start when they are simulated or exported."""
        return self._start_name or "random"

    def of_code(self, sha256: str | None, start_name: Start | None) -> CustomSection:
        """Return the section with the hash of its code and the start that the code names."""
        section = self.model_copy()
        section._sha256 = sha256
        section._start_name = start_name
        return section

    @model_validator(mode="after")
    def _require_plain(self) -> CustomSection:
        for key, value in (self.model_extra or {}).items():
            items = value if isinstance(value, list | tuple) else [value]
            if not all(isinstance(item, _PLAIN) for item in items):
                raise ValueError(
                    f"[task] {key}: must be a boolean, a number, a text or a list of such values"
                )
        return self


@dataclass(frozen=True)
class Code:
    """The code of a task, read but not run."""

    kind: str
    path: str
    """The file, for messages."""
    text: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    def keep(self, directory: Path) -> None:
        """Write a copy with which a run can resume. Raises RunDirectoryError."""
        name = Path(parts(self.kind)[0]).name
        write_whole(directory / name, lambda file: file.write(self.text))


LOADED: dict[tuple[str, str], tuple[Code, type[Task]]] = {}
"""The code that this process was allowed to run, and its class, by kind and hash."""


def code_of(section: TaskSection) -> Code | None:
    """Return the loaded code of a section; None for a built-in task."""
    loaded = _loaded(section)
    return None if loaded is None else loaded[0]


def class_of(section: CustomSection) -> type[Task]:
    """Return the class of a section. Raises CodeNotAllowedError if its code is not loaded."""
    loaded = _loaded(section)
    if loaded is None:
        place, name = parts(section.kind)
        raise CodeNotAllowedError(
            f'the task "{section.kind}" is custom code, the class {name} in the file {place}, '
            "which would run with all your rights: read it, then give --allow-code (in Python: "
            "allow_code=True)"
        )
    return loaded[1]


def is_loaded(section: TaskSection) -> bool:
    """Whether a section's task can be made: it is built in, or its code is loaded."""
    return not isinstance(section, CustomSection) or _loaded(section) is not None


def _loaded(section: TaskSection) -> tuple[Code, type[Task]] | None:
    if not isinstance(section, CustomSection) or section.sha256 is None:
        return None
    return LOADED.get((section.kind, section.sha256))


def make(section: CustomSection, automaton: AutomatonConfig) -> Task:
    """Return the task of a section. Raises CodeNotAllowedError if its code is not loaded."""
    task = class_of(section)
    with _sections_of(task):
        return task(task.Section.model_validate(section.model_dump()), automaton)


def complete(section: CustomSection) -> CustomSection:
    """Return the section checked by its class, with its defaults, if the code is loaded.

    Raises pydantic's ValidationError, or TaskError if the class fails.
    """
    if not is_loaded(section):
        return section
    task = class_of(section)
    with _sections_of(task):
        filled = task.Section.model_validate(section.model_dump()).model_dump()
        checked = task.Section.model_validate(filled)  # with its defaults
    whole = CustomSection.model_validate(checked.model_dump())
    return whole.of_code(section.sha256, section.start_name)


def _sections_of(task: type[Task]) -> AbstractContextManager[None]:
    """Return what tells where a class failed while it took its section."""
    return blamed(f"{task.source}: {task.__name__}.Section failed", task.source, ValidationError)


def parts(kind: str) -> tuple[str, str]:
    found = _KIND.fullmatch(kind)
    assert found is not None, kind
    return found["place"], found["name"]
