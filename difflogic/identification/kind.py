"""Which rules to look for, if the odds of families are to decide."""

from __future__ import annotations

from dataclasses import dataclass, replace

from difflogic.examples.film import Recording
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.likely import GAPS, Likely, weigh
from difflogic.identification.rules import BLOCKS, MOST_PATTERNS, NEIGHBOURHOODS, Space
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import ConfigError, errors_about


@dataclass(frozen=True)
class Kind:
    """The kind of rule that is asked for; "auto" where odds are to choose."""

    neighbourhood: str = "moore"
    radius: int | str | None = None
    symmetry: str = "none"
    gap: int | str = 1
    boundary: str = "auto"
    memory: int | str = 0
    """Frames before the last that the rule may look back at; "auto" if no other explains it."""


def choose(
    film: Recording, wanted: Kind, exact: bool, deadline: Deadline = NEVER
) -> tuple[Inquiry, Likely | None]:
    """Ask for the likeliest kind of rule where "auto" is wanted; also return the odds, if weighed.

    Pairs may have any size; if their edges are unknown or undecided, nothing is assumed there. With
    `exact` there are no odds. Raises ConfigError.
    """
    neighbourhood = wanted.neighbourhood
    radius = wanted.radius
    symmetry = wanted.symmetry
    gap = wanted.gap
    if film.sizes and film.frames.shape[2] == 1 and neighbourhood == "moore" and radius is None:
        radius = "auto"
    if radius is not None and neighbourhood != "moore":
        raise ConfigError(f"--radius chooses a line: leave out --neighbourhood {neighbourhood}")
    if radius not in (None, "auto"):
        neighbourhood = f"line-{radius}"
    line = radius is not None or neighbourhood.startswith("line")
    if line and film.frames.shape[2] > 1:
        raise ConfigError(f"{film.source}: a line has one row, not {film.frames.shape[2]}")
    if len(set(film.sizes)) > 1 and wanted.boundary in ("periodic", "zero"):
        raise ConfigError(
            f"{film.source}: has pairs of several sizes: give --boundary auto or unknown"
        )
    edges = wanted.boundary if film.sizes or wanted.boundary != "auto" else film.edge
    asked = "unknown" if edges == "auto" else edges
    auto = "auto" in (radius, symmetry, gap)
    memory = wanted.memory == 1
    may_remember = wanted.memory == "auto" and not film.sizes
    if memory and gap == "auto":
        raise ConfigError("--memory 1 and --gap auto: give the steps from frame to frame")
    if neighbourhood == BLOCKS or (not line and gap != 1):
        exact = True
    if exact or not (auto or film.sizes):
        if auto:
            raise ConfigError(
                "auto weighs rules without blocks, noise and hidden states, of lines, or of grids "
                "with frames one step apart"
            )
        with errors_about(film.subject):
            space = Space(neighbourhood, symmetry, film.states, memory=memory)
        return Inquiry(film, space, asked, int(gap), may_remember=may_remember), None
    hoods = [neighbourhood]
    if radius == "auto":  # lines that have few enough neighbourhoods
        lines = [name for name in NEIGHBOURHOODS if name.startswith("line")]
        hoods = [x for x in lines if film.states ** len(NEIGHBOURHOODS[x]) <= MOST_PATTERNS]
    gaps = tuple(GAPS) if gap == "auto" else (int(gap),)
    within = "none" if symmetry == "auto" else symmetry
    with errors_about(film.subject):
        spaces = [Space(hood, within, film.states, memory=memory) for hood in hoods]
        try:
            likely = weigh(film.triples if memory else film.pairs, spaces, gaps, edges, deadline)
        except ConfigError:
            if not may_remember or gaps != (1,) or film.frames.shape[1] < 3:
                raise
            spaces = [replace(space, memory=True) for space in spaces]
            likely = weigh(film.triples, spaces, gaps, edges, deadline)
    best = likely.hypotheses[0]
    space = best.space
    if symmetry != "auto":
        space = replace(best.space, symmetry=symmetry)
    # Every family is one of tables without symmetry; larger radii and more steps explain as much.
    of_a_kind = "auto" in (radius, gap) or space.symmetry != within
    states = likely.entries(space).argmax(axis=0)
    return Inquiry(film, space, asked, best.gap, likely=states, of_a_kind=of_a_kind), likely
