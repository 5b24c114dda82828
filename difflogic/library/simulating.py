"""Running circuits on grids of any size: `Conditions` and `simulate`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import Boundary
from difflogic.library.common import (
    MessageCallback,
    Progress,
    ProgressCallback,
    counter,
    require_output,
)
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.simulation import picture, simulator, starts
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import (
    MOST_STEPS,
    Damage,
    Engine,
    Simulator,
    choose_engine,
    rectangle,
    require_memory,
    useful_workers,
)
from difflogic.simulation.starts import NAMES
from difflogic.system import machine
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError, described, did_you_mean

MOST_SIDE = 10**9 - 1
MOST_SEED = 2**63 - 1
BOUNDARIES = ("zero", "periodic")


@dataclass(frozen=True)
class Rectangle:
    """Damage: zeroes cells after the given steps, counted from 1."""

    steps: tuple[int, ...]
    y: int
    x: int
    height: int
    width: int

    def __str__(self) -> str:
        steps = ",".join(map(str, self.steps))
        return f"damage {steps}:{self.y},{self.x},{self.height}x{self.width}"

    def scaled(self, times: int) -> Rectangle:
        """Return damage to the same part of a grid that is `times` as high and wide."""
        y, x, height, width = (times * each for each in (self.y, self.x, self.height, self.width))
        return Rectangle(self.steps, y, x, height, width)

    def place(self, geometry: Geometry, last: int) -> Damage:
        """Return the damage in the simulator's form.

        Raises ConfigError if it lies outside the grid or comes after step `last`.
        """
        end_y, end_x = self.y + self.height, self.x + self.width
        inside = min(self.y, self.x) >= 0 and end_y <= geometry.height and end_x <= geometry.width
        if self.height < 1 or self.width < 1 or not inside:
            raise ConfigError(f"{self}: is not within the {geometry.height}×{geometry.width} cells")
        if not self.steps or min(self.steps) < 1 or max(self.steps) > last:
            raise ConfigError(f"{self}: its steps must be from 1 to {last}")
        return rectangle(self.steps, (self.y, end_y), (self.x, end_x), geometry.width)


@dataclass(frozen=True)
class Conditions:
    """How to run a circuit. None means as in training. Raises ConfigError if out of range."""

    size: tuple[int, int] | None = None
    """Rows and columns."""
    steps: int | None = None
    start: str | Path | npt.NDArray[Any] | None = None
    """random, center, zeros, or a file: an image, a picture as text, an .rle pattern, or an .npz
    state or array. Or an array of bits, of shape (rows, columns), (visible channels, rows, columns)
    or (channels, height, width)."""
    density: float = 0.5
    """Share of ones in a random start."""
    seed: int = 0
    """Seed of random starts and fire masks."""
    fire_rate: float | None = None
    """Probability that a cell updates in a step."""
    boundary: str | None = None
    """zero or periodic."""
    damage: Sequence[Rectangle] = ()
    unsimplified: bool = False
    """Whether to run the circuit as trained, with all its gates and channels."""

    def __post_init__(self) -> None:
        if not isinstance(self.start, str | Path | np.ndarray | None):
            raise ConfigError(
                f"start: is {described(self.start)}: give {', '.join(NAMES)}, "
                "an array of bits, or the name of a file: an image, a picture as text, an .rle "
                "pattern, or an .npz with one array or a state as Simulated.save writes it"
            )
        if self.size is not None and not all(1 <= side <= MOST_SIDE for side in self.size):
            height, width = self.size
            raise ConfigError(f"{height}×{width} cells: each side must be from 1 to {MOST_SIDE}")
        if self.steps is not None and not 0 <= self.steps <= MOST_STEPS:
            raise ConfigError(f"{self.steps} steps: must be from 0 to {MOST_STEPS}")
        if not 0 <= self.density <= 1:
            raise ConfigError(f"density {self.density:g}: must be from 0 to 1")
        if not 0 <= self.seed <= MOST_SEED:
            raise ConfigError(f"seed {self.seed}: must be from 0 to {MOST_SEED}")
        if self.fire_rate is not None and not 0 < self.fire_rate <= 1:
            raise ConfigError(f"fire rate {self.fire_rate:g}: must be above 0 and at most 1")
        if self.boundary not in (None, *BOUNDARIES):
            raise ConfigError(f'no boundary "{self.boundary}": choose {" or ".join(BOUNDARIES)}')

    def automaton(
        self, source: Loaded, effort: str = "low", *, progress: ProgressCallback
    ) -> Automaton:
        """Return the automaton to run: simplified, at this size, with these steps.

        The circuit of a run or a model is simplified unless `unsimplified`. The default effort is
        low, since more would take longer than most simulations. Raises ProofError.
        """
        automaton = source.automaton
        if not self.unsimplified:
            automaton = small_form(source, effort, progress=progress)
        height, width = self.size or (automaton.height, automaton.width)
        return replace(
            automaton,
            height=height,
            width=width,
            fire_rate=automaton.fire_rate if self.fire_rate is None else self.fire_rate,
            boundary=cast(Boundary, self.boundary or automaton.boundary),
            steps=automaton.steps if self.steps is None else self.steps,
        )

    def start_of(self, automaton: Automaton) -> str | npt.NDArray[Any]:
        """Return the start, by default the automaton's own."""
        if isinstance(self.start, np.ndarray):
            return self.start
        return automaton.start if self.start is None else str(self.start)


