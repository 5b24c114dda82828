"""The `dct` command: its sub-commands, loaded only when they run, and the way errors end it."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from cli import interrupt
from cli.errors import (
    COMMAND_LINE_ERROR,
    FAILURE,
    discard_what_cannot_be_printed,
    explained,
    note,
    printable,
    require_own_difflogic,
)
from cli.pausing import patient

PLAIN: dict[str, Any] = {
    # Rich help would import rich, which costs more time than everything else here together.
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
}


@dataclass(frozen=True)
class Entry:
    """Where a command lives, and what the list of commands says about it.

    `target` is a function that Typer turns into a command, or a Typer app with sub-commands.
    """

    module: str
    target: str
    summary: str


RENAMED = {"--run-dir": "--dir", "--jobs": "--workers"}
"""Options by the names that they had: taken, and not shown."""


ONCE = {"--from", "--resume", "--dir"}
"""Options that name a run, of which no second may go unheard."""


class Command(TyperCommand):
    """A command that takes its options' earlier names, and `--config FILE` for its CONFIG."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        own = {name for param in self.params for name in param.opts}
        options = args[: args.index("--")] if "--" in args else args
        present = [word for each in options for word in self._present(each, own)]
        words = present + args[len(options) :]
        rest = super().parse_args(ctx, list(words))
        self._refuse_second(ctx, words)
        return rest

    def _refuse_second(self, ctx: Any, words: list[str]) -> None:
        *_, given = self.make_parser(ctx).parse_args(words)
        for option in given:
            if ONCE.intersection(option.opts) and given.count(option) > 1:
                raise typer.BadParameter(
                    f"given {given.count(option)} times, and takes one: leave the others out",
                    ctx,
                    param_hint=option.opts[0],
                )

    def _present(self, word: str, own: set[str]) -> list[str]:
        """Return what stands for a word of the command line today."""
        name, equals, value = word.partition("=")
        if name in own:
            return [word]
        if name == "--config" and "config" in own:
            return [value] if equals else []
        return [RENAMED[name] + equals + value] if RENAMED.get(name) in own else [word]


