"""The options that all training commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options.common import (
    ADVANCED,
    AllowCode,
    AsJson,
    Epochs,
    Oversubscribe,
    Quiet,
    Recipe,
    Set,
    Workers,
)
from cli.options.parsing import named_model, named_path, run_directory, whole_number

if TYPE_CHECKING:
    from difflogic.config import Override


@dataclass(frozen=True)
class RunOptions:
    """Options for a run of any experiment; None if not given."""

    epochs: Epochs = None
    seed: Annotated[
        int | None, typer.Option(parser=whole_number(0), metavar="N", help="Random seed")
    ] = None
    workers: Workers = None
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help='Resume a run ("last" for the newest); --epochs extends it'
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            parser=named_model,
            metavar="RUN|MODEL",
            help='Initialise from a run ("last" for the newest) or a model file',
        ),
    ] = None
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            parser=run_directory,
            metavar="DIR",
            help="Run directory, new or empty",
            show_default="a new one in runs/",
        ),
    ] = None
    overrides: Set = None
    recipe: Recipe = None
    watch: Annotated[
        bool, typer.Option("--watch", help="Show the run in a local browser; prints a link")
    ] = False
    quiet: Quiet = False
    as_json: AsJson = False
    show: Annotated[
        str | None,
        typer.Option(
            "--show",
            metavar="CHANNELS",
            help="Channels in the live view: all, or a list such as 0,4-7",
            show_default="those of the loss",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    allow_code: AllowCode = False
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            parser=named_path,
            metavar="FILE",
            help="Write a trace of the first steps for Perfetto or chrome://tracing",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    ranks: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1),
            metavar="N",
            help="MPI processes that share each batch (needs the mpi extra)",
            show_default="1",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    oversubscribe: Oversubscribe = False

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
