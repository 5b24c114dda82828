"""Measures how fast each engine simulates a circuit, and checks that all agree.

All paths start from the same random state. Measurements of the compiled paths alternate, since the
speed of a shared machine drifts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.simulation import native
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import Engine, Simulator, World, require_memory
from difflogic.system.errors import ConfigError
from difflogic.system.json_values import fields_of
from difflogic.system.measuring import Spread

REPEAT = 10
PART_SECONDS = 0.25
"""Length of one measurement of a compiled path, unless the steps are given."""
INTERPRETER_SECONDS = 3.0
Pause = Callable[[int], None]
"""Called now and then; may raise to stop."""


@dataclass
class Path:
    """One way to simulate, and the times of its measurements, `steps` steps each."""

    name: str
    engine: Engine
    workers: int
    steps: int = 1
    seconds: list[float] = field(default_factory=list)

    def rates(self, cells: int) -> Spread:
        """Return updates of cells per second."""
        return Spread(tuple(cells * self.steps / seconds for seconds in self.seconds))


@dataclass(frozen=True)
class Throughput:
    """The measurements. Rates are per second, times in seconds, memory in bytes."""

    name: str
    gates: int
    geometry: Geometry
    fire_rate: float
    paths: tuple[Path, ...]
    checks: dict[str, bool]
    """Whether engines reached the same state, by what was compared."""
    compile_seconds: float

    @property
    def agree(self) -> bool:
        """Whether all checks passed."""
        return all(self.checks.values())

    def speedup(self, path: Path) -> float:
        """Return how many times as fast as the first path a path is, by medians."""
        cells = self.geometry.cells
        return path.rates(cells).median / self.paths[0].rates(cells).median

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        paths = [
            {
                "name": path.name,
                "workers": path.workers,
                "steps": path.steps,
                "repeat": len(path.seconds),
                "updates_per_second": path.rates(self.geometry.cells).as_dict(),
                "speedup": self.speedup(path),
            }
            for path in self.paths
        ]
        checks = [{"what": what, "equal": equal} for what, equal in self.checks.items()]
        return {**fields_of(self), "paths": paths, "checks": checks}


def run(
    automaton: Automaton,
    size: tuple[int, int],
    workers: int,
    steps: int | None = None,
    repeat: int = REPEAT,
    progress: Callable[[int], None] = lambda done: None,
) -> Throughput:
    """Measure a circuit on a random start of `size`, `repeat` times for each path.

    `progress` gets the number of finished rounds several times a second, and may raise to stop.
    Raises ConfigError if the grids of all paths do not fit into memory, or if the circuit is too
    large to compile.
    """
    circuit = automaton.circuit
    gates = schedule(circuit).gates
    if gates > native.MOST_GATES:
        raise ConfigError(
            f"{gates} gates take too long to compile (at most {native.MOST_GATES}), so there is "
            "nothing to compare; dct simulate interprets such a circuit"
        )
    rounds = 0

    def pause(_: int = 0) -> None:
        progress(rounds)

    geometry = Geometry(circuit.channels, *size, automaton.boundary)
    world = World(geometry, automaton.fire_rate)
    paths = [Path("interpreter", "interpreter", 1), Path("compiled, one core", "compiled", 1)]
    if workers > 1:
        paths.append(Path(f"compiled, {workers} workers", "compiled", workers))
    require_memory(geometry, len(paths))
    compile_seconds = _timed(lambda: native.compile_code(circuit, native.vector_words(), pause))
    checks: dict[str, bool] = {}
    with ExitStack() as stack:
        simulators = [
            stack.enter_context(Simulator(circuit, world, path.engine, path.workers))
            for path in paths
        ]
        for simulator in simulators:
            simulator.randomize(pause=pause)
        _measure_interpreter(paths[0], simulators[0], repeat, pause)
        progress(rounds := 1)
        checks |= _check_states(simulators, "interpreter and compiled", pause)
        path_steps = max(steps or _steps_for(each, pause) for each in simulators[1:])
        for rounds in range(1, repeat + 1):
            for path, simulator in zip(paths[1:], simulators[1:], strict=True):
                path.steps = path_steps
                path.seconds.append(_run(simulator, path_steps, pause))
            progress(rounds + 1)
        if workers > 1:
            checks |= _check_states(simulators[1:], f"1 and {workers} workers", pause)
    return Throughput(
        name=automaton.name,
        gates=circuit.gates,
        geometry=geometry,
        fire_rate=automaton.fire_rate,
        paths=tuple(paths),
        checks=checks,
        compile_seconds=compile_seconds,
    )


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _run(simulator: Simulator, steps: int, pause: Pause) -> float:
    return _timed(lambda: simulator.run(steps, progress=pause))


def _measure_interpreter(path: Path, simulator: Simulator, repeat: int, pause: Pause) -> None:
    """Measure single steps after a warm-up, at least one and as many as time allows."""
    _run(simulator, 1, pause)
    while len(path.seconds) < repeat and sum(path.seconds) < INTERPRETER_SECONDS:
        path.seconds.append(_run(simulator, 1, pause))


def _steps_for(simulator: Simulator, pause: Pause) -> int:
    """Warm up; return how many steps a measurement takes."""
    _run(simulator, 8, pause)
    return max(1, round(8 * PART_SECONDS / _run(simulator, 8, pause)))


def _check_states(simulators: list[Simulator], who: str, pause: Pause) -> dict[str, bool]:
    """Bring all simulators to the same step, and compare their states."""
    last = max(simulator.step for simulator in simulators)
    states = set()
    for simulator in simulators:
        simulator.run(last - simulator.step, progress=pause)
        states.add(simulator.grid.digest(range(simulator.circuit.channels)))
    geometry = simulators[0].grid.geometry
    return {f"{who}, {geometry.height}×{geometry.width}, step {last}": len(states) == 1}
