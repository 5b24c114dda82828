"""`dct inspect`: a circuit as equations, with what can be said of it."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options.parsing import whole_number
from cli.options.sources import Source
from cli.watching import watched


def inspect(
    source: Source,
    unsimplified: Annotated[
        bool, typer.Option("--unsimplified", help="Take the circuit with every gate it has.")
    ] = False,
    channel: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0),
            metavar="N",
            help="Print the equations of this channel's next state, alone.",
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            parser=whole_number(0),
            metavar="N",
            help="Print so many equations and channels, or with 0 all.",
        ),
    ] = 24,
    periods: Annotated[
        int,
        typer.Option(
            parser=whole_number(1, 12),
            metavar="N",
            help="Search fixed points of periods up to N×N cells.",
        ),
    ] = 4,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0.001,
            metavar="SECONDS",
            help="For each of: simplifying, symmetries, fixed points, run. What takes longer "
            "stays undecided, or as it is.",
            show_default="10 where answers stay open",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, 2**63 - 1),
            metavar="N",
            help="Names the streams of the random starts.",
        ),
    ] = 0,
    as_ascii: Annotated[
        bool,
        typer.Option(
            "--ascii",
            help="Write ~ & | ^ for not, and, or, xor.",
            show_default="if the terminal cannot show others",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as one JSON object.")
    ] = False,
) -> None:
    """Print a circuit as equations, and what holds of its rule.

    n0' is the next state of channel 0; NW0 N0 NE0 W0 C0 E0 SW0 S0 SE0 are its nine cells. The
    circuit of a run or a model is simplified first, and channels that the visible ones do not
    depend on are dropped; a circuit's own file is taken as it is.
    """
    from cli.terminal import inspection, inspection_data, output
    from difflogic.inspection import Limits
    from difflogic.library.inspecting import channel_equation
    from difflogic.library.inspecting import inspect as examine
    from difflogic.library.loading import load

    loaded = load(source)
    signs = inspection.Signs(as_ascii or not inspection.shows_signs())
    if channel is not None:
        with watched(at_once=True) as progress:
            chosen = channel_equation(
                loaded, channel, unsimplified=unsimplified, time_limit=seconds, progress=progress
            )
        if as_json:
            output.show_json({"equations": inspection_data.equations_data(chosen, signs)})
        else:
            inspection.show_equations(chosen, limit, signs)
        return
    with watched(at_once=True) as progress:
        limits = Limits(Limits.seconds if seconds is None else seconds, periods, seed)
        found = examine(
            loaded, limits, unsimplified=unsimplified, time_limit=seconds, progress=progress
        ).inspection
    if as_json:
        output.show_json(inspection_data.data(found, loaded.automaton, signs))
    else:
        inspection.show(found, loaded.automaton, limit, signs)
