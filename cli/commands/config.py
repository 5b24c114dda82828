"""`dct config`: lists and prints configurations, and documents every key."""

from __future__ import annotations

from typing import Any

import typer

from cli.options import AsJson, Configured
from cli.terminal import output
from difflogic.system.declaration import AllowCode, Recipe

SHOWN = ["channels", "steps", "gates_with_logits", "gates_per_cell", "attempt_epochs", "batch"]
"""Columns of an experiment after its name, task and grid."""


def list_(as_json: AsJson = False) -> None:
    """List the shipped experiments, and the pictures that automata can grow.

    "gates" counts the gates with logits of their own, and "per cell" those evaluated per cell and
    step. "epochs" is the length of one attempt. "published" gives the results of the article and
    its notebook, with one seed: the first epoch with a hard loss of 0, and the number of active
    gates.
    """
    from difflogic.config.manual import experiments
    from difflogic.pictures.picture import shipped_pictures

    found = experiments()
    pictures = [*shipped_pictures()]
    if as_json:
        output.show_json({"experiments": found, "pictures": pictures})
        return
    output.show_table(
        "experiment | task | published | grid | channels | steps | gates | per cell | epochs"
        " | batch",
        map(_row, found),
        texts=3,
        spare="per cell | batch | steps | channels | published | epochs | grid | gates",
    )
    typer.echo(f"\npictures, for dct train-pattern --target: {', '.join(pictures)}")


def show(given: Configured, recipe: Recipe = None, allow_code: AllowCode = False) -> None:
    """Print a complete configuration as TOML, with the meaning, unit and range of every key.

    The output is itself a configuration: dct config show > my.toml

    --set overrides the recipe; both override the file. Without --allow-code, a custom task's keys
    are printed only if the file sets them.
    """
    from difflogic.config import load_config
    from difflogic.config.manual import describe

    settings = load_config(given.source, given.overrides, recipe, allow_code=allow_code)
    typer.echo(describe(settings), nl=False)


def docs() -> None:
    """Print the list of all keys in Markdown: the page docs/configuration.md."""
    from difflogic.config.manual import document

    typer.echo(document(), nl=False)


def editor_schema() -> None:
    """Print the JSON Schema of configurations, with which editors complete and check them."""
    from difflogic.config import manual

    output.show_json(manual.editor_schema())


def _row(each: dict[str, Any]) -> list[Any]:
    rate = each["fire_rate"]
    published = each["published"]
    parts = []
    if published["learned_by"] is not None:
        budget = f" of {published['epochs']}" if published["epochs"] is not None else ""
        parts.append(f"epoch {published['learned_by']}{budget}")
    if published["active_gates"] is not None:
        parts.append(f"{published['active_gates']} active gates")
    return [
        each["name"],
        each["task_title"] + (f", fire rate {rate:g}" if rate < 1 else ""),
        ", ".join(parts) or "–",
        f"{each['height']}×{each['width']}",
        *(each[key] for key in SHOWN),
    ]
