"""Which rules to look for, if the odds of families are to decide."""

from __future__ import annotations

from difflogic.identification.likely import GAPS, Likely, weigh
from difflogic.identification.recording import Recording
from difflogic.identification.rules import MOST_PATTERNS, NEIGHBOURHOODS, Space
from difflogic.system.errors import ConfigError


def choose(
    film: Recording,
    neighbourhood: str,
    radius: int | str | None,
    symmetry: str,
    gap: int | str,
    boundary: str,
    exact: bool,
) -> tuple[Space, str, int, Likely | None]:
    """Return space, boundary and gap to ask about a recording, and the odds if they chose them.

    "auto" is replaced by what is likeliest. Pairs may have any size; if their edges are unknown or
    undecided, nothing is assumed there. With `exact` there are no odds. Raises ConfigError.
    """
    if film.sizes and film.frames.shape[2] == 1 and neighbourhood == "moore" and radius is None:
        radius = "auto"
    if radius is not None and neighbourhood != "moore":
        raise ConfigError(f"--radius chooses a line: leave out --neighbourhood {neighbourhood}")
    if radius not in (None, "auto"):
        neighbourhood = f"line-{radius}"
    line = radius is not None or neighbourhood.startswith("line")
    if film.sizes and line and film.frames.shape[2] > 1:
        raise ConfigError(f"{film.source}: a line has one row, not {film.frames.shape[2]}")
    if len(set(film.sizes)) > 1 and boundary in ("periodic", "zero"):
        raise ConfigError(
            f"{film.source}: has pairs of several sizes: give --boundary auto or unknown"
        )
    edges = boundary if film.sizes or boundary != "auto" else "periodic"
    asked = "unknown" if edges == "auto" else edges
    auto = "auto" in (radius, symmetry, gap)
    if not line and gap != 1:
        exact = True
    if exact or not (auto or film.sizes):
        if auto:
            raise ConfigError(
                "auto weighs rules without noise and hidden states, of lines, or of grids with "
                "frames one step apart"
            )
        return Space(neighbourhood, symmetry, film.states), asked, int(gap), None
    hoods = _lines(film.states) if radius == "auto" else [neighbourhood]
    gaps = tuple(GAPS) if gap == "auto" else (int(gap),)
    within = "none" if symmetry == "auto" else symmetry
    try:
        likely = weigh(film.pairs, film.states, hoods, gaps, edges, within)
    except ConfigError as error:
        raise ConfigError(f"{film.source}: {error}") from None
    best = likely.hypotheses[0]
    space = best.space
    if symmetry != "auto":
        space = Space(space.neighbourhood, symmetry, film.states)
    return space, asked, best.gap, likely


def _lines(states: int) -> list[str]:
    """Return the lines that have few enough neighbourhoods with `states` states."""
    lines = [name for name in NEIGHBOURHOODS if name.startswith("line")]
    return [name for name in lines if states ** len(NEIGHBOURHOODS[name]) <= MOST_PATTERNS]
