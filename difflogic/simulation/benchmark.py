"""How fast a circuit is simulated here, by each engine, and whether all compute the same.

Measurements of the compiled paths alternate, since the speed of a shared machine drifts. All
start from the same random state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from difflogic.circuit.circuit import Circuit
from difflogic.model.automaton import Automaton
from difflogic.simulation import native, peak
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import Conditions, Engine, Simulator, require_memory
from difflogic.system.errors import ConfigError
from difflogic.system.json_values import fields_of
from difflogic.system.measuring import Spread, peak_memory

REPEAT = 10
PART_SECONDS = 0.25
"""Of one measurement of a compiled path, unless the steps are given."""
INTERPRETER_SECONDS = 3.0
Pause = Callable[[int], None]
"""Is called now and then, and may raise to stop."""

SMALL_HEIGHT, SMALL_WIDTH, SMALL_STEPS = 320, 333, 21
"""A grid on which all engines are compared over more steps: rows that end within a word."""


@dataclass
class Path:
    """One way to simulate, and what its measurements of `steps` steps each took."""

    name: str
    engine: Engine
    workers: int
    steps: int = 1
    seconds: list[float] = field(default_factory=list)

    def rates(self, cells: int) -> Spread:
        """Return updates of cells per second."""
        return Spread(tuple(cells * self.steps / seconds for seconds in self.seconds))


@dataclass(frozen=True)
class Check:
    """Whether engines came to the same state."""

    what: str
    equal: bool


@dataclass(frozen=True)
class Report:
    """What was measured. Rates per second, times in seconds, memory in bytes."""

    name: str
    gates: int
    instructions: int
    """Gates that are computed, which are fewer where some only hand an input on."""
    geometry: Geometry
    fire_rate: float
    paths: tuple[Path, ...]
    checks: tuple[Check, ...]
    compile_seconds: float
    load_seconds: float
    """To find and load the compiled circuit in the cache."""
    clock: float
    """Cycles per second of one core."""
    peak_one_core: float
    """Two-input operations per second, counted per bit."""
    peak_all_workers: float
    grid_bytes: int
    peak_memory: int | None

    @property
    def agree(self) -> bool:
        """Whether all checks passed."""
        return all(check.equal for check in self.checks)

    def gate_rate(self, path: Path) -> float:
        """Return gates per second, counted per cell, of the median measurement."""
        return path.rates(self.geometry.cells).median * self.instructions

    def gates_per_cycle(self, path: Path) -> float:
        """Return the same per cycle of all workers' cores."""
        return self.gate_rate(path) / (self.clock * path.workers)

    def share_of_peak(self, path: Path) -> float:
        """Return gates as part of the machine's two-input operations; ternary logic exceeds 1."""
        every = path.workers > 1
        return self.gate_rate(path) / (self.peak_all_workers if every else self.peak_one_core)

    def speedup(self, path: Path) -> float:
        """Return how many times faster than the first path a path is, by medians."""
        cells = self.geometry.cells
        return path.rates(cells).median / self.paths[0].rates(cells).median

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        paths = [
            {
                "name": path.name,
                "workers": path.workers,
                "steps": path.steps,
                "repeat": len(path.seconds),
                "updates_per_second": path.rates(self.geometry.cells).as_dict(),
                "speedup": self.speedup(path),
                "gates_per_cycle": self.gates_per_cycle(path),
                "share_of_peak": self.share_of_peak(path),
            }
            for path in self.paths
        ]
        return {**fields_of(self), "paths": paths}


