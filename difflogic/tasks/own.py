"""Tasks that are not the program's: code that a user names, as "my_task.py:Majority".

Such a task's section is data like any other: it is read, compared and saved without its code. The
code runs only where someone allowed it by calling `load_code`; from then on this process knows the
class by the hash of its file, and every configuration that names the same code finds it.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.files import open_plain, write_whole
from difflogic.tasks.base import Start, Task, TaskError, draw_batch, line_of
from difflogic.tasks.sections import AutomatonConfig, TaskSection

MAX_BYTES = 2**20
"""Of a task's file."""

_KIND = re.compile(r"(?P<place>[^:\s][^:\0\n]{0,1000}):(?P<name>[A-Za-z_][A-Za-z0-9_]{0,100})")
_PLAIN = (bool, int, float, str)


class CodeNotAllowedError(ConfigError):
    """A task whose code nobody has allowed to run."""


def is_own(kind: object) -> bool:
    """Whether `kind` names a class of a user's, not a task of the program."""
    return isinstance(kind, str) and _KIND.fullmatch(kind) is not None


class OwnSection(TaskSection):
    """A task of your own: a class in a file beside the configuration."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    kind: str = Field(description="the file of the class, a colon, and its name")
    _sha256: str | None = PrivateAttr(default=None)
    _start_name: Start | None = PrivateAttr(default=None)

    @property
    def sha256(self) -> str | None:
        """Hash of the code that it was used with; None if it was not yet."""
        return self._sha256

    @property
    def start_name(self) -> Start:
        """Where circuits of it start when they are simulated or shipped."""
        return self._start_name or "random"

    def of_code(self, sha256: str | None, start_name: Start | None) -> OwnSection:
        """Return the section as used with some code, which says where its circuits start."""
        section = self.model_copy()
        section._sha256, section._start_name = sha256, start_name
        return section

    @model_validator(mode="after")
    def _require_plain(self) -> OwnSection:
        for key, value in (self.model_extra or {}).items():
            items = value if isinstance(value, list | tuple) else [value]
            if not all(isinstance(item, _PLAIN) for item in items):
                raise ValueError(
                    f"[task] {key}: must be a boolean, a number, a text or a list of such values"
                )
        return self


@dataclass(frozen=True)
class Code:
    """The code of a task, read and not yet run."""

    kind: str
    path: str
    """Of the file, as messages name it."""
    text: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    @property
    def class_name(self) -> str:
        return _parts(self.kind)[1]

    @property
    def copy_name(self) -> str:
        """The name under which a run keeps a copy of the file."""
        return Path(_parts(self.kind)[0]).name

    def keep(self, directory: Path) -> None:
        """Write a copy for a run to be gone on with. Raises RunDirectoryError."""
        write_whole(directory / self.copy_name, lambda file: file.write(self.text))


@dataclass(frozen=True)
class _Loaded:
    code: Code
    task: type[Task]


_LOADED: dict[tuple[str, str], _Loaded] = {}
"""By kind and hash: what this process has been allowed to run."""


def find_code(kind: str, directory: Path, sha256: str | None = None) -> Code:
    """Read the code that `kind` names, looked for from `directory`, without running it.

    Of several files that may be meant, one with the
    hash `sha256` is taken. Raises ConfigError if it is missing, or has another hash.
    """
    place, _ = _parts(kind)
    if not place.endswith(".py"):
        raise ConfigError(f'"{kind}": names no file, as "my_task.py:{_parts(kind)[1]}" does')
    codes = _read_files(kind, Path(place), directory)
    for code in codes:
        if sha256 in (None, code.sha256):
            return code
    raise ConfigError(
        f"{codes[0].path}: has changed: this is not the code that the configuration was used with "
        "(its SHA-256 differs). Restore it, or begin a new run without [run] task_sha256"
    )


def load_code(code: Code) -> type[Task]:
    """Run the code of a task, once, and return its class. Only for code that a user allowed.

    Raises TaskError for code that breaks off, and for a class that is missing or no task.
    """
    key = (code.kind, code.sha256)
    if key not in _LOADED:
        task = _class_in(_run(code), code)
        task.source = code.path
        _LOADED[key] = _Loaded(code, task)
    return _LOADED[key].task


def allow_code(section: TaskSection, directory: Path) -> None:
    """Load the code that a stored section names, if it names any; a copy in `directory` will do.

    Raises ConfigError if it is not there, or not the code that the section was made with.
    """
    if isinstance(section, OwnSection):
        load_code(find_code(section.kind, directory, section.sha256))


def code_of(section: TaskSection) -> Code | None:
    """Return the loaded code of a section; None for a task of the program's own."""
    loaded = _loaded(section)
    return None if loaded is None else loaded.code


