"""Which rules to look for, if the odds of families are to decide."""

from __future__ import annotations

from typing import NamedTuple

from difflogic.identification.likely import GAPS, Likely, weigh
from difflogic.identification.recording import Recording
from difflogic.identification.rules import MOST_PATTERNS, NEIGHBOURHOODS, Space
from difflogic.system.errors import ConfigError


class Choice(NamedTuple):
    """What to ask, and the odds that chose it, if they did."""

    space: Space
    gap: int
    boundary: str
    likely: Likely | None


def choose(
    film: Recording,
    neighbourhood: str,
    radius: int | str | None,
    symmetry: str,
    gap: int | str,
    boundary: str,
    exact: bool,
) -> Choice:
    """Return what to ask about a recording; "auto" is replaced by what is likeliest.

    Pairs may have any size; if their edges are unknown or undecided, nothing is assumed there. With
    `exact` there are no odds. Raises ConfigError.
    """
    if film.sizes and film.frames.shape[2] == 1 and neighbourhood == "moore" and radius is None:
        radius = "auto"
    if radius is not None and neighbourhood != "moore":
        raise ConfigError(f"--radius chooses a line: leave out --neighbourhood {neighbourhood}")
    auto = "auto" in (radius, symmetry, gap) or bool(film.sizes)
    if radius not in (None, "auto"):
        neighbourhood = f"line-{radius}"
    if not auto or exact:
        if "auto" in (radius, symmetry, gap):
            raise ConfigError("auto: noise and hidden states need a given radius, symmetry and gap")
        return Choice(
            Space(neighbourhood, symmetry, film.states),
            int(gap),
            "periodic" if boundary == "auto" else boundary,
            None,
        )
    hoods = _lines(film.states) if radius == "auto" else [neighbourhood]
    line = hoods[0].startswith("line")
    if line and film.frames.shape[2] > 1:
        raise ConfigError(f"{film.source}: a line has one row, not {film.frames.shape[2]}")
    if not line and gap != 1:
        raise ConfigError("--gap: odds with hidden steps are for lines: give --radius, or no auto")
    if len(set(film.sizes)) > 1 and boundary in ("periodic", "zero"):
        raise ConfigError(
            f"{film.source}: has pairs of several sizes: give --boundary auto or unknown"
        )
    edges = boundary if film.sizes or boundary != "auto" else "periodic"
    gaps = tuple(GAPS) if gap == "auto" else (int(gap),)
    within = "none" if symmetry == "auto" else symmetry
    try:
        likely = weigh(film.pairs, film.states, hoods, gaps, edges, within)
    except ConfigError as error:
        raise ConfigError(f"{film.source}: {error}") from None
    best = likely.hypotheses[0]
    space = (
        best.space if symmetry == "auto" else Space(best.space.neighbourhood, within, film.states)
    )
    return Choice(space, best.gap, "unknown" if edges == "auto" else edges, likely)


def _lines(states: int) -> list[str]:
    """Return the lines with few enough neighbourhoods of so many states."""
    lines = [name for name in NEIGHBOURHOODS if name.startswith("line")]
    return [name for name in lines if states ** len(NEIGHBOURHOODS[name]) <= MOST_PATTERNS]