def run(
    automaton: Automaton,
    height: int,
    width: int,
    workers: int,
    steps: int | None = None,
    repeat: int = REPEAT,
    progress: Callable[[int], None] = lambda done: None,
) -> Report:
    """Measure a circuit on a random start, `repeat` times each path.

    `progress` is called with the rounds of measurements done, several times a second, and may
    raise to stop. Raises ConfigError if the grids of all paths do not fit into memory, and for a
    circuit that is too large to be compiled.
    """
    circuit = automaton.circuit
    _require_compilable(circuit)
    rounds = 0

    def pause(_: int = 0) -> None:
        progress(rounds)

    geometry = Geometry(circuit.channels, height, width, automaton.boundary)
    conditions = Conditions(geometry, automaton.fire_rate)
    paths = [Path("interpreter", "interpreter", 1), Path("compiled, one core", "compiled", 1)]
    if workers > 1:
        paths.append(Path(f"compiled, {workers} workers", "compiled", workers))
    require_memory(geometry, len(paths))
    compile_seconds = _timed(lambda: native.compile_code(circuit, native.vector_words(), pause))
    native.native(circuit, pause)
    load_seconds = _timed(lambda: native.native(circuit, pause))
    checks = [_check_small(automaton, workers, pause)]
    clock, peaks = peak.clock_rate(), [(peak.logic_rate(), peak.logic_rate(workers))]
    with ExitStack() as stack:
        simulators = [
            stack.enter_context(Simulator(circuit, conditions, path.engine, path.workers))
            for path in paths
        ]
        for simulator in simulators:
            simulator.randomize(pause=pause)
        _measure_interpreter(paths[0], simulators[0], repeat, pause)
        progress(rounds := 1)
        checks.append(_check_states(simulators, automaton, "interpreter and compiled", pause))
        for path, simulator in zip(paths[1:], simulators[1:], strict=True):
            path.steps = steps or _steps_for(simulator, pause)
        path_steps = max(path.steps for path in paths[1:])
        for rounds in range(1, repeat + 1):
            for path, simulator in zip(paths[1:], simulators[1:], strict=True):
                path.steps = path_steps
                path.seconds.append(_run(simulator, path_steps, pause))
            progress(rounds + 1)
        if workers > 1:
            checks.append(
                _check_states(simulators[1:], automaton, f"1 and {workers} workers", pause)
            )
    clock = max(clock, peak.clock_rate())
    peaks.append((peak.logic_rate(), peak.logic_rate(workers)))
    return Report(
        automaton.name,
        circuit.gates,
        schedule(circuit).gates,
        geometry,
        automaton.fire_rate,
        tuple(paths),
        tuple(checks),
        compile_seconds,
        load_seconds,
        clock,
        max(one for one, _ in peaks),
        max(every for _, every in peaks),
        2 * geometry.bytes,
        peak_memory(),
    )


def _require_compilable(circuit: Circuit) -> None:
    gates = schedule(circuit).gates
    if gates > native.MOST_GATES:
        raise ConfigError(
            f"{gates} gates take too long to compile (at most {native.MOST_GATES}): there is "
            "nothing to compare; dct simulate interprets such a circuit"
        )


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _run(simulator: Simulator, steps: int, pause: Pause) -> float:
    """Take steps; return the seconds they took."""
    return _timed(lambda: simulator.run(steps, progress=pause))


def _measure_interpreter(path: Path, simulator: Simulator, repeat: int, pause: Pause) -> None:
    """Measure single steps after a warm-up, as many as time allows and at least one."""
    _run(simulator, 1, pause)
    while len(path.seconds) < repeat and sum(path.seconds) < INTERPRETER_SECONDS:
        path.seconds.append(_run(simulator, 1, pause))


def _steps_for(simulator: Simulator, pause: Pause) -> int:
    """Warm up; return how many steps a measurement takes."""
    _run(simulator, 8, pause)
    return max(1, round(8 * PART_SECONDS / _run(simulator, 8, pause)))


def _check_states(
    simulators: list[Simulator], automaton: Automaton, who: str, pause: Pause
) -> Check:
    """Take all to the step of the furthest, and compare the states."""
    last = max(simulator.step for simulator in simulators)
    states = set()
    for simulator in simulators:
        simulator.run(last - simulator.step, progress=pause)
        states.add(simulator.grid.digest(range(automaton.circuit.channels)))
    geometry = simulators[0].grid.geometry
    return Check(f"{who}, {geometry.height}×{geometry.width}, step {last}", len(states) == 1)


def _check_small(automaton: Automaton, workers: int, pause: Pause) -> Check:
    circuit = automaton.circuit
    geometry = Geometry(circuit.channels, SMALL_HEIGHT, SMALL_WIDTH, automaton.boundary)
    conditions = Conditions(geometry, automaton.fire_rate, seed=1)
    simulators = []
    with ExitStack() as stack:
        engines: list[tuple[Engine, int]] = [("interpreter", 1), ("compiled", 1)]
        for engine, count in [*engines, ("compiled", max(2, workers))]:
            simulator = stack.enter_context(Simulator(circuit, conditions, engine, count))
            simulator.randomize()
            simulators.append(simulator)
        simulators[0].run(SMALL_STEPS, progress=pause)
        return _check_states(simulators, automaton, "all", pause)
