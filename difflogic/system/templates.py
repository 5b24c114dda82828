"""Texts whose words stand in a Jinja template beside the module that fills it in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]


def rendered(
    template: Path, filters: dict[str, Callable[..., Any]] | None = None, **values: Any
) -> str:
    """Return the text of a template that knows `values`, and may use `filters`.

    It includes others by their paths, such as "formats/write_c.jinja". In HTML, texts are escaped.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    environment = Environment(
        loader=FileSystemLoader(PACKAGE),
        undefined=StrictUndefined,
        autoescape=template.suffix == ".html",
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    return environment.from_string(template.read_text(encoding="utf-8")).render(values)
