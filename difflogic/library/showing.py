"""How results show themselves in notebooks: tables, and pages in frames of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the same keys as an HTML table; a head of keys, what is None left empty."""
    head = "".join(f"<th>{escape(key)}</th>" for key in rows[0]) if rows else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(value)}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def framed(page: str) -> str:
    """Return a page in a frame that can reach neither the notebook nor its server."""
    style = "width:100%;height:640px;border:1px solid #ccc"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
