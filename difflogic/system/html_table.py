"""Tables in HTML, for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the same keys as an HTML table, with the keys as its head; None is empty."""
    head = "".join(f"<th>{escape(key)}</th>" for key in rows[0]) if rows else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
