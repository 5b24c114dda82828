"""The `dct` command: sub-commands, imported only when they run, and help."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from cli import interrupt
from cli.failures import COMMAND_LINE_ERROR, explained, fail_for, require_own_difflogic, reword
from cli.progress import report_long_work

WITHOUT_RICH: dict[str, Any] = {
    # Rich takes longer to import than everything else here.
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
}


@dataclass(frozen=True)
class Entry:
    """Where a command is defined, and its summary in the list of commands.

    `place` is a module of cli.commands, or nothing for this module, and the name of a function or
    of a group: "config:show".
    """

    place: str
    summary: str

    @cache  # noqa: B019
    def command(self, name: str) -> Any:
        """Return the command, made once."""
        from cli.calling import command

        module, _, name_there = self.place.partition(":")
        path = f"cli.commands.{module}" if module else __name__
        target = getattr(importlib.import_module(path), name_there)
        if isinstance(target, LazyGroup):
            return target
        made = typer.Typer(**WITHOUT_RICH)
        # Python may be told to leave docstrings out.
        summary = None if target.__doc__ else self.summary
        made.command(name, cls=Command, help=summary)(command(target))
        return typer.main.get_command(made)


COMMANDS = {
    "train": Entry("train:train", "Train an experiment by name, or from a TOML file"),
    "train-checkerboard": Entry(
        "train:train_checkerboard", "Train an automaton that grows a checkerboard"
    ),
    "train-gol": Entry("train:train_gol", "Train the Game of Life, or a similar rule"),
    "train-pattern": Entry("train:train_pattern", "Train an automaton that grows a picture"),
    "train-examples": Entry(
        "examples:train_examples", "Learn a rule from a file of grids, before and after"
    ),
    "sweep": Entry("sweep:sweep", "Train with many seeds and settings in parallel"),
    "config": Entry(":config", "List, print and document configurations"),
    "runs": Entry(":runs", "List, show, compare and remove saved runs"),
    "eval": Entry(
        "evaluate:evaluate", "Test a trained circuit on fresh starts, larger grids and damage"
    ),
    "inspect": Entry("inspect:inspect", "Print a circuit's equations and properties"),
    "report": Entry("views:report", "Write a web page about a run, with the live automaton"),
    "render": Entry("views:render", "Draw a rollout as an animation or a strip of frames"),
    "watch": Entry("views:watch", "Watch a run live in a browser"),
    "simplify": Entry("simplify:simplify", "Shrink a circuit, and prove the result equal"),
    "verify": Entry(":verify", "Check training, and prove properties of circuits"),
    "join": Entry("join:join", "Join circuits, to paint which one each cell shows"),
    "simulate": Entry("simulate:simulate", "Run a circuit on a grid of any size"),
    "apply": Entry("examples:apply", "Apply a rule learned from examples to other grids"),
    "identify": Entry("identify:identify", "Find the rule of a recorded automaton"),
    "export": Entry("convert:export", "Write a circuit as Verilog, C, BLIF and more"),
    "import": Entry("convert:import_", "Convert a circuit file to dct's JSON"),
    "synth": Entry("synth:synth", "Place a grid on an FPGA, and report its size and clock"),
    "plan": Entry("plan:plan", "Show how training is parallelised"),
    "bench": Entry("bench:bench", "Measure the speed of training"),
}
"""Those of `dct` itself, by name."""

USUAL = "Options"
"""Heading of the options that belong to no panel."""


class Command(TyperCommand):
    """A command whose help shows its options in panels, without Rich."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        show_options(self, ctx, formatter)


def show_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write arguments, common options, and then each panel under its own heading."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], USUAL: []}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            argument = param.param_type_name == "argument"
            panel = "Arguments" if argument else getattr(param, "rich_help_panel", None) or USUAL
            name = str(param.metavar or record[0]) if argument else record[0]
            row = name.removeprefix(" / "), record[1].removesuffix(".")
            panels.setdefault(panel, []).append(row)
    for heading, rows in panels.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)


