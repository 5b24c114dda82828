"""A configuration with the meaning of its keys, and the page of all keys, from the models."""

from __future__ import annotations

import textwrap
from inspect import cleandoc
from typing import Any

import tomli_w
from pydantic_core import PydanticUndefined

from difflogic.config import schema
from difflogic.config.models import RUN, Config, RunFacts
from difflogic.config.schema import TASK, TOP_LEVEL
from difflogic.tasks import TASKS, OwnSection, TaskSection, own, task_class
from difflogic.tasks.sections import Section

_HEAD = """# Configuration

The files in `configs/` say what an experiment is and how it is learned, and are installed with the
package; what they do not name is at its default. A file of your own is named in its place, `--set
section.key=value` replaces one value, and flags such as `--epochs` win over both. `dct config show`
prints what comes out, with the meaning and range of every key, and can be used as a file itself.

A file is TOML, of at most 1 MiB, its keys of at most 8 parts. Each wrong key or value is an error
that names the file or the flag, the key, what is wrong and what would be right; all come at once.
A key whose default is – has to be there; height and width may follow from a picture.

`dct config docs` prints this page.
"""

_COLUMNS = 96

_TASK = """Beside the keys of all tasks each has its own. A task that is not listed is
[a class of your own](tasks.md), with keys of its own."""

_AFTER = {
    "parallel": """`lanes` and `chunk` set the order in which gradients are added up, and so their
last bits; all other keys of this section do not change a bit."""
}


def document() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD, "## At the top", _table(TOP_LEVEL, Config, schema.keys(TOP_LEVEL))]
    for name, model in schema.sections().items():
        parts += [
            f"## [{name}]",
            cleandoc(model.__doc__ or ""),
            _table(name, model, [*model.model_fields]),
        ]
        if name == TASK:
            parts += [_TASK, *_tasks()]
        if name in _AFTER:
            parts.append(_AFTER[name])
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _tasks() -> list[str]:
    parts = []
    for kind, task in TASKS.items():
        parts += [
            f'### kind = "{kind}"',
            cleandoc(task.Section.__doc__ or ""),
            _own_keys(task.Section),
        ]
    parts += [
        '### kind = "my_task.py:MyTask"',
        cleandoc(OwnSection.__doc__ or ""),
        _own_keys(OwnSection),
    ]
    return parts


def _own_keys(model: type[TaskSection]) -> str:
    keys = [key for key in model.model_fields if key not in TaskSection.model_fields]
    return _table(TASK, model, keys)


def _table(section: str, model: type[Section], keys: list[str] | tuple[str, ...]) -> str:
    rows = ["| key | default | accepted | meaning |", "|---|---|---|---|"]
    for key in keys:
        accepted = schema.accepted(section, key, model=model)
        meaning = schema.meaning(section, key, model)
        rows.append(f"| `{key}` | {_default(model, key)} | {accepted} | {meaning} |")
    return "\n".join(rows)


def _default(model: type[Section], key: str) -> str:
    value: Any = model.model_fields[key].default
    if value is PydanticUndefined:
        return "–"
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        value = list(value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value != "" else "none"


def describe(config: Config) -> str:
    """Return `config` as TOML with a comment above every key; it loads back to the same."""
    data = config.to_dict()
    lines = []
    for key in schema.keys(TOP_LEVEL):
        lines += _entry(TOP_LEVEL, key, data[key], Config)
    for section in (name for name in (*schema.sections(), RUN) if name in data):
        models = _models(config, section)
        lines += ["", *_comment(models[0].__doc__ or ""), f"[{section}]"]
        for key, value in data[section].items():
            known = next((model for model in models if key in model.model_fields), None)
            lines += _entry(section, key, value, known)
    return "\n".join(lines) + "\n"


def _models(config: Config, section: str) -> list[type[Section]]:
    """Return what describes the keys of a section, the nearest first."""
    if section == RUN:
        return [RunFacts]
    if section != schema.TASK:
        return [schema.sections()[section]]
    kind = type(config.task)
    return [task_class(config.task).Section, kind] if own.is_loaded(config.task) else [kind]


def _entry(section: str, key: str, value: Any, model: type[Section] | None) -> list[str]:
    """Return a key with its comment, but for keys of code that is not loaded."""
    shown = f"{key} = {_value(value)}"
    if model is None:
        return [shown]
    meaning = schema.meaning(section, key, model)
    return [*_comment(f"{meaning} ({schema.accepted(section, key, model=model)})"), shown]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _COLUMNS, break_on_hyphens=False)]


def _value(value: Any) -> str:
    """Return a value in TOML, a list on one line (tomli-w gives each item its own)."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    text = tomli_w.dumps({"value": value}, multiline_strings=True)
    return text.removeprefix("value = ").rstrip("\n")
