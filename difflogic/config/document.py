"""What `dct config` prints: shipped experiments and pictures, a configuration, and all keys."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from inspect import cleandoc
from typing import Any

import tomli_w
from pydantic_core import PydanticUndefined

from difflogic.config import schema
from difflogic.config.loading import load_config, picture_directory, shipped_configs
from difflogic.config.models import RUN, Config
from difflogic.config.schema import TASK, TOP_LEVEL
from difflogic.config.sections import RunFacts
from difflogic.pictures.files import shipped_pictures
from difflogic.pictures.text import parse_picture
from difflogic.system.errors import ConfigError
from difflogic.tasks import CustomSection, TaskSection, custom, make_task, task_class
from difflogic.tasks.sections import Section

_HEAD = """# Configuration

The files in `configs/` describe the shipped experiments and how they are learned. A key that a file
leaves out has its default value. To use your own file, give its path in place of a shipped name.
`--set section.key=value` replaces one value; flags such as `--epochs` override both. `dct config
show` prints the result, with the meaning and range of every key. Its output is a valid file.

A file is TOML, of at most 1 MiB, with keys of at most 8 parts. All errors are reported at once.
Each error names the file or flag, the key, what is wrong, and what would be right. Keys whose
default is – are required, but height and width may come from a picture.

`dct config docs` prints this page.
"""

_COLUMNS = 96

_TASK = """Each kind of task also has its own keys. A custom task is
[a class that you write](tasks.md), with keys of its own."""

_AFTER = {
    "parallel": """`lanes` and `chunk` set the order in which gradients are added up, and so their
last bits. `device` changes last bits, too, because a GPU rounds differently. The other keys of
this section change no bits."""
}


def experiments() -> list[dict[str, Any]]:
    """Return the facts of all shipped experiments, by name; sizes in cells, bits and gates."""
    return [_facts(load_config(name)) for name in shipped_configs()]


def _facts(config: Config) -> dict[str, Any]:
    task, training = make_task(config), config.training
    return {
        "name": config.name,
        "task": task.name,
        "task_title": task.title,
        "task_settings": task.settings,
        "height": config.task.height,
        "width": config.task.width,
        "channels": config.automaton.channels,
        "steps": config.automaton.steps,
        "fire_rate": config.automaton.fire_rate,
        "gates_with_logits": config.architecture.parameters,
        "gates_per_cell": config.architecture.gates,
        "epochs": training.epochs,
        "attempt_epochs": min(training.restart_every or training.epochs, training.epochs),
        "batch": training.batch,
        "published": config.published.model_dump(),
    }


def pictures() -> list[dict[str, Any]]:
    """Return name, cells, loss channels and set bits of all shipped pictures, by name."""
    found = []
    for name, path in shipped_pictures(picture_directory()).items():
        text = path.read_text(encoding="utf-8")
        try:
            bits = parse_picture(text, 1)
        except ConfigError:  # it has colours
            bits = parse_picture(text, 3)
        size = dict(zip(("loss_channels", "height", "width"), bits.shape, strict=True))
        found.append({"name": name, **size, "ones": int(bits.sum())})
    return found


def document() -> str:
    """Return the page of all keys as Markdown."""
    parts = [_HEAD, "## At the top", _table(TOP_LEVEL, Config, schema.keys(TOP_LEVEL))]
    for name, model in schema.sections().items():
        parts += [f"## [{name}]", cleandoc(model.__doc__ or "")]
        parts.append(_table(name, model, [*model.model_fields]))
        if name == TASK:
            parts.append(_TASK)
            kinds = schema.task_sections() | {"my_task.py:MyTask": CustomSection}
            for kind, section in kinds.items():
                parts += [f'### kind = "{kind}"', cleandoc(section.__doc__ or "")]
                keys = [key for key in section.model_fields if key not in TaskSection.model_fields]
                parts += [_table(TASK, section, keys)] if keys else []
        if name in _AFTER:
            parts.append(_AFTER[name])
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _table(section: str, model: type[Section], keys: Sequence[str]) -> str:
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
    """Return `config` as TOML with a comment above every key.

    It loads back to the same, except for facts about a custom task's code: loading finds those.
    """
    data = config.with_facts(task_sha256=None, task_start=None).to_dict()
    lines = []
    for key in schema.keys(TOP_LEVEL):
        lines += _entry(TOP_LEVEL, key, data[key], Config)
    for section in (name for name in (*schema.sections(), RUN) if name in data):
        models = _models(config, section)
        lines += ["", *_comment(" ".join((models[0].__doc__ or "").split())), f"[{section}]"]
        for key, value in data[section].items():
            known = next((model for model in models if key in model.model_fields), None)
            lines += _entry(section, key, value, known)
    return "\n".join(lines) + "\n"


def _models(config: Config, section: str) -> list[type[Section]]:
    """Return the models that describe a section's keys, the most specific first."""
    if section == RUN:
        return [RunFacts]
    if section != TASK:
        return [schema.sections()[section]]
    kind = type(config.task)
    return [task_class(config.task).Section, kind] if custom.is_loaded(config.task) else [kind]


def _entry(section: str, key: str, value: Any, model: type[Section] | None) -> list[str]:
    """Return a key with its comment; a key of code that is not loaded has none."""
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
