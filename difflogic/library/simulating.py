"""Running circuits on grids of any size: `simulate`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from difflogic.circuit.grid import Boundary
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.library.watching import Say, ShouldStop, Watch, Watched, never, unheard, unwatched
from difflogic.model.automaton import Automaton
from difflogic.simulation import picture, starts, state_file
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.damage import Damage, rectangle
from difflogic.simulation.memory import require_memory
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import (
    MOST_STEPS,
    Conditions,
    Engine,
    Simulator,
    choose_engine,
    useful_workers,
)
from difflogic.system import machine
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.files import check_output

ENGINES = ("auto", "interpreter", "compiled")
MOST_SIDE = 10**9 - 1
MOST_WORKERS = 1024


@dataclass(frozen=True)
class Rectangle:
    """Cells that are zeroed after steps of one's choice, counted from 1."""

    steps: tuple[int, ...]
    y: int
    x: int
    height: int
    width: int


@dataclass(frozen=True, eq=False)
class Simulated:
    """The last state, and how it came about."""

    source: Loaded
    automaton: Automaton
    """As it was run."""
    simulator: Simulator
    start: str
    steps: int
    engine: Engine
    workers: int
    seconds: float
    """That the steps took."""

    @property
    def grid(self) -> BitGrid:
        """The last state; `bits()` gives it as an array (channels, height, width)."""
        return self.simulator.grid

    @property
    def step(self) -> int:
        """Steps that the last state is old, with those of the state that it began with."""
        return self.simulator.step

    @property
    def geometry(self) -> Geometry:
        return self.grid.geometry

    @property
    def updates_per_second(self) -> float | None:
        """Cells that were updated per second; None if there was no step."""
        return self.geometry.cells * self.steps / self.seconds if self.steps else None

    def populations(self) -> dict[int, int]:
        """Return how many cells of each visible channel are 1, by its number."""
        counts = self.grid.populations()
        rows = self.automaton.visible_rows
        return {label: counts[row] for label, row in zip(self.automaton.visible, rows, strict=True)}

    def digest(self) -> str:
        """Return a SHA-256 of the visible channels, equal for any engine and any workers."""
        return self.grid.digest(self.automaton.visible_rows)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the state, all channels, to an .npz file that `simulate` can start from."""
        require_output(path, ".npz", force)
        state_file.save(Path(path), self.simulator)

    def save_picture(self, path: str | Path, *, force: bool = False) -> int:
        """Draw the visible channels as PNG; return the side of a pixel's square, in cells."""
        require_output(path, ".png", force)
        return picture.save_picture(Path(path), self.grid, self.automaton.visible_rows)


def require_output(path: str | Path, suffix: str, force: bool = False) -> None:
    """Raise ConfigError or RunDirectoryError unless a file of this kind may be written there."""
    path = Path(path)
    if path.suffix != suffix:
        raise ConfigError(f"{path}: what is written is {suffix}: give the file that name")
    check_output(path, force)


def simulate(
    source: Source,
    *,
    size: tuple[int, int] | None = None,
    steps: int | None = None,
    start: str | Path | None = None,
    density: float = 0.5,
    seed: int = 0,
    fire_rate: float | None = None,
    boundary: str | None = None,
    damage: Sequence[Rectangle] = (),
    engine: str = "auto",
    workers: int | Literal["auto"] = "auto",
    unsimplified: bool = False,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
    say: Say = unheard,
) -> Simulated:
    """Run a circuit on a grid of `size`, rows and columns, for some steps.

    What is not given is as in training. The circuit of a run or a model is simplified first,
    quickly, unless `unsimplified`; `start` is random, with a share `density` of ones, center, zeros
    or a file: an image, a picture as text, a pattern (.rle), or a saved state (.npz). `seed` names
    the random bits of start and masks. The bits are the same with any engine and any number of
    workers; "auto" takes the engine that is done first, and as many workers as gain something.

    Raises what `load` raises, ConfigError for what cannot be done, and ProofError.
    """
    require_numbers(steps, density, seed, engine, workers)
    loaded, watched = load(source), Watched(progress, should_stop)
    automaton = loaded.automaton
    if not unsimplified:
        # To search longer takes longer than most simulations.
        automaton = small_form(loaded, "low", progress=progress, should_stop=should_stop)
    automaton = changed(automaton, fire_rate, boundary)
    height, width = size or (automaton.height, automaton.width)
    if not all(1 <= side <= MOST_SIDE for side in (height, width)):
        raise ConfigError(f"{height}×{width} cells: each side must be from 1 to {MOST_SIDE}")
    geometry = Geometry(automaton.circuit.channels, height, width, automaton.boundary)
    require_memory(geometry)
    todo = automaton.steps if steps is None else steps
    harm = [require_damage(each, geometry, todo) for each in damage]
    conditions = Conditions(geometry, automaton.fire_rate, seed)
    chosen, count = _engine(automaton, conditions, todo, engine, workers, say)
    compiling = f"compiling {automaton.circuit.gates} gates:"

    def pause() -> None:
        watched.update(compiling, 0)

    begun = automaton.start if start is None else str(start)
    with Simulator(automaton.circuit, conditions, chosen, count, pause) as simulator:
        starts.prepare(simulator, automaton, begun, density, lambda: watched.update("start:", 0))
        taken = watched.counting("steps:", todo)
        began = time.perf_counter()
        simulator.run(todo, harm, taken)
        seconds = time.perf_counter() - began
    return Simulated(loaded, automaton, simulator, begun, todo, chosen, count, seconds)


