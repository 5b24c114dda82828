"""Rollouts as pictures: `render`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.library.simulating import (
    MOST_SIDE,
    Rectangle,
    changed,
    require_damage,
    require_numbers,
)
from difflogic.library.watching import ShouldStop, Watch, Watched, never, unwatched
from difflogic.model.automaton import Automaton, places
from difflogic.simulation import starts
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.memory import require_memory
from difflogic.simulation.simulator import Conditions, Simulator, choose_engine
from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output
from difflogic.view.rendering import MOST_COLORED, SUFFIXES, Animation, View, write
from difflogic.view.rendering.panels import BACKGROUND, arrange
from difflogic.view.rendering.writing import require_pixels

SIDE = 256
"""Pixels of a picture's longer side, about, unless a scale is asked for."""

GAP = 12
"""Pixels between two grids."""

STRIP_FRAMES = 6
"""Of a strip, unless steps are asked for."""

LARGER = 4
"""Times the side of a grid that is shown beside another."""

MOST_FRAMES = 10_000


@dataclass(frozen=True)
class Rendered:
    """A picture that was written."""

    source: Loaded
    automaton: Automaton
    file: Path
    steps: tuple[int, ...]
    """Of the frames."""
    height: int
    width: int
    """Of a frame, in pixels."""
    bytes: int


def require_picture(file: str | Path, force: bool = False) -> Path:
    """Return the path of a picture. Raises ConfigError or RunDirectoryError unless it may be."""
    path = Path(file)
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"{file}: give the picture a name that ends in {', '.join(SUFFIXES)}")
    check_output(path, force)
    return path


def render(
    source: Source,
    file: str | Path,
    *,
    size: tuple[int, int] | None = None,
    larger: bool = False,
    steps: int | None = None,
    every: int = 1,
    at: Sequence[int] = (),
    start: str | Path | None = None,
    density: float = 0.5,
    seed: int = 0,
    fire_rate: float | None = None,
    boundary: str | None = None,
    damage: Sequence[Rectangle] = (),
    channels: Sequence[int] = (),
    sheet: bool = False,
    scale: int | None = None,
    frames_per_second: float = 10,
    unsimplified: bool = False,
    force: bool = False,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
) -> Rendered:
    """Draw a rollout: an animation (.gif, .apng, .webp), or a strip of frames (.png).

    Conditions are those of `simulate`, and so are the bits. `larger` shows a grid of four times the
    side beside it, damaged alike. Frames are after every `every`-th step, or after the steps `at`.
    Cells have the colour of up to three channels, by default the visible ones, or as a `sheet` each
    channel has a picture of its own. A cell is `scale` pixels wide.

    Raises what `simulate` raises, and RunDirectoryError if the file cannot be written.
    """
    path = require_picture(file, force)
    require_numbers(steps, density, seed)
    loaded, watched = load(source), Watched(progress, should_stop)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(loaded, "low", progress=progress, should_stop=should_stop)
    automaton = changed(automaton, fire_rate, boundary)
    todo = max(at) if at else automaton.steps if steps is None else steps
    shown = _frames(todo, every, at, path.suffix == ".png")
    view = _view(automaton, channels, sheet)
    sizes = _sizes(automaton, size, larger)
    if scale is not None and not 1 <= scale <= 4096:
        raise ConfigError(f"cells of {scale} pixels: give 1 to 4096")
    if not 0.1 <= frames_per_second <= 50:
        raise ConfigError(f"{frames_per_second:g} frames per second: give 0.1 to 50")
    panels, (height, width) = arrange([view.size(*each) for each in sizes], scale, SIDE, GAP)
    require_pixels(len(shown), height, width)
    frames = [np.full((height, width), BACKGROUND, np.uint8) for _ in shown]
    done = watched.counting("frames:", len(shown) * len(sizes))
    for number, (panel, each) in enumerate(zip(panels, sizes, strict=True)):
        harm = [_scaled(one, each[0] // sizes[0][0]) for one in damage]
        begun = automaton.start if start is None else str(start)
        before = number * len(shown)
        with _begin(automaton, each, begun, density, seed, todo) as simulator:
            hurt = [require_damage(one, simulator.grid.geometry, todo) for one in harm]
            first = simulator.step  # of a saved state
            for index, step in enumerate(shown):
                simulator.run(first + step - simulator.step, hurt)
                panel.draw(frames[index], view.cells(simulator.grid))
                done(before + index + 1)
    labels = [f"step {step}" for step in shown]
    animation = Animation(frames, labels, view.palette, frames_per_second)
    size_written = write(path, animation)
    return Rendered(loaded, automaton, path, tuple(shown), height, width, size_written)


def _frames(steps: int, every: int, at: Sequence[int], still: bool) -> list[int]:
    """Return after which steps there are frames, 0 being the start."""
    if every < 1 or any(step < 0 for step in at):
        raise ConfigError(
            "show every step, or every second, or so: --every 1 or more, --at 0 or more"
        )
    if at:
        shown = sorted(set(at))
    elif still and every == 1:
        shown = sorted({round(steps * n / (STRIP_FRAMES - 1)) for n in range(STRIP_FRAMES)})
    else:
        shown = [*range(0, steps, every), steps]
    if len(shown) > MOST_FRAMES:
        raise ConfigError(
            f"{len(shown)} frames are too many (at most {MOST_FRAMES}): raise --every"
        )
    return shown


def _view(automaton: Automaton, channels: Sequence[int], sheet: bool) -> View:
    """Return which channels are shown. Raises ConfigError unless they can be."""
    labels = automaton.circuit.labels
    unknown = sorted(set(channels) - set(labels))
    if unknown:
        raise ConfigError(
            f"there is no channel {unknown[0]}: the circuit has {', '.join(map(str, labels[:16]))}"
            f"{' …' if len(labels) > 16 else ''} (--unsimplified keeps all that were trained)"
        )
    chosen = tuple(channels) or (labels if sheet else automaton.visible)
    if not sheet and len(chosen) > MOST_COLORED:
        raise ConfigError(
            f"{len(chosen)} channels: colours show up to {MOST_COLORED}; name fewer with "
            "--channels, or draw each by itself with --sheet"
        )
    return View(places(automaton.circuit, chosen), sheet)


def _sizes(
    automaton: Automaton, size: tuple[int, int] | None, larger: bool
) -> list[tuple[int, int]]:
    height, width = size or (automaton.height, automaton.width)
    sizes = [(height, width), *([(LARGER * height, LARGER * width)] if larger else [])]
    if not all(1 <= side <= MOST_SIDE for each in sizes for side in each):
        raise ConfigError(f"{height}×{width} cells: each side must be from 1 to {MOST_SIDE}")
    return sizes


def _scaled(damage: Rectangle, times: int) -> Rectangle:
    """Return damage of the same part of a grid that is larger."""
    y, x, height, width = damage.y, damage.x, damage.height, damage.width
    return replace(damage, y=times * y, x=times * x, height=times * height, width=times * width)


def _begin(
    automaton: Automaton, size: tuple[int, int], start: str, density: float, seed: int, steps: int
) -> Simulator:
    """Return a simulator with its start state."""
    geometry = Geometry(automaton.circuit.channels, *size, automaton.boundary)
    require_memory(geometry)
    conditions = Conditions(geometry, automaton.fire_rate, seed)
    engine = choose_engine(automaton.circuit, conditions, steps)
    simulator = Simulator(automaton.circuit, conditions, engine)
    starts.prepare(simulator, automaton, start, density)
    return simulator
