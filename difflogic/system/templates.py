"""Texts whose words stand in a Jinja template beside the module that fills it in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

ROOT = Path(__file__).parents[1]


def rendered(
    template: Path, filters: dict[str, Callable[..., Any]] | None = None, **values: Any
) -> str:
    """Return the text of a template that knows `values`, and may use `filters`.

    It includes others by their paths, such as "formats/write_c.jinja".
    """
    return _read(template, filters).render(values)


def macros(template: Path, **values: Any) -> Any:
    """Return the macros of a template that knows `values`, as functions without parameters."""
    return _read(template).make_module(values)


def _read(template: Path, filters: dict[str, Callable[..., Any]] | None = None) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    environment = Environment(
        loader=FileSystemLoader(ROOT),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    return environment.from_string(template.read_text(encoding="utf-8"))
