"""Rollouts as pictures: `render`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from difflogic.circuit.automaton import Automaton, places
from difflogic.identification import drawn
from difflogic.library import starts
from difflogic.library.conditions import AS_TRAINED, Conditions
from difflogic.library.groups import Frames
from difflogic.library.loaded import Source, load
from difflogic.library.simulating import world_of
from difflogic.simulation.simulator import Simulator, choose_engine
from difflogic.simulation.state_picture import MOST_COLORED
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, shorten
from difflogic.system.files import require_output, write_output
from difflogic.system.quantities import format_ranges
from difflogic.system.work import tell
from difflogic.view.animation import FILMS, Film, View

STRIP_FRAMES = 6
"""Default number of frames in a strip."""

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

    The bits are those of `simulate` under the same conditions. A cell's colour shows up to three
    channels, by default the visible ones.

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
    view = _view(automaton, frames.channels)
    labels = [f"step {step}" for step in shown]
    film = Film(view, (automaton.height, automaton.width), labels, frames.scale)
    world = world_of(automaton, conditions)
    engine = choose_engine(automaton.circuit, world, steps)
    with Simulator(automaton.circuit, world, engine) as running:
        starts.prepare(running, automaton, conditions)
        geometry = running.grid.geometry
        placed = [each.place(geometry, steps, automaton.held_rows) for each in conditions.damage]
        first = running.step  # of a saved state
        for done, step in enumerate(shown, 1):
            running.run(first + step - running.step, placed)
            film.draw(running.grid)
            tell("frames:", done, len(shown))
    content = film.encode(path.suffix, frames.frames_per_second)
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


def _view(automaton: Automaton, channels: Sequence[int]) -> View:
    """Return which channels are shown and how. Raises ConfigError if that is impossible."""
    labels = automaton.circuit.labels
    unknown = sorted(set(channels) - set(labels))
    if unknown:
        raise ConfigError(
            f"no channel {unknown[0]}: the circuit has {shorten(format_ranges(labels))} "
            "(--unsimplified keeps all trained channels)"
        )
    chosen = tuple(channels) or automaton.visible
    named = automaton.palette if chosen == automaton.visible else ()
    if not named and len(chosen) > MOST_COLORED:
        raise ConfigError(
            f"{len(chosen)} channels: colours can show at most {MOST_COLORED}; choose fewer with "
            "--channels"
        )
    return View(places(automaton.circuit, chosen), named)
