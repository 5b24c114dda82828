"""One circuit made of several, in which regions show the parts: `join`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.regions import alone, joined, placed
from difflogic.library.loaded import Source, load
from difflogic.library.simplifying import Simplified, proved, simplify, small_form
from difflogic.simulation.state_picture import usual_palette
from difflogic.system.declaration import TimeLimit, checked
from difflogic.system.errors import CircuitError, ConfigError, ProofError

MOST_PARTS = 16
MOST_COLOURS = 16
MOST_JOINED = 1024
"""Channels of all parts together."""


@checked
def join(sources: Sequence[Source], *, time_limit: TimeLimit = None) -> Simplified:
    """Join 2 to 16 circuits or runs into one, whose held channels say what each cell shows.

    The parts need one boundary and one fire rate. Their palettes are merged, up to 16 colours. The
    circuit is simplified, and each part proved to do in it what it does alone. `time_limit` is as
    in `simplify`. Raises what `load` raises, ConfigError or CircuitError for parts that do not fit,
    and ProofError.
    """
    if not 2 <= len(sources) <= MOST_PARTS:
        raise ConfigError(f"{len(sources)} circuits: join 2 to {MOST_PARTS}")
    parts = []
    for source in sources:
        part = small_form(source, time_limit=time_limit)
        palette = part.palette or usual_palette(len(part.visible))
        _require_plain(load(source).name, part, palette)
        parts.append(replace(part, palette=palette))
    first = parts[0]
    for name in ("boundary", "fire_rate"):
        found = {getattr(each, name) for each in parts}
        if len(found) > 1:
            what = name.replace("_", " ")
            values = ", ".join(f"{getattr(each, name)} ({each.name})" for each in parts)
            raise CircuitError(f"the parts differ in {what}: {values}: train them with one {what}")
    starts = {each.start for each in parts if each.start != "random"}
    if len(starts) > 1:
        raise CircuitError("some parts start from one cell, others from zeros: join one kind")
    palette = tuple(dict.fromkeys(color for each in parts for color in each.palette))
    if len(palette) > MOST_COLOURS:
        raise CircuitError(
            f"the parts have {len(palette)} colours together, more than {MOST_COLOURS}: train them "
            "with one --palette"
        )
    count = sum(each.circuit.channels for each in parts)
    if count > MOST_JOINED:
        raise CircuitError(f"the parts have {count} channels, more than {MOST_JOINED}: join fewer")
    alike = placed(parts, palette)
    whole = joined(alike, "-".join(each.name for each in parts)[:64].rstrip("-"))
    made = replace(
        whole,
        height=max(each.height for each in parts),
        width=max(each.width for each in parts),
        steps=max(each.steps for each in parts),
        start=starts.pop() if starts else first.start,
        parts=tuple(each.name for each in parts),
    )
    small = simplify(made, "low", time_limit=time_limit)
    for number, part in enumerate(alike):
        same = proved(part, alone(small.require_proved(), number).circuit, time_limit)
        if not same.equal:
            raise ProofError(f"{part.name}: could not be proved to be the same when joined", same)
    return small


def _require_plain(name: str, part: Automaton, palette: Sequence[Any]) -> None:
    """Raise CircuitError for a part that cannot be joined."""
    reasons = {
        "is a rule by blocks, which flip at each step": part.blocks is not None,
        "was learned from examples, and has an input": part.encoding is not None,
        "holds an input; if it was joined, join its parts": bool(part.held),
        "shows more than 3 channels, and its file has no palette": not palette,
    }
    for reason, holds in reasons.items():
        if holds:
            raise CircuitError(f"{name}: cannot be joined: it {reason}")
