"""Running circuits on grids of any size: `simulate`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from difflogic.library.conditions import AS_TRAINED, Conditions, place_damage
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.outputs import require_output
from difflogic.library.progress import MessageCallback, Progress, ProgressCallback, counter
from difflogic.model.automaton import Automaton
from difflogic.simulation import picture, simulator, starts, state_file
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import (
    Engine,
    Simulator,
    choose_engine,
    require_memory,
    useful_workers,
)
from difflogic.system import machine
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError, did_you_mean

ENGINES = ("auto", "interpreter", "compiled")
MOST_WORKERS = 1024


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
        return picture.save_picture(
            Path(path), self.grid, self.automaton.visible_rows, self.automaton.palette
        )


def simulate(
    source: Source,
    conditions: Conditions = AS_TRAINED,
    *,
    engine: str = "auto",
    workers: int | Literal["auto"] = "auto",
    progress: ProgressCallback = ignore,
    say: MessageCallback = ignore,
) -> Simulated:
    """Run a circuit under some conditions, by default as in training.

    The bits are the same with any engine and any number of workers; "auto" chooses the engine that
    finishes first, and as many workers as pay off.

    Raises what `load` raises, ConfigError for what cannot be done, and ProofError.
    """
    if engine not in ENGINES:
        raise ConfigError(f'no engine "{engine}": {did_you_mean(engine, ENGINES)}')
    if workers != "auto" and not 1 <= workers <= MOST_WORKERS:
        raise ConfigError(f'{workers} workers: must be from 1 to {MOST_WORKERS}, or "auto"')
    loaded = load(source)
    automaton = conditions.automaton(loaded, progress=progress)
    start, steps = conditions.start_of(automaton), automaton.steps
    geometry = Geometry(
        automaton.circuit.channels, automaton.height, automaton.width, automaton.boundary
    )
    require_memory(geometry)
    damage = [place_damage(each, geometry, steps) for each in conditions.damage]
    setting = simulator.Conditions(geometry, automaton.fire_rate, conditions.seed)
    chosen, count = _engine(automaton, setting, engine, workers, say)
    compiling = f"compiling {automaton.circuit.gates} gates:"

    def pause() -> None:
        progress(Progress(compiling, 0))

    with Simulator(automaton.circuit, setting, chosen, count, pause) as running:
        starts.prepare(
            running, automaton, start, conditions.density, lambda: progress(Progress("start:", 0))
        )
        count_step = counter(progress, "steps:", steps)
        began = time.perf_counter()
        running.run(steps, damage, count_step)
        seconds = time.perf_counter() - began
    said = start if isinstance(start, str) else "array"
    return Simulated(loaded, automaton, running, said, steps, chosen, count, seconds)


def _engine(
    automaton: Automaton,
    conditions: simulator.Conditions,
    asked: str,
    workers: int | Literal["auto"],
    say: MessageCallback,
) -> tuple[Engine, int]:
    """Return the engine and its number of workers; say if compiling takes time, or is not done."""
    from difflogic.simulation import native

    circuit, steps = automaton.circuit, automaton.steps
    gates = schedule(circuit).gates
    if asked == "interpreter":
        return "interpreter", 1
    if gates > native.MOST_GATES:
        if steps:
            say(
                f"using the interpreter: compiling more than {native.MOST_GATES} gates takes "
                "minutes; dct simplify may leave fewer"
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
        return "compiled", workers
    return "compiled", useful_workers(circuit, conditions, machine.cpu_count())
