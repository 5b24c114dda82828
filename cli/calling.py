"""Commands from functions: parameters become options, as their annotations declare."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, redirect_stdout
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from difflogic.system.declaration import OPERANDS, declared
from difflogic.system.errors import ConfigError
from difflogic.system.files import STANDARD, check_output

MOST_CHOICES = 60
"""Characters of choices that stand beside an option's name; others stand in its help."""
OUTPUTS = ("to", "file")
"""Parameters that name a file to write."""


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: each parameter that is `Annotated[type, Opt(…)]` is an option.

    A parameter whose type is a dataclass is a group: it stands for options by the fields of the
    dataclass that have help. What the user leaves out keeps its default.
    """
    groups: dict[str, tuple[Any, set[str]]] = {}
    shown: list[inspect.Parameter] = []
    for name, hint, default in _parameters(function):
        if isinstance(hint, type) and is_dataclass(hint):
            inner = [_option(*each) for each in _parameters(hint) if declared(each[1]).opt.help]
            groups[name] = hint, {each.name for each in inner}
            shown += inner
        else:
            shown.append(_option(name, hint, default))

    def run(**values: Any) -> None:
        given = {name: at_home(value) for name, value in values.items() if value is not None}
        check_output(given.get("to"), bool(given.get("force")))  # before any work
        to_stdout = any(str(given.get(name)) == STANDARD for name in OUTPUTS)
        for name, (group, options) in groups.items():
            given[name] = group(**{each: given.pop(each) for each in options & given.keys()})
        # What is written there is for another program: all else goes to stderr.
        with redirect_stdout(sys.stderr) if to_stdout else nullcontext():
            function(**given)

    run.__name__ = function.__name__
    run.__doc__ = function.__doc__
    run.__annotations__ = {each.name: each.annotation for each in shown}
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return run


def at_home(value: Any) -> Any:
    """Expand `~` in paths, which shells leave alone in --dir=~/runs."""
    if isinstance(value, list):
        return [at_home(each) for each in value]
    if isinstance(value, str | Path) and str(value).startswith("~"):
        return type(value)(os.path.expanduser(value))
    return value


def _parameters(what: Callable[..., Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, annotation and default of each parameter of a function or a dataclass."""
    hints = get_type_hints(what, include_extras=True)
    for name, each in inspect.signature(what).parameters.items():
        yield name, hints[name], each.default


def _option(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """Return a parameter as Typer reads it."""
    kind, opt, _, many = declared(hint)
    if opt.help:
        names = opt.names.split() or ["--" + name.replace("_", "-")]
        more: dict[str, Any] = {"metavar": opt.metavar, "help": opt.help, "show_default": False}
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        if len("|".join(choices)) > MOST_CHOICES:
            more["metavar"] = "NAME"
            more["help"] += f": {', '.join(choices)}"
        usual = default if opt.shown is True and kind is not bool else opt.shown
        if isinstance(usual, int | float | str | Path) and not isinstance(usual, bool):
            more["help"] += f"  [default: {usual}]"
        if opt.parse is not None:
            more |= {"metavar": opt.metavar or "N", "parser": _reader(opt.parse, names[0])}
            kind = Any
        if default == ():
            default = None
        if many:
            kind = list[kind]  # type: ignore[valid-type]
        if default is None and kind is not Any:
            kind |= None
        if opt.panel == OPERANDS:
            if opt.metavar == "CONFIG":
                more["autocompletion"] = _shipped
            info: Any = typer.Argument(**more)
        else:
            more["rich_help_panel"] = None if opt.panel == "Options" else opt.panel
            info = typer.Option(*(f" {n}" if n.startswith("/") else n for n in names), **more)
        hint = Annotated[kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)


def _shipped(incomplete: str) -> list[str]:
    """Return the names of shipped configurations that begin so, for the shell to complete."""
    from difflogic.config import shipped_configs

    return [name for name in shipped_configs() if name.startswith(incomplete)]


def _reader(parse: Callable[[str], Any], label: str) -> Callable[[Any], Any]:
    def read(given: Any) -> Any:
        if not isinstance(given, str):  # a default
            return given
        try:
            return parse(given)
        except ConfigError as error:
            raise typer.BadParameter(str(error), param_hint=label) from None

    return read