class LazyGroup(TyperGroup):
    """A group that imports the module of a command only when it is needed."""

    headings: ClassVar[dict[str, str]] = {}
    """Of the commands from the named one on, in the list of commands."""

    def __init__(self, entries: dict[str, Entry] = COMMANDS, **options: Any) -> None:
        super().__init__(**{"rich_markup_mode": None, **options})
        self.entries = entries

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = self.entries.get(cmd_name)
        return None if entry is None else entry.command(cmd_name)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        show_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: list[tuple[str, list[tuple[str, str]]]] = [("Commands", [])]
        for name, entry in self.entries.items():
            if name in self.headings:
                sections.append((self.headings[name], []))
            sections[-1][1].append((name, entry.summary))
        widest = max(map(len, self.entries))
        for heading, rows in sections:
            if rows:
                with formatter.section(heading):
                    formatter.write_dl([(f"{name:<{widest}}", words) for name, words in rows])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.entries and not name.startswith("-"):
            from difflogic.system.errors import did_you_mean

            ctx.fail(f'no command "{name}": {did_you_mean(name, self.entries)}')
        return super().resolve_command(ctx, args)


class Root(LazyGroup):
    """`dct` itself. Errors of all commands end here."""

    headings: ClassVar[dict[str, str]] = {
        "train": "Train",
        "runs": "Look at a run or a circuit",
        "simplify": "Simplify, prove, simulate and export",
        "plan": "Measure",
    }

    def make_context(self, *given: Any, **more: Any) -> Any:
        try:
            return super().make_context(*given, **more)
        except COMMAND_LINE_ERROR as error:
            reword(error)
            raise
        except OSError as error:  # the help could not be printed
            fail_for(error)

    def invoke(self, ctx: Any) -> Any:
        require_own_difflogic()
        with explained(), report_long_work():
            return super().invoke(ctx)


class RunsGroup(LazyGroup):
    """`dct runs`: without the name of a command, it lists."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if not args or args[0] not in (*self.entries, *ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        show_options(self.get_command(ctx, "list"), ctx, formatter)
        self.format_commands(ctx, formatter)


verify = LazyGroup(
    help="Check training against plain NumPy, and prove properties of circuits.",
    no_args_is_help=True,
    entries={
        "equivalence": Entry("verify:equivalence", "Compare all ways to compute a training step"),
        "circuit": Entry("verify:circuit", "Prove two circuits equal"),
        "convergence": Entry("verify:convergence", "Prove that every start ends in the target"),
    },
)
runs = RunsGroup(
    help="List saved runs, the newest last, with the settings that differ; or work with single "
    "ones.",
    subcommand_metavar="[DIR] | COMMAND [ARGS]...",
    entries={
        "list": Entry("runs:list_", "List runs, as dct runs does; the options above are its own"),
        "show": Entry("runs:show", "Show a run's results, settings and files"),
        "compare": Entry("runs:compare", "Compare settings and results of runs"),
        "rm": Entry("runs:remove", "Remove runs"),
    },
)
config = LazyGroup(
    help="List, print and document configurations.",
    no_args_is_help=True,
    entries={
        "list": Entry("config:list_", "List the shipped experiments"),
        "show": Entry("config:show", "Print a complete configuration"),
        "docs": Entry("config:docs", "Print the list of all keys in Markdown"),
        "schema": Entry("config:editor_schema", "Print a JSON Schema for editors"),
    },
)
app = typer.Typer(
    name="dct",
    cls=Root,
    no_args_is_help=True,
    # Sub-commands inherit these.
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    **{**WITHOUT_RICH, "add_completion": True},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        require_own_difflogic()
        from difflogic.version import __version__

        typer.echo(f"dct {__version__}")
        raise typer.Exit


@app.callback()
def dct(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Train differentiable logic cellular automata fast, on CPU cores.

    Try: dct train-checkerboard --small --epochs 50
    """


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupt.install()
    for name in ("stdout", "stderr"):
        # Closed by the caller, as in `dct … >&-`: discard output.
        if getattr(sys, name) is None:
            file = open(os.devnull, "w")  # noqa: SIM115
            setattr(sys, name, file)
            # Also keeps the file open, when another one takes its descriptor below.
            setattr(sys, f"__{name}__", file)
        # Whatever the locale is: a configuration that is printed to a file is read as UTF-8.
        getattr(sys, name).reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app(prog_name="dct")
    except SystemExit as ended:
        interrupt.leave(ended.code)
        raise
