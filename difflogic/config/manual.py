"""What `dct config` prints: shipped experiments, a configuration, and all keys."""

from __future__ import annotations

import textwrap
from inspect import cleandoc
from pathlib import Path
from typing import Any

import tomli_w
from pydantic_core import PydanticUndefined

from difflogic.config import schema
from difflogic.config.loading import load_config, shipped_configs
from difflogic.config.models import RUN, Config
from difflogic.config.schema import TASK, TOP_LEVEL
from difflogic.config.sections import RunFacts
from difflogic.system.json_values import chosen
from difflogic.system.templates import rendered
from difflogic.tasks import custom, make_task, task_class
from difflogic.tasks.section import Section

_COLUMNS = 96


def experiments() -> list[dict[str, Any]]:
    """Return the facts of all shipped experiments, by name; sizes in cells, bits and gates."""
    return [_facts(load_config(name)) for name in shipped_configs()]


def _facts(config: Config) -> dict[str, Any]:
    task = make_task(config)
    training = config.training
    return {
        "name": config.name,
        "task": task.name,
        "task_title": task.title,
        **chosen(config.task, "height", "width"),
        **chosen(config.automaton, "channels", "steps", "fire_rate"),
        "gates_with_logits": config.architecture.parameters,
        "gates_per_cell": config.architecture.gates,
        **chosen(training, "epochs", "batch"),
        "attempt_epochs": min(training.restart_every or training.epochs, training.epochs),
        "published": config.published.model_dump(),
    }


def document() -> str:
    """Return the page of all keys as Markdown."""
    return rendered(
        Path(__file__).with_suffix(".jinja"),
        schema=schema,
        top=Config,
        kinds=schema.task_sections(),
        line=_line,
        about=lambda model: cleandoc(model.__doc__ or ""),
    )


def editor_schema() -> dict[str, Any]:
    """Return the JSON Schema of configurations, with which editors complete and check them."""
    found = Config.model_json_schema()
    found["$defs"]["PatternSection"]["required"] = ["kind"]  # a picture may set its grid
    return found


def _line(model: type[Section], key: str) -> str:
    value: Any = model.model_fields[key].get_default()
    if value is None or value is PydanticUndefined:
        return key
    return f"{key} = {_value(list(value) if isinstance(value, tuple) else value)}"


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