class LazyGroup(TyperGroup):
    """A group that imports a command's module only when that command is asked for."""

    entries: ClassVar[dict[str, Entry]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        target = getattr(importlib.import_module(entry.module), entry.target)
        if not isinstance(target, typer.Typer):
            function, target = target, typer.Typer(**PLAIN)
            target.command(cmd_name, cls=Command)(function)
        return typer.main.get_command(target)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.entries.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.entries and not name.startswith("-"):
            from difflogic.system.errors import did_you_mean

            ctx.fail(f'no command "{name}": {did_you_mean(name, self.entries)}')
        return super().resolve_command(ctx, args)


class Root(LazyGroup):
    """`dct` itself. Errors of all commands end here."""

    entries: ClassVar[dict[str, Entry]] = {
        "train": Entry(
            "cli.commands.train", "train", "Train any experiment, by name or from a file."
        ),
        "train-checkerboard": Entry(
            "cli.commands.train",
            "train_checkerboard",
            "Train an automaton that grows a checkerboard.",
        ),
        "train-gol": Entry(
            "cli.commands.train", "train_gol", "Train the Game of Life, or a rule like it."
        ),
        "train-pattern": Entry(
            "cli.commands.train", "train_pattern", "Train an automaton that grows a picture."
        ),
        "sweep": Entry(
            "cli.commands.sweep", "sweep", "Train with many seeds and settings, side by side."
        ),
        "runs": Entry("cli.commands.runs", "runs", "List the runs that there are."),
        "list": Entry(
            "cli.commands.list", "list_", "List the experiments that come with the program."
        ),
        "eval": Entry(
            "cli.commands.evaluate", "evaluate", "Measure a trained circuit on held-out starts."
        ),
        "simplify": Entry(
            "cli.commands.simplify", "simplify", "Make a circuit small, and prove it equal."
        ),
        "export": Entry(
            "cli.commands.export", "export", "Write a trained circuit as Verilog, C, BLIF and more."
        ),
        "import": Entry(
            "cli.commands.importing", "import_", "Turn a circuit's file into one that dct reads."
        ),
        "inspect": Entry(
            "cli.commands.inspect",
            "inspect",
            "Print a circuit as equations, and what holds of its rule.",
        ),
        "simulate": Entry(
            "cli.commands.simulate", "simulate", "Run a trained circuit on any grid."
        ),
        "render": Entry(
            "cli.commands.render", "render", "Draw a rollout as an animation or a strip."
        ),
        "plot": Entry("cli.commands.plot", "plot", "Draw how a run or a sweep learned."),
        "watch": Entry("cli.commands.watch", "watch", "Watch a run in a browser, as it trains."),
        "report": Entry(
            "cli.commands.report", "report", "Write a run as one page, the automaton running in it."
        ),
        "plan": Entry(
            "cli.commands.plan", "plan", "Show how training is cut, shared and held in memory."
        ),
        "bench": Entry("cli.commands.bench", "app", "Measure training steps, or simulation."),
        "verify": Entry("cli.app", "verify", "Prove that the fast paths compute what they should."),
        "config": Entry("cli.app", "config", "Look at configurations."),
    }

    def make_context(self, *given: Any, **more: Any) -> Any:
        try:
            return super().make_context(*given, **more)
        except COMMAND_LINE_ERROR as error:
            error.message = printable(error.message)
            raise

    def invoke(self, ctx: Any) -> Any:
        require_own_difflogic()
        with explained(), patient():
            return super().invoke(ctx)


class Verify(LazyGroup):
    """`dct verify`."""

    entries: ClassVar[dict[str, Entry]] = {
        "equivalence": Entry(
            "cli.commands.verify",
            "equivalence",
            "Compare all ways to compute a training step, and the NumPy oracle.",
        ),
        "circuit": Entry(
            "cli.commands.verify_circuit",
            "circuit",
            "Prove a circuit equal to its simplified form, or two.",
        ),
        "convergence": Entry(
            "cli.commands.verify_convergence",
            "convergence",
            "Prove that every start ends in the target, and stays.",
        ),
    }


class Config(LazyGroup):
    """`dct config`."""

    entries: ClassVar[dict[str, Entry]] = {
        "show": Entry(
            "cli.commands.config", "show", "Print a resolved configuration with comments."
        ),
        "docs": Entry(
            "cli.commands.config", "docs", "Print the page that lists every key, in Markdown."
        ),
    }


def _group(cls: type[LazyGroup], help_text: str) -> typer.Typer:
    # Without a callback, Typer would take a group of one command for that command.
    return typer.Typer(
        cls=cls, callback=lambda: None, help=help_text, no_args_is_help=True, **PLAIN
    )


verify = _group(Verify, "Prove that the fast paths compute what they should.")
config = _group(Config, "Look at configurations.")
app = typer.Typer(
    name="dct",
    cls=Root,
    no_args_is_help=True,
    # What is below takes it over.
    context_settings={"help_option_names": ["-h", "--help"]},
    **{**PLAIN, "add_completion": True},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        require_own_difflogic()
        from difflogic import __version__

        typer.echo(f"dct {__version__}")
        raise typer.Exit


@app.callback()
def dct(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Train differentiable logic cellular automata fast, on CPU cores.

    Try: dct train-checkerboard --small --epochs 50
    """


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupt.install()
    for name in ("stdout", "stderr"):
        # Closed by the caller, as in `dct … >&-`: what is printed goes nowhere.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a sign gets a question mark, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="dct")
    except OSError as error:  # of printing the help, to a full disk
        discard_what_cannot_be_printed()
        note(f"error: {error.strerror or error}")
        sys.exit(FAILURE)
