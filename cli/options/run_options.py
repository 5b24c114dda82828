"""The options that all commands which train share, declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from cli.commands import config as config_command
from cli.options.parsing import named_model, named_path, whole_number
from cli.options.sources import ALLOW_CODE

if TYPE_CHECKING:
    from difflogic.config import Override


@dataclass(frozen=True)
class RunOptions:
    """What can be said about a run of any experiment. None is what was not given."""

    epochs: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1), metavar="N", help="Training steps.", show_default=False
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(parser=whole_number(0), metavar="N", help="Names all random streams."),
    ] = None
    workers: Annotated[str | None, config_command.WORKERS] = None
    ranks: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help="Processes that share each batch, by MPI (an extra); as with mpiexec -n N dct …",
            show_default="1",
        ),
    ] = None
    oversubscribe: Annotated[
        bool,
        typer.Option("--oversubscribe", help="Allow more ranks, or their workers, than cores."),
    ] = False
    recipe: Annotated[str | None, config_command.RECIPE] = None
    overrides: Annotated[list[str] | None, config_command.SET] = None
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            parser=named_path,
            metavar="DIR",
            help="Write there instead of runs/…; new or empty.",
        ),
    ] = None
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help='Go on with the run in this directory, or with the "last" one; --epochs extends '
            "it.",
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            parser=named_model,
            metavar="RUN|MODEL",
            help='Start from what a run has learned, be it "last", or from a model\'s file; its '
            "circuit has to be of the configuration's sizes.",
            show_default="an untrained circuit",
        ),
    ] = None
    allow_code: Annotated[bool, ALLOW_CODE] = False
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Show the run in a browser of this machine; prints a link."),
    ] = False
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="CHANNELS",
            help="Draw these channels, side by side, in the terminal's live view: all, or such as "
            "0,4-7.",
            show_default="those of the loss",
        ),
    ] = None
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            parser=named_path,
            metavar="FILE",
            help="Write what every worker did when, of the first steps, as a trace-event file for "
            "Perfetto (ui.perfetto.dev) or Chrome (chrome://tracing).",
        ),
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.")
    ] = False

    @property
    def all_overrides(self) -> list[Override]:
        """The overrides of the configuration, the flags after --set: the last of a key wins."""
        from difflogic.config import Override

        flags = {
            "--epochs": ("training.epochs", self.epochs),
            "--seed": ("training.seed", self.seed),
            "--workers": ("parallel.workers", self.workers),
        }
        given = [Override(text, f"--set {text}") for text in self.overrides or []]
        return given + [
            Override(f"{key}={value}", f"{flag} {value}")
            for flag, (key, value) in flags.items()
            if value is not None
        ]


def with_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of RunOptions, after its own, as its parameter `options`.

    Typer reads a function's signature: the one that is returned has them all one by one.
    """
    shared = [field.name for field in fields(RunOptions)]

    def run(**values: Any) -> None:
        options = RunOptions(**{name: values.pop(name) for name in shared})
        command(**values, options=options)

    own = inspect.signature(command).parameters
    options = inspect.signature(RunOptions).parameters
    hints = get_type_hints(command, include_extras=True)
    del hints["options"]
    hints |= get_type_hints(RunOptions, include_extras=True)
    parameters = [own[name] for name in own if name != "options"]
    parameters += [options[name] for name in shared]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = hints
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY)
            for parameter in parameters
        ]
    )
    return run