def require_numbers(
    steps: int | None, density: float, seed: int, engine: str = "auto", workers: int | str = "auto"
) -> None:
    """Raise ConfigError for what is out of range."""
    if steps is not None and not 0 <= steps <= MOST_STEPS:
        raise ConfigError(f"{steps} steps: give a number from 0 to {MOST_STEPS}")
    if not 0 <= density <= 1:
        raise ConfigError(f"a density of {density:g}: give one from 0 to 1")
    if not 0 <= seed < 2**63:
        raise ConfigError(f"seed {seed}: give one from 0 to {2**63 - 1}")
    if engine not in ENGINES:
        raise ConfigError(f'no engine "{engine}": {did_you_mean(engine, ENGINES)}')
    if workers != "auto" and not 1 <= int(workers) <= MOST_WORKERS:
        raise ConfigError(f'{workers} workers: give 1 to {MOST_WORKERS}, or "auto"')


def changed(automaton: Automaton, fire_rate: float | None, boundary: str | None) -> Automaton:
    """Return the automaton with what was asked to be different. Raises ConfigError."""
    if fire_rate is not None:
        if not 0 < fire_rate <= 1:
            raise ConfigError(f"a fire rate of {fire_rate:g}: give one above 0 and at most 1")
        automaton = replace(automaton, fire_rate=fire_rate)
    if boundary is not None:
        if boundary not in ("zero", "periodic"):
            raise ConfigError(f'no boundary "{boundary}": zero and periodic are')
        automaton = replace(automaton, boundary=cast(Boundary, boundary))
    return automaton


def require_damage(damage: Rectangle, geometry: Geometry, last: int) -> Damage:
    """Return damage as the simulator knows it. Raises ConfigError unless it can happen."""
    y, x, rows, columns = damage.y, damage.x, damage.height, damage.width
    where = f"damage {','.join(map(str, damage.steps))}:{y},{x},{rows}x{columns}"
    inside = min(y, x) >= 0 and y + rows <= geometry.height and x + columns <= geometry.width
    if rows < 1 or columns < 1 or not inside:
        raise ConfigError(f"{where} is not within the {geometry.height}×{geometry.width} cells")
    if not damage.steps or min(damage.steps) < 1 or max(damage.steps) > last:
        raise ConfigError(f"{where} is not after one of the steps 1 to {last}")
    return rectangle(damage.steps, (y, y + rows), (x, x + columns), geometry.width)


def _engine(
    automaton: Automaton,
    conditions: Conditions,
    steps: int,
    asked: str,
    workers: int | str,
    say: Say,
) -> tuple[Engine, int]:
    """Return the engine and its number of workers, and say what takes time, or what is missing."""
    from difflogic.simulation import native

    circuit = automaton.circuit
    gates = schedule(circuit).gates
    if asked == "interpreter":
        return "interpreter", 1
    if gates > native.MOST_GATES:
        if steps:
            say(
                f"interpreted, as compiling more than {native.MOST_GATES} gates takes minutes: "
                "dct simplify may leave fewer"
            )
        return "interpreter", 1
    if asked == "auto" and choose_engine(circuit, conditions, steps) == "interpreter":
        return "interpreter", 1
    if not native.is_cached(circuit):
        say(f"compiling {circuit.gates} gates, once …")
        problem = native.CACHE.problem()
        if problem is not None:
            say(problem)
    if workers != "auto":
        return "compiled", int(workers)
    return "compiled", useful_workers(circuit, conditions, machine.cpu_count())