AS_TRAINED = Conditions()


ENGINES = ("auto", "interpreter", "compiled")
MOST_WORKERS = 1024


@dataclass(frozen=True, eq=False)
class Simulated:
    """The last state of a simulation, and how it was computed."""

    source: Loaded
    automaton: Automaton
    """The automaton that was run."""
    simulator: Simulator
    start: str
    steps: int
    engine: Engine
    workers: int
    seconds: float
    """Wall time of the steps, in seconds."""

    @property
    def grid(self) -> BitGrid:
        """The last state; `bits()` gives it as an array (channels, height, width)."""
        return self.simulator.grid

    @property
    def step(self) -> int:
        """Step number of the last state, counted from the original start."""
        return self.simulator.step

    @property
    def geometry(self) -> Geometry:
        return self.grid.geometry

    @property
    def updates_per_second(self) -> float | None:
        """Cell updates per second; None without steps."""
        return self.geometry.cells * self.steps / self.seconds if self.steps else None

    def populations(self) -> dict[int, int]:
        """Return the number of ones in each visible channel, by channel number."""
        counts = self.grid.populations()
        rows = self.automaton.visible_rows
        return {label: counts[row] for label, row in zip(self.automaton.visible, rows, strict=True)}

    def digest(self) -> str:
        """Return a SHA-256 of the visible channels, the same for all engines and workers."""
        return self.grid.digest(self.automaton.visible_rows)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write all channels to an .npz file that `simulate` can start from."""
        require_output(path, ".npz", force)
        starts.save_state(Path(path), self.simulator)

    def save_picture(self, path: str | Path, *, force: bool = False) -> int:
        """Draw the visible channels as PNG; return the cells per side of a pixel."""
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
    on_message: MessageCallback = ignore,
) -> Simulated:
    """Run a circuit under some conditions, by default as in training.

    All engines and numbers of workers give the same bits; "auto" chooses the fastest engine, and as
    many workers as pay off. `on_message` receives messages about compiling.

    Raises what `load` raises, ConfigError for impossible conditions, and ProofError.
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
    damage = [each.place(geometry, steps) for each in conditions.damage]
    setting = simulator.Conditions(geometry, automaton.fire_rate, conditions.seed)
    chosen, count = _engine(automaton, setting, engine, workers, on_message)
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
    name = start if isinstance(start, str) else "array"
    return Simulated(loaded, automaton, running, name, steps, chosen, count, seconds)


def _engine(
    automaton: Automaton,
    conditions: simulator.Conditions,
    engine: str,
    workers: int | Literal["auto"],
    on_message: MessageCallback,
) -> tuple[Engine, int]:
    """Return the engine and its number of workers; say if compiling takes long, or too long."""
    from difflogic.simulation import native

    circuit, steps = automaton.circuit, automaton.steps
    gates = schedule(circuit).gates
    if engine == "interpreter":
        return "interpreter", 1
    if gates > native.MOST_GATES:
        if steps:
            on_message(
                f"using the interpreter: compiling more than {native.MOST_GATES} gates takes "
                "minutes; dct simplify may leave fewer"
            )
        return "interpreter", 1
    if engine == "auto" and choose_engine(circuit, conditions, steps) == "interpreter":
        return "interpreter", 1
    if not native.is_cached(circuit):
        on_message(f"compiling {circuit.gates} gates, once …")
        problem = native.CACHE.problem()
        if problem is not None:
            on_message(problem)
    if workers != "auto":
        return "compiled", workers
    return "compiled", useful_workers(circuit, conditions, machine.cpu_count())
