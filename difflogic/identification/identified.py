"""Finding the rule of a recording: `identify`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.examples.assumptions import Assumptions
from difflogic.examples.film import Reading, Recording, from_array, read
from difflogic.formats.circuit_file import write_circuit
from difflogic.identification import blocks, explanation
from difflogic.identification.chance import Chances, find
from difflogic.identification.families import Odds
from difflogic.identification.kind import Kind, choose
from difflogic.identification.likely import Likely, weigh
from difflogic.identification.rules import BLOCKS
from difflogic.identification.table_circuit import FAR
from difflogic.inspection.equations import equations
from difflogic.system.archive import write_npz
from difflogic.system.deadline import Deadline, never_stop
from difflogic.system.declaration import EffortOption, SecondsOption, checked
from difflogic.system.errors import ConfigError
from difflogic.system.files import require_output, write_output, write_whole
from difflogic.system.json_values import json_value
from difflogic.system.work import ticking, work, working


@dataclass(frozen=True)
class Identified:
    """The rule of a recording, and its circuit."""

    rule: explanation.Explanation
    """Its table, and which entries the recording determines."""
    circuit: Circuit | None
    """Simplified, and equal to the table on all neighbourhoods; None if circuits cannot hold it."""
    seconds: float
    weighed: Likely | None = None
    """The odds of families, if they chose the rule."""
    asked: str = "auto"
    """The boundary that was asked for."""

    @cached_property
    def likely(self) -> Likely | None:
        """The odds of families of rules; None with noise or hidden states."""
        rule = self.rule
        known = rule.space.looks_like or rule.flipped is not None
        if self.weighed is not None or known or not (rule.gap == 1 or rule.space.line):
            return self.weighed
        film = rule.recording
        pairs = film.triples if rule.space.memory else film.pairs
        try:
            return weigh(pairs, [rule.space], [rule.gap], rule.boundary)
        except ConfigError:
            return None

    def entry_odds(self, entries: Sequence[int] | slice) -> Odds | None:
        """Return the probability of each state after some entries, shape (states, entries)."""
        return None if self.likely is None else self.likely.entries(self.rule.space, entries)

    def predict(self) -> Odds:
        """Return the odds of the file's query, or of the frame after the last.

        The probability of each state in each cell, shape (states, height, width). Raises
        ConfigError without odds.
        """
        if self.likely is None:
            raise ConfigError(
                "odds are for recordings without noise, hidden states and blocks, of lines, or of "
                "grids with frames one step apart"
            )
        film = self.rule.recording
        frame = film.pairs[-1][1] if film.query is None else film.query
        if self.rule.space.memory:
            frame = film.frames[-1, -2:]
        boundary = self.rule.boundary if self.weighed is None else self.asked
        return self.likely.predict(frame, boundary)

    def save_prediction(self, path: str | Path, *, force: bool = False) -> None:
        """Write `predict` as .json or .npz: the likeliest states, their probability, all odds."""
        odds = self.predict()
        found = {"states": odds.argmax(axis=0), "probability": odds.max(axis=0), "odds": odds}
        if require_output(path, (".json", ".npz"), force).suffix == ".json":
            write_output(path, json.dumps(json_value(found)) + "\n", force)
            return
        write_whole(Path(path), lambda file: write_npz(file, found))

    @cached_property
    def automaton(self) -> Automaton:
        """The rule on the recording's grid. Raises CircuitError if circuits cannot hold it."""
        return self.rule.automaton(self.circuit)

    @cached_property
    def equations(self) -> list[str]:
        """The rule as text, such as n0' = C0 ⊕ W0."""
        if self.circuit is None:
            return []
        lines = equations(self.circuit).texts
        if self.rule.space.drawable:
            return lines
        names = {slot: name for name, slot in FAR.items()}
        return [re.sub("|".join(names), lambda m: names[m[0]], line) for line in lines]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the circuit as JSON; `force` overwrites an earlier file."""
        write_output(path, write_circuit(self.automaton), force)


NOTHING_ASSUMED = Assumptions()
Recorded = npt.ArrayLike | str | Path | Sequence[str | Path]


def film_of(recording: Recorded, assumed: Assumptions) -> Recording:
    """Read a recording as `identify` does. Raises ConfigError."""
    line = assumed.neighbourhood.startswith("line") or assumed.radius is not None
    wide = 4 if assumed.gap == "auto" else assumed.gap
    how = Reading(
        line,
        assumed.states,
        assumed.threshold,
        assumed.cell,
        assumed.boundary != "auto",
        margin=2 * wide,
    )
    if isinstance(recording, str | Path):
        recording = [recording]
    files = recording if isinstance(recording, list | tuple) else ()
    if files and all(isinstance(each, str | Path) for each in files):
        film = read([Path(path) for path in files], how)
    else:
        film = from_array(recording, assumed.mask, how)
    return film.require_steps()


@checked
def identify_chance(
    recording: Recorded,
    assumed: Assumptions = NOTHING_ASSUMED,
    *,
    time_limit: SecondsOption | None = None,
    should_stop: Callable[[], bool] = never_stop,
) -> Chances:
    """Find how often each state follows each neighbourhood, and which of them need chance.

    The likeliest family is chosen, with no other cells and no less symmetry than assumed. Raises
    ConfigError for what is not counted (gaps, unseen cells, noise, hidden states, an unknown
    boundary), and OutOfTimeError if there was no time.
    """
    refused = {"noise": assumed.noise, "hidden": assumed.hidden, "gap": assumed.gap != 1}
    refused[f"neighbourhood {BLOCKS}"] = assumed.neighbourhood == BLOCKS
    for name in filter(refused.get, refused):
        raise ConfigError(f"--chance and --{name}: give one; chance counts what one step does")
    film = film_of(recording, assumed)
    radius = assumed.radius
    if radius == "auto" or (film.sizes and film.frames.shape[2] == 1 and radius is None):
        radius = 3
    symmetry = "none" if assumed.symmetry == "auto" else assumed.symmetry
    wanted = Kind(assumed.neighbourhood, radius, symmetry, 1, assumed.boundary)
    inquiry, _ = choose(film, wanted, exact=True)
    if inquiry.boundary == "unknown" or not film.complete:
        raise ConfigError(
            f"{film.subject}: --chance needs to see every cell, and --boundary periodic or zero"
        )
    deadline = _deadline(time_limit, should_stop)
    with working(asked=never_stop):  # the deadline asks
        return find(film, inquiry.space, inquiry.boundary, deadline)


def _deadline(time_limit: float | None, should_stop: Callable[[], bool]) -> Deadline:
    asked = work().asked
    return replace(Deadline.after(time_limit), should_stop=lambda: asked() or should_stop())


@checked
def identify(
    recording: Recorded,
    assumed: Assumptions = NOTHING_ASSUMED,
    *,
    effort: EffortOption = "normal",
    time_limit: SecondsOption | None = None,
    should_stop: Callable[[], bool] = never_stop,
) -> Identified:
    """Find the rule of a recorded automaton, and which of its entries the recording determines.

    `recording` is an array of states, (frames, height, width) or (recordings, frames, height,
    width), or (frames, width) for lines; or the names of files: see docs/identify.md. Cells are
    unseen where `assumed.mask` is true and where the array has NaN or -1.

    Files of examples (docs/examples.md) are pairs of frames that do not follow each other. For
    pairs, and where radius, symmetry or gap is "auto", families of rules are weighed, and
    entries that were never seen get the likeliest state. If `time_limit`, in seconds, passes, or
    `should_stop` returns true, entries stay undecided. Raises ConfigError if no rule explains the
    recording, and OutOfTimeError if there was no time to find one.
    """
    began = time.perf_counter()
    noise = assumed.noise
    hidden = assumed.hidden
    film = film_of(recording, assumed)
    wanted = Kind(
        assumed.neighbourhood,
        assumed.radius,
        assumed.symmetry,
        assumed.gap,
        assumed.boundary,
        assumed.memory,
    )
    deadline = _deadline(time_limit, should_stop)
    inquiry, weighed = choose(film, wanted, noise or hidden > 0, deadline)
    inquiry = replace(inquiry, deadline=deadline, noise=noise, hidden=hidden)
    seek = blocks.identify if assumed.neighbourhood == BLOCKS else explanation.identify
    with working(asked=never_stop):  # the deadline keeps what is found
        rule = seek(inquiry)
        if rule.hurried or (weighed is not None and effort == "normal"):  # tables of odds are large
            effort = "low"
        with ticking("simplifying the rule, steps done:"):
            circuit = rule.circuit(effort, deadline)
    return Identified(rule, circuit, time.perf_counter() - began, weighed, assumed.boundary)
