"""`dct inspect`: prints a circuit as equations, with its properties."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options.common import ADVANCED, MOST_SEED, AsJson, Source, Unsimplified
from cli.options.parsing import whole_number
from cli.progress import show_progress


def inspect(
    source: Source,
    unsimplified: Unsimplified = False,
    channel: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0), metavar="N", help="Print only the equations of this channel"
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            parser=whole_number(0),
            metavar="N",
            help="Most equations and channels to print; 0 for all",
        ),
    ] = 24,
    periods: Annotated[
        int,
        typer.Option(
            parser=whole_number(1, 12),
            metavar="N",
            help="Search for fixed points with periods up to N×N cells",
        ),
    ] = 4,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0.001,
            metavar="SECONDS",
            help="Time limit of each part",
            show_default="10",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=whole_number(0, MOST_SEED), metavar="N", help="Random seed")
    ] = 0,
    as_ascii: Annotated[
        bool,
        typer.Option(
            "--ascii",
            help="Write ~ & | ^ for not, and, or, xor",
            show_default="only if the terminal needs it",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print a circuit as equations, with the properties of its rule.

    n0' is the next state of channel 0; NW0 N0 NE0 W0 C0 E0 SW0 S0 SE0 are its nine cells. The
    circuit of a run or a model is simplified first, and loses the channels that the visible ones do
    not depend on. A circuit file is taken as is.
    """
    from cli.terminal import inspection, inspection_data, output
    from difflogic.inspection import Limits
    from difflogic.library.inspecting import channel_equation
    from difflogic.library.inspecting import inspect as examine
    from difflogic.library.loading import load

    loaded = load(source)
    signs = inspection.Signs(as_ascii or not inspection.shows_signs())
    if channel is not None:
        with show_progress(stop_at_once=True) as progress:
            chosen = channel_equation(
                loaded, channel, unsimplified=unsimplified, time_limit=seconds, progress=progress
            )
        if as_json:
            output.show_json({"equations": inspection_data.equations_data(chosen, signs)})
        else:
            inspection.show_equations(chosen, limit, signs)
        return
    with show_progress(stop_at_once=True) as progress:
        limits = Limits(Limits.seconds if seconds is None else seconds, periods, seed)
        found = examine(
            loaded, limits, unsimplified=unsimplified, time_limit=seconds, progress=progress
        ).inspection
    if as_json:
        output.show_json(inspection_data.data(found, loaded.automaton, signs))
    else:
        inspection.show(found, loaded.automaton, limit, signs)
