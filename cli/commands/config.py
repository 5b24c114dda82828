"""`dct config`: the resolved configuration with comments, and the page that lists every key."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options.sources import ALLOW_CODE

SHIPPED = "checkerboard"
SHIPPED_SMALL = "checkerboard-small"


def parse_workers(text: str) -> str:
    """Check a number of workers as far as can be done without the configuration."""
    if text != "auto" and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise typer.BadParameter(
            f'"{text}" is neither "auto" nor a whole number above 0', param_hint="--workers"
        )
    return text


# Options that several commands share.
SMALL = typer.Option("--small", help="The small experiment: a shorter update circuit.")
CONFIG = typer.Option(
    "--config", metavar="FILE", help="A TOML file, or the name of a shipped configuration."
)
WORKERS = typer.Option(
    "--workers",
    parser=parse_workers,
    metavar="N",
    help='Worker threads: a number, or "auto": one per core.',
)
SET = typer.Option(
    "--set", metavar="SECTION.KEY=VALUE", help="Override one value; may be given again."
)
RECIPE = typer.Option(
    "--recipe",
    metavar="NAME",
    help="Replace the file's way to learn: reference is the notebook's, with all levers off; "
    "benchmark, which dct bench measures, has its samples per step.",
)


def show(
    config: Annotated[
        str | None,
        typer.Argument(
            help=f"Name of a shipped configuration, or a TOML file [default: {SHIPPED}].",
            show_default=False,
        ),
    ] = None,
    small: Annotated[bool, SMALL] = False,
    recipe: Annotated[str | None, RECIPE] = None,
    overrides: Annotated[list[str] | None, SET] = None,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
) -> None:
    """Print a resolved configuration as TOML, with the meaning, unit and range of every key.

    The output can be used as a configuration: dct config show > my.toml

    An override goes before the recipe, and both before the file. The code of a task of your own
    runs only with --allow-code; without it the keys that the file leaves out are not printed.
    """
    from difflogic.config import describe, load_config

    settings = load_config(
        source(config, small, "CONFIG"), overrides or [], recipe, allow_code=allow_code
    )
    typer.echo(describe(settings), nl=False)


def docs() -> None:
    """Print docs/configuration.md, the page that lists every key, as it is made from the models."""
    from difflogic.config import document

    typer.echo(document(), nl=False)


def source(config: str | None, small: bool, name: str) -> str:
    """Return the configuration that is meant; `name` is what `config` is called for the user."""
    from difflogic.system.errors import ConfigError

    if config is not None and small:
        raise ConfigError(
            f"--small and {name} both choose a configuration: give one of them "
            f"({SHIPPED_SMALL} is the name of the small one)"
        )
    if small:
        return SHIPPED_SMALL
    return SHIPPED if config is None else config
