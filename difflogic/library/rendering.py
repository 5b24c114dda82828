"""Rollouts as pictures: `render`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from difflogic.circuit.automaton import Automaton, places
from difflogic.identification import drawn
from difflogic.library import starts
from difflogic.library.conditions import AS_TRAINED, Conditions
from difflogic.library.exchange import require_output, write_output
from difflogic.library.groups import Frames
from difflogic.library.loaded import Source, load
from difflogic.library.simulating import world_of
from difflogic.simulation.simulator import Simulator, choose_engine
from difflogic.simulation.state_picture import MOST_COLORED
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, shorten
from difflogic.system.quantities import format_ranges
from difflogic.system.work import ignore, say, tell, work, working
from difflogic.view.animation import FILMS, Film, View

STRIP_FRAMES = 6
"""Default number of frames in a strip."""

LARGER = 4
"""Factor of the sides of the larger grid."""

MOST_FRAMES = 10_000


@dataclass(frozen=True)
class Rendered:
    """A picture that was written."""

    file: Path
    steps: tuple[int, ...]
    """Steps of the frames."""
    height: int
    width: int
    """Size of a frame, in pixels."""
    bytes: int


ALL_FRAMES = Frames()


@checked
def render(
    source: Source,
    file: str | Path,
    conditions: Conditions = AS_TRAINED,
    frames: Frames = ALL_FRAMES,
    *,
    force: bool = False,
) -> Rendered:
    """Draw a rollout: an animation (.gif, .apng), or a strip of frames (.png).

    The bits are those of `simulate` under the same conditions. A larger grid has the same damage.
    A cell's colour shows up to three channels, by default the visible ones; a sheet shows each
    channel as a separate picture.

    Raises what `simulate` raises, and RunDirectoryError if the file cannot be written.
    """
    path = require_output(file, FILMS, force)
    if frames.at and (frames.every != 1 or conditions.steps is not None):
        raise ConfigError("--at names the steps to show: leave out --every and --steps")
    if path.suffix == ".png" and frames.frames_per_second != ALL_FRAMES.frames_per_second:
        raise ConfigError(f"--fps: {path.name} is a strip, and stands still: leave it out")
    loaded = load(source, drawn.parse)
    conditions = conditions.begun(loaded.automaton)
    automaton = conditions.automaton(loaded)
    steps = max(frames.at) if frames.at else automaton.steps
    shown = _frame_steps(steps, frames.every, frames.at, path.suffix == ".png")
    view = _view(automaton, frames.channels, frames.sheet)
    grids = [automaton]
    if frames.larger:
        larger = replace(
            automaton, height=LARGER * automaton.height, width=LARGER * automaton.width
        )
        grids.append(larger)
    labels = [f"step {step}" for step in shown]
    film = Film(view, [(each.height, each.width) for each in grids], labels, frames.scale)
    done = 0
    total = len(shown) * len(grids)
    heard = work().say
    for number, grid in enumerate(grids):
        times = grid.height // automaton.height
        own = conditions.scaled(times)
        with (
            working(say=heard if grid is automaton else ignore),
            _begin(grid, own, steps) as running,
        ):
            geometry = running.grid.geometry
            placed = [each.place(geometry, steps, grid.held_rows) for each in own.damage]
            first = running.step  # of a saved state
            for index, step in enumerate(shown):
                running.run(first + step - running.step, placed)
                film.draw(number, index, running.grid)
                done += 1
                tell("frames:", done, total)
    content = film.encode(path.suffix, frames.frames_per_second)
    if view.sheet:
        rows = view.rows(automaton.circuit.labels)
        say("channels, row by row: " + "; ".join(map(", ".join, rows)))
    write_output(path, content, force)
    return Rendered(path, tuple(shown), *film.size, len(content))


def _frame_steps(steps: int, every: int, at: Sequence[int], still: bool) -> list[int]:
    """Return the steps of the frames; 0 is the start."""
    if any(step < 0 for step in at):
        raise ConfigError("every step of --at must be at least 0")
    if at:
        return sorted(set(at))
    if still and every == 1:
        return sorted({round(steps * n / (STRIP_FRAMES - 1)) for n in range(STRIP_FRAMES)})
    count = 1 - -steps // every
    if count > MOST_FRAMES:
        raise ConfigError(f"{count} frames are too many (at most {MOST_FRAMES}): raise --every")
    return [*range(0, steps, every), steps]


def _view(automaton: Automaton, channels: Sequence[int], sheet: bool) -> View:
    """Return which channels are shown and how. Raises ConfigError if that is impossible."""
    labels = automaton.circuit.labels
    unknown = sorted(set(channels) - set(labels))
    if unknown:
        raise ConfigError(
            f"no channel {unknown[0]}: the circuit has {shorten(format_ranges(labels))} "
            "(--unsimplified keeps all trained channels)"
        )
    chosen = tuple(channels) or (labels if sheet else automaton.visible)
    named = automaton.palette if chosen == automaton.visible and not sheet else ()
    if not sheet and not named and len(chosen) > MOST_COLORED:
        raise ConfigError(
            f"{len(chosen)} channels: colours can show at most {MOST_COLORED}; choose fewer with "
            "--channels, or draw each channel separately with --sheet"
        )
    return View(places(automaton.circuit, chosen), sheet, named)


def _begin(automaton: Automaton, conditions: Conditions, steps: int) -> Simulator:
    """Return a simulator with its start state."""
    world = world_of(automaton, conditions)
    engine = choose_engine(automaton.circuit, world, steps)
    running = Simulator(automaton.circuit, world, engine)
    start = conditions.start_of(automaton)
    starts.prepare(running, automaton, start, conditions.density, conditions.paint)
    return running