def class_of(section: OwnSection) -> type[Task]:
    """Return the class of a section. Raises CodeNotAllowedError if its code was not loaded."""
    loaded = _loaded(section)
    if loaded is None:
        place, name = _parts(section.kind)
        raise CodeNotAllowedError(
            f'the task "{section.kind}" is custom code, the class {name} in the file {place}, '
            "which would run with all your rights: read it, then give --allow-code (in Python: "
            "allow_code=True)"
        )
    return loaded.task


def is_loaded(section: TaskSection) -> bool:
    """Whether a section's task can be made: it is the program's own, or its code is loaded."""
    return not isinstance(section, OwnSection) or _loaded(section) is not None


def _loaded(section: TaskSection) -> _Loaded | None:
    if not isinstance(section, OwnSection) or section.sha256 is None:
        return None
    return _LOADED.get((section.kind, section.sha256))


def make(section: OwnSection, automaton: AutomatonConfig) -> Task:
    """Return the task of a section. Raises CodeNotAllowedError if its code was not loaded."""
    task = class_of(section)
    return task(task.Section.model_validate(section.model_dump()), automaton)


def complete(section: OwnSection) -> OwnSection:
    """Return the section with the defaults of its class's own keys, checked, if that is loaded.

    Raises pydantic's ValidationError.
    """
    if not is_loaded(section):
        return section
    checked = class_of(section).Section.model_validate(section.model_dump())
    whole = OwnSection.model_validate(checked.model_dump())
    return whole.of_code(section.sha256, section.start_name)


def try_out(section: OwnSection, automaton: AutomatonConfig) -> Start:
    """Draw from the task, and return where its circuits start. Raises TaskError."""
    task = make(section, automaton)
    first, again = (draw_batch(task, seed=0, epoch=0, batch=4) for _ in range(2))
    pairs = (first[0], again[0]), (first[1], again[1])
    if not all(np.array_equal(one, two, equal_nan=True) for one, two in pairs):
        raise TaskError(
            f"{task.blamed}.sample gives two samples for the same generator: draw with rng alone"
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
    """Return the file, as it is named and as a run keeps it, as far as there are such files."""
    wanted = directory / path
    found = []
    for file in dict.fromkeys([wanted, directory / path.name]):
        try:
            with open_plain(file) as opened:
                text = opened.read(MAX_BYTES + 1)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(f"{file}: cannot be read: {reason}") from None
        if len(text) > MAX_BYTES:
            raise ConfigError(f"{file}: larger than {MAX_BYTES} bytes: this is not a task")
        found.append(Code(kind, str(file), text))
    if not found:
        raise ConfigError(
            f'{wanted}: no such file, named by "{kind}" names: a relative path starts at the '
            "directory of the configuration"
        )
    return found


def _run(code: Code) -> types.ModuleType:
    """Run the code as a module; pydantic and dataclasses look for it among Python's."""
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
    found = getattr(module, name, None)
    if found is None:
        tasks = [key for key, value in vars(module).items() if _is_task(value)]
        hint = did_you_mean(name, tasks) if tasks else "no class there is a difflogic.Task"
        raise TaskError(f"{code.path}: has no class {name}: {hint}")
    if not _is_task(found):
        raise TaskError(
            f"{code.path}: {name} is no task: derive the class from difflogic.Task, and let it "
            "have a method sample(self, rng)"
        )
    missing = getattr(found, "__abstractmethods__", ())
    if missing:
        raise TaskError(f"{code.path}: {name} has no method {', '.join(sorted(missing))}")
    section = found.Section
    if not (inspect.isclass(section) and issubclass(section, TaskSection)):
        raise TaskError(f"{code.path}: {name}.Section must be derived from Task.Section")
    return found


def _is_task(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Task) and value is not Task
