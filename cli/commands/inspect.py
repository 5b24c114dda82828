"""`dct inspect`: prints a circuit as equations, with its properties."""

from __future__ import annotations

from typing import Annotated

from cli.options.common import AsJson, Seed, Source, Unsimplified, number, option
from cli.progress import show_progress


def inspect(
    source: Source,
    unsimplified: Unsimplified = False,
    limit: Annotated[int, number("Most equations and channels to print; 0 for all", 0)] = 24,
    periods: Annotated[
        int, number("Search for fixed points with periods up to N×N cells", 1, 12)
    ] = 4,
    seconds: Annotated[
        float | None,
        option("SECONDS", "Time limit of each part", "--time-limit", min=0.001, shown="10"),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a circuit as equations, with the properties of its rule.

    n0' is the next state of channel 0; NW0 N0 NE0 W0 C0 E0 SW0 S0 SE0 are its nine cells. The
    circuit of a run or a model is simplified first, and loses the channels that the visible ones do
    not depend on. A circuit file is taken as is.
    """
    from cli.terminal import inspection, output
    from difflogic.inspection import Limits
    from difflogic.library.evaluating import inspect as examine
    from difflogic.library.loading import load

    loaded = load(source)
    with show_progress(stop_at_once=True) as progress:
        limits = Limits(Limits.seconds if seconds is None else seconds, periods, seed)
        found = examine(
            loaded, limits, unsimplified=unsimplified, time_limit=seconds, progress=progress
        )
    if as_json:
        output.show_json(inspection.data(found, loaded.automaton))
    else:
        inspection.show(found, loaded.automaton, limit)
