"""Custom tasks: a user's code, named as "my_task.py:Majority".

The section of a custom task is plain data: it is read, compared and saved without its code. The
code runs only when a caller allows it with `load_code`. From then on this process knows the class
by the hash of its file, for every configuration that names the same code.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import types
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from difflogic.circuit.automaton import Start
from difflogic.system.errors import ConfigError, MissingFileError, did_you_mean
from difflogic.system.files import read_named, write_whole
from difflogic.tasks.base import Task, draw_batch, line_of
from difflogic.tasks.parts import TaskError
from difflogic.tasks.sections import AutomatonConfig, TaskSection

MAX_BYTES = 2**20
"""Most bytes of a task's file."""

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

    kind: str = Field(description="the file of the class, a colon, and its name")
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
        section._sha256, section._start_name = sha256, start_name
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

    @property
    def class_name(self) -> str:
        return _parts(self.kind)[1]

    @property
    def copy_name(self) -> str:
        """The file name of the copy that a run keeps."""
        return Path(_parts(self.kind)[0]).name

    def keep(self, directory: Path) -> None:
        """Write a copy with which a run can resume. Raises RunDirectoryError."""
        write_whole(directory / self.copy_name, lambda file: file.write(self.text))


_LOADED: dict[tuple[str, str], tuple[Code, type[Task]]] = {}
"""The code that this process was allowed to run, and its class, by kind and hash."""


def find_code(kind: str, directory: Path, sha256: str | None = None) -> Code:
    """Read the code that `kind` names, without running it. Paths start at `directory`.

    The file may be the named one or the copy that a run keeps in `directory`; with `sha256` it is
    the one with this hash. Raises ConfigError if it is missing, or has another hash.
    """
    place, name = _parts(kind)
    if not place.endswith(".py"):
        raise ConfigError(f'"{kind}": names no .py file: write it as "my_task.py:{name}"')
    codes = _read_files(kind, Path(place), directory)
    for code in codes:
        if sha256 in (None, code.sha256):
            return code
    raise ConfigError(
        f"{codes[0].path}: has changed: the configuration was used with other code (the SHA-256 "
        "differs). Restore it, or begin a new run without [run] task_sha256"
    )


def load_code(code: Code) -> type[Task]:
    """Run the code of a task, once, and return its class. Only for code that the user allowed.

    Raises TaskError if the code fails, or the class is missing or is not a task.
    """
    key = (code.kind, code.sha256)
    if key not in _LOADED:
        task = _class_in(_run(code), code)
        task.source = code.path
        _LOADED[key] = code, task
    return _LOADED[key][1]


def allow_code(section: TaskSection, directory: Path) -> None:
    """Load the code of a stored section, if it is custom; it may be the copy in `directory`.

    Raises ConfigError if it is missing, or not the code that the section was used with.
    """
    if isinstance(section, CustomSection):
        load_code(find_code(section.kind, directory, section.sha256))


def code_of(section: TaskSection) -> Code | None:
    """Return the loaded code of a section; None for a built-in task."""
    loaded = _loaded(section)
    return None if loaded is None else loaded[0]


def class_of(section: CustomSection) -> type[Task]:
    """Return the class of a section. Raises CodeNotAllowedError if its code is not loaded."""
    loaded = _loaded(section)
    if loaded is None:
        place, name = _parts(section.kind)
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
    return _LOADED.get((section.kind, section.sha256))


def make(section: CustomSection, automaton: AutomatonConfig) -> Task:
    """Return the task of a section. Raises CodeNotAllowedError if its code is not loaded."""
    task = class_of(section)
    return task(task.Section.model_validate(section.model_dump()), automaton)


def complete(section: CustomSection) -> CustomSection:
    """Return the section checked by its class, with its defaults, if the code is loaded.

    Raises pydantic's ValidationError.
    """
    if not is_loaded(section):
        return section
    checked = class_of(section).Section.model_validate(section.model_dump())
    whole = CustomSection.model_validate(checked.model_dump())
    return whole.of_code(section.sha256, section.start_name)


def try_out(section: CustomSection, automaton: AutomatonConfig) -> Start:
    """Draw samples to check the task, and return where its circuits start. Raises TaskError."""
    task = make(section, automaton)
    first, again = (draw_batch(task, seed=0, epoch=0, batch=4) for _ in range(2))
    pairs = (first[0], again[0]), (first[1], again[1])
    if not all(np.array_equal(one, two, equal_nan=True) for one, two in pairs):
        raise TaskError(
            f"{task.prefix}.sample gives two samples for the same generator: draw only with rng"
        )
    if task.has_loss():
        shape = len(task.find_steps_seen()), *first[0].shape[1:]
        task.find_loss(np.full(shape, 0.5), first[1][0])
    start: Start = task.call("start")
    return start


def _parts(kind: str) -> tuple[str, str]:
    found = _KIND.fullmatch(kind)
    assert found is not None, kind
    return found["place"], found["name"]


def _read_files(kind: str, path: Path, directory: Path) -> list[Code]:
    """Return the named file and the copy that a run keeps, as far as they exist."""
    named = directory / path
    found = []
    for file in dict.fromkeys([named, directory / path.name]):
        with suppress(MissingFileError):
            found.append(Code(kind, str(file), read_named(file, MAX_BYTES, "a task")))
    if not found:
        raise ConfigError(
            f'{named}: no such file, named by "{kind}": a relative path starts at the directory of '
            "the configuration"
        )
    return found


def _run(code: Code) -> types.ModuleType:
    """Run the code as a module. It is in sys.modules, where pydantic and dataclasses look."""
    name = f"dct_task_{code.sha256[:16]}"
    module = types.ModuleType(name)
    module.__file__ = code.path
    try:
        sys.modules[name] = module
        exec(compile(code.text, code.path, "exec"), module.__dict__)
    except SyntaxError as error:
        raise TaskError(
            f"{error.filename}: line {error.lineno}: {error.msg}: correct the file"
        ) from error
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise TaskError(
            f"{code.path}: cannot be loaded{line_of(error, code.path)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    return module


def _class_in(module: types.ModuleType, code: Code) -> type[Task]:
    name = code.class_name
    found: Any = getattr(module, name, None)
    if found is None:
        tasks = [key for key, value in vars(module).items() if _is_task(value)]
        hint = did_you_mean(name, tasks) if tasks else "no class there is a difflogic.Task"
        raise TaskError(f"{code.path}: has no class {name}: {hint}")
    if not _is_task(found):
        raise TaskError(
            f"{code.path}: {name} is not a task: derive the class from difflogic.Task, with a "
            "method sample(self, rng)"
        )
    missing = getattr(found, "__abstractmethods__", ())
    if missing:
        raise TaskError(f"{code.path}: {name} has no method {', '.join(sorted(missing))}")
    section = found.Section
    if not (inspect.isclass(section) and issubclass(section, TaskSection)):
        raise TaskError(f"{code.path}: {name}.Section must be derived from Task.Section")
    task: type[Task] = found
    return task


def _is_task(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Task) and value is not Task
