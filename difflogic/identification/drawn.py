"""Rules by chance that run: drawn cell by cell in place of gates, and as a file of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.colors import parse_color
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.formats.circuit_file import SideLength, explain
from difflogic.identification.families import Odds
from difflogic.identification.rules import Space, spread_states
from difflogic.simulation.bit_grid import BitGrid, pack, unpack
from difflogic.simulation.interpreter import Interpreter
from difflogic.simulation.random_bits import Chance, Use, child_keys, stream_key
from difflogic.system.array_types import Words
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.system.json_schema import HexColor


class ChanceInterpreter(Interpreter):
    """Takes steps of a rule by chance. A draw depends on seed, step and place alone."""

    def __init__(self, rule: ChanceRule, chance: Chance, seed: int) -> None:
        self._rule = rule
        self._chance = chance
        self._key = stream_key(seed, Use.DRAW)
        self._limits = rule.odds.cumsum(axis=1)[:, :-1]

    def _next(self, source: BitGrid, band: slice, step: int) -> Words:
        space = self._rule.space
        g = source.geometry
        rows = np.arange(band.start - 1, band.stop + 1)
        if g.boundary == "periodic":
            rows %= g.height
        bits = unpack(source.words[rows][..., source.columns()], g.width)
        states = np.minimum(np.tensordot(1 << np.arange(g.channels), bits, 1), space.states - 1)
        patterns = spread_states(states, space, g.boundary)[1:-1]
        keys = child_keys(child_keys(self._key, [step]), np.arange(band.start, band.stop))
        numbers = child_keys(keys[:, None], np.arange(g.width)) >> np.uint64(11)
        drawn = (numbers * 2.0**-53)[..., None] >= self._limits[space.entry_of[patterns]]
        after = drawn.sum(axis=-1)
        return pack(np.stack([after >> bit & 1 for bit in range(g.channels)]))


@dataclass(frozen=True, eq=False)
class ChanceRule(Circuit):
    """A rule by chance in the place of a circuit. It has no gates."""

    space: Space
    odds: Odds
    """The probability of each state after each entry, shape (entries, states)."""
    interpreter: ClassVar[Any] = ChanceInterpreter


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class EntryOdds(_Section):
    """What follows a neighbourhood, or all that a symmetry treats alike."""

    entry: str
    probabilities: list[Annotated[float, Field(ge=0, le=1)]]


class ChanceFile(_Section):
    """What is read of a file; `Chances.as_dict` has all of it."""

    version: Annotated[int, Field(ge=1, le=1)] = Field(description="version of this format")
    neighbourhood: str = Field(description="the cells that the rule reads")
    symmetry: str = Field(description="which neighbourhoods are one entry")
    states: int = Field(description="number of states")
    boundary: Literal["zero", "periodic"] = Field(description="what lies beyond the edge")
    height: SideLength = Field(description="rows of the grid")
    width: SideLength = Field(description="columns of the grid")
    steps: Annotated[int, Field(ge=1, le=2**25)] = Field(description="steps of the film")
    palette: Annotated[list[HexColor], Field(max_length=16)] = Field(
        description="colours of states"
    )
    table: list[EntryOdds] = Field(description="the entries, in order")


def parse(data: Any, source: str) -> Automaton:
    """Return the automaton that decoded JSON describes. Raises CircuitError, naming `source`."""
    try:
        found = ChanceFile.model_validate(data)
        space = Space(found.neighbourhood, found.symmetry, found.states)
        odds = [each.probabilities for each in found.table]
        names = [space.describe(entry) for entry in range(space.entries)]
        if names != [each.entry for each in found.table]:
            raise CircuitError(
                f'"table" must have the {space.entries} entries of its neighbourhood and symmetry, '
                f"from {names[0]} to {names[-1]}, in order"
            )
        for name, chances in zip(names, odds, strict=True):
            if len(chances) != space.states or abs(sum(chances) - 1) > 1e-9:
                raise CircuitError(
                    f'"table": entry {name} needs {space.states} probabilities with the sum 1, and '
                    f"has {len(chances)} with the sum {sum(chances):.12g}"
                )
        channels = np.arange(space.bits, dtype=np.int32)
        centre = NEIGHBORHOOD // 2 * space.bits + channels
        kind = np.empty(0, np.uint8)
        none = np.empty(0, np.int32)
        rule = ChanceRule(kind, none, none, centre, tuple(channels), space, np.array(odds))
        colors = tuple(map(parse_color, found.palette))
        colors += colors[-1:] * (2**space.bits - len(colors))
        return Automaton(
            "chance",
            rule,
            rule.labels,
            found.boundary,
            found.height,
            found.width,
            found.steps,
            1.0,
            "random",
            colors,
        )
    except ValidationError as error:
        raise CircuitError(f"{source}: {explain(error, ChanceFile)}") from None
    except (ConfigError, CircuitError) as error:
        raise CircuitError(f"{source}: {error}") from None
