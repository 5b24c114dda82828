"""Builds commands from the library's functions: their parameters become options, with values.

Types and ranges stand in the signature. The docstring names the parameters of a command below
"Operands:", "Options:" or "Advanced options:", one a line:

    frames_per_second --fps N: Frames per second, by default ten

The name as an option, and what stands for its value, may be left out.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from difflogic.library import conditions, options
from difflogic.library.options import Declared, Opt, declared
from difflogic.system.errors import ConfigError

Call = partial[Any]
"""A library function with the values of its options; what a command passes on comes on top."""
NAMES = vars(conditions) | vars(options)
EMPTY = inspect.Parameter.empty


def calls(*targets: str, without: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function whose first parameters are the library's functions to call.

    A target such as "simulating.simulate" is imported when the command runs. Its options, except
    those in `without`, join the command's own. A parameter of the command that is named like one
    gets its value, and may replace its default and its help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        if hasattr(command, "__signature__"):  # made by `calls` already
            return command
        taken = [_of_library(target) for target in targets]
        own = list(inspect.signature(command).parameters.values())[len(targets) :]
        text, own_words = documented(command.__doc__)
        groups: dict[str, Any] = {}
        shown: dict[str, inspect.Parameter] = {}

        def add(
            name: str, annotation: str, default: Any, words: Mapping[str, Opt], place: Any = options
        ) -> None:
            known = NAMES | vars(inspect.getmodule(place))
            if annotation == "typer.Context":
                shown[name] = inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context
                )
                return
            group: Any = known.get(annotation)
            if is_dataclass(group) and isinstance(group, type):
                groups[name] = group
                inner = documented(group.__doc__)[1]
                for each in inspect.signature(group).parameters.values():
                    add(each.name, str(each.annotation), each.default, inner, group)
                return
            found = declared(annotation, known)
            if found.opt is None:  # Typer's own declaration
                shown[name] = inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, annotation=found.kind, default=default
                )
                return
            if name in words:
                found = found._replace(opt=_joined(found.opt, words[name]))
            if found.opt.help:
                shown[name] = _option(name, found, default)

        for parameters, words in taken:
            for name, (annotation, default) in parameters.items():
                if name not in without.split():
                    add(name, annotation, default, words)
        for each in own:
            if each.name not in shown or each.name in own_words:
                add(each.name, str(each.annotation), each.default, own_words, command)
            elif each.default is not EMPTY:
                shown[each.name] = shown[each.name].replace(default=each.default)

        def run(**values: Any) -> None:
            for name, group in groups.items():
                inside = {each.name: values[each.name] for each in fields(group)}
                values[name] = group(**{k: v for k, v in inside.items() if v is not None})
            given = {name: value for name, value in values.items() if value is not None}
            functions = [
                partial(load(target), **{name: given[name] for name in known if name in given})
                for target, (known, _) in zip(targets, taken, strict=True)
            ]
            command(*functions, **{each.name: values[each.name] for each in own})

        run.__name__, run.__doc__ = command.__name__, text
        run.__annotations__ = {name: each.annotation for name, each in shown.items()}
        run.__signature__ = inspect.Signature(list(shown.values()))  # type: ignore[attr-defined]
        return run

    return decorate


_HEAD = re.compile(r"\n*^(Operands|Options|Advanced options):\n", re.MULTILINE)
_ENTRY = re.compile(
    r"^    (\w+)((?: /?--?[\w/-]+)*)(?: ([^a-z\s]\S*|HxW))?: (.*(?:\n {8}.*)*)", re.MULTILINE
)


def documented(doc: str | None) -> tuple[str, dict[str, Opt]]:
    """Return a docstring without its lists of parameters, and what these say."""
    text, *lists = _HEAD.split(inspect.cleandoc(doc or ""))
    found = {}
    for panel, entries in zip(lists[::2], lists[1::2], strict=True):
        for name, names, metavar, words in _ENTRY.findall(entries):
            help, _, shown = " ".join(words.split()).partition(", by default ")
            found[name] = Opt(
                help=help, metavar=metavar or None, names=names, shown=shown or True, panel=panel
            )
    return text, found


def load(target: str) -> Any:
    """Import a function of the library."""
    module, _, name = target.partition(".")
    return getattr(importlib.import_module(f"difflogic.library.{module}"), name)


def _of_library(target: str) -> tuple[dict[str, tuple[str, Any]], dict[str, Opt]]:
    """Return annotation and default of each parameter of a function, and what its docstring says.

    They are read from its source: importing it would load the kernels, which takes longer than all
    else that --help does.
    """
    module, _, name = target.partition(".")
    spec = find_spec(f"difflogic.library.{module}")
    assert spec is not None
    source = spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    functions = (each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef))
    function = next(each for each in functions if each.name == name)
    given, found = function.args, {}
    required = [None] * (len(given.args) - len(given.defaults))
    defaults = [*required, *given.defaults, *given.kw_defaults]
    for each, default in zip([*given.args, *given.kwonlyargs], defaults, strict=True):
        assert each.annotation is not None
        found[each.arg] = ast.unparse(each.annotation), _value(default)
    return found, documented(ast.get_docstring(function))[1]


def _value(default: ast.expr | None) -> Any:
    if default is None:
        return EMPTY
    try:
        return ast.literal_eval(default)
    except ValueError:  # a name: the function itself knows its value
        return None


def _joined(opt: Opt, words: Opt) -> Opt:
    """Return what an annotation declares, with the words of a docstring."""
    return replace(
        words, least=opt.least, most=opt.most, parse=opt.parse, metavar=words.metavar or opt.metavar
    )


def _option(name: str, found: Declared, default: Any) -> inspect.Parameter:
    """Return a parameter as Typer reads it."""
    kind, opt, many = found
    names = opt.names.split() or ["--" + name.replace("_", "-")]
    shown = opt.shown if kind is not bool else False
    more: dict[str, Any] = {"metavar": opt.metavar, "help": opt.help, "show_default": shown}
    if opt.parse is not None or kind in (int, float):
        more |= {"metavar": opt.metavar or "N", "parser": partial(_read, opt, kind, names[0])}
        kind = Any
    if default == ():
        default = None
    if many:
        kind = list[kind]  # type: ignore[valid-type]
    if default is None and kind is not Any:
        kind |= None
    if opt.panel == "Operands":
        info: Any = typer.Argument(**more)
    else:
        more["rich_help_panel"] = None if opt.panel == "Options" else opt.panel
        info = typer.Option(*(f" {n}" if n.startswith("/") else n for n in names), **more)
    annotation: Any = Annotated[kind, info]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _read(opt: Opt, kind: Any, label: str, given: Any) -> Any:
    try:
        return opt.read(kind, given)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint=label) from None
