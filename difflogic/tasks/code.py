"""Runs the code of custom tasks, which the user has allowed."""

from __future__ import annotations

import inspect
import os
import sys
import types
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import numpy as np

from difflogic.circuit.grid import Start
from difflogic.system.array_types import Array, Bits
from difflogic.system.errors import ConfigError, MissingFileError, did_you_mean
from difflogic.system.files import read_named
from difflogic.tasks import custom
from difflogic.tasks.base import Task
from difflogic.tasks.checked import blamed, draw_batch
from difflogic.tasks.custom import Code, CustomSection, make, parts
from difflogic.tasks.parts import TaskError
from difflogic.tasks.section import AutomatonConfig, TaskSection

MOST_CODE_BYTES = 2**20
"""Most bytes of a task's file."""


def find_code(kind: str, directory: Path, sha256: str | None = None) -> Code:
    """Read the code that `kind` names, without running it. Paths start at `directory`.

    The file may be the named one or the copy that a run keeps in `directory`; with `sha256` it is
    the one with this hash. Raises ConfigError if it is missing, or has another hash.
    """
    place, name = parts(kind)
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
    if key not in custom.LOADED:
        task = _class_in(_run(code), code)
        task.source = code.path
        custom.LOADED[key] = code, task
    return custom.LOADED[key][1]


def allow_code(section: TaskSection, directory: Path) -> None:
    """Load the code of a stored section, if it is custom; it may be the copy in `directory`.

    Raises ConfigError if it is missing, or not the code that the section was used with.
    """
    if isinstance(section, CustomSection):
        load_code(find_code(section.kind, directory, section.sha256))


def try_out(section: CustomSection, automaton: AutomatonConfig) -> Start:
    """Draw samples and cases to check the task; return where circuits start. Raises TaskError."""
    task = make(section, automaton)
    first, again = (draw_batch(task, seed=0, epoch=0, batch=4) for _ in range(2))
    pairs = (first[0], again[0]), (first[1], again[1])
    if not all(np.array_equal(one, two, equal_nan=True) for one, two in pairs):
        raise TaskError(
            f"{task.prefix}.sample gives two samples for the same generator: draw only with rng"
        )
    due = task.call("due")
    words = f"a whole number from {automaton.steps} ([automaton] steps) on"
    task.require("due", due, isinstance(due, int) and due >= automaton.steps, words)
    task.require("stays", task.stays, type(task.stays) is bool, "True or False")
    patches = task.call("patches")
    size = {(task.height, task.width)}
    right = isinstance(patches, dict) and {np.shape(each)[1:] for each in patches.values()} <= size
    task.require("patches", patches, right, "by size, arrays (patches, rows, columns)")
    stages = task.call("stages")
    counts = {getattr(each, "channels", 0) for each in stages} if isinstance(stages, tuple) else ()
    author = next(each for each in type(task).__mro__ if "stages" in vars(each))
    is_shipped = author.__module__.startswith("difflogic.")  # some end in lessons of the task
    right = counts == {task.channels} and (is_shipped or stages[-1] is task)
    task.require("stages", stages, right, "tasks with as many channels, the last of them self")
    cases = task.find_cases()
    clash = None if cases is None else contradiction(cases.starts, cases.targets)
    if clash is not None:
        raise TaskError(
            f"{task.prefix}.cases gives equal starts different targets: case {clash[0]} has the "
            f"start of case {clash[1]} (counted from 0): no circuit can reach both: correct them"
        )
    if task.has_loss():
        shape = len(task.find_steps_seen()), *first[0].shape[1:]
        task.find_loss(np.full(shape, 0.5), first[1][0])
    elif type(task).steps_seen is not Task.steps_seen:
        raise TaskError(
            f"{task.prefix}.steps_seen does nothing without a loss of the class: define "
            "loss(self, states, target), which reads these steps, too, or leave out steps_seen"
        )
    start: Start = task.call("start")
    task.require("start", start, start in get_args(Start), '"random", "center" or "zeros"')
    return start


def contradiction(starts: Bits, targets: Array) -> tuple[int, int] | None:
    """Return the first case whose start has another target before, and the first with this start.

    Cells that do not count are no difference. None if no two cases contradict each other.
    """
    seen: dict[bytes, tuple[int, Array]] = {}
    for number, (start, target) in enumerate(zip(starts, targets, strict=True)):
        first, known = seen.setdefault(start.tobytes(), (number, target))
        free = np.isnan(known)
        if ((target != known) & ~free & ~np.isnan(target)).any():
            return number, first
        seen[start.tobytes()] = first, np.where(free, target, known)
    return None


def _read_files(kind: str, path: Path, directory: Path) -> list[Code]:
    """Return the named file and the copy that a run keeps, as far as they exist."""
    named = directory / os.path.expanduser(path)
    found = []
    for file in dict.fromkeys([named, directory / path.name]):
        with suppress(MissingFileError):
            found.append(Code(kind, str(file), read_named(file, MOST_CODE_BYTES, "a task")))
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
    sys.modules[name] = module
    try:
        with blamed(f"{code.path}: cannot be loaded", code.path, SyntaxError):
            exec(compile(code.text, code.path, "exec"), module.__dict__)
    except SyntaxError as error:
        raise TaskError(
            f"{error.filename}: line {error.lineno}: {error.msg}: correct the file"
        ) from error
    except TaskError:
        del sys.modules[name]
        raise
    return module


def _class_in(module: types.ModuleType, code: Code) -> type[Task]:
    _, name = parts(code.kind)
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
