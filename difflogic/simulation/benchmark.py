"""Measures how fast each engine simulates a circuit, and checks that all agree.

All paths start from the same random state. Measurements of the compiled paths alternate, since the
speed of a shared machine drifts.

Gate rates are compared with the machine's peak rate of bitwise logic. Its kernel runs chains of
AND, OR and XOR on the widest vectors. Two operations read each result, so LLVM cannot join them
into ternary logic: the machine executes exactly the counted operations. A circuit's gates can be
joined on processors with ternary logic (AVX-512), and may therefore exceed this rate.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import Any

from llvmlite import ir

from difflogic.circuit.automaton import Automaton
from difflogic.simulation import native
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.builder import Builder
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import Conditions, Engine, Simulator, require_memory
from difflogic.system.errors import ConfigError
from difflogic.system.json_values import fields_of
from difflogic.system.measuring import Spread, fastest_rate, peak_memory

REPEAT = 10
PART_SECONDS = 0.25
"""Length of one measurement of a compiled path, unless the steps are given."""
INTERPRETER_SECONDS = 3.0
Pause = Callable[[int], None]
"""Called now and then; may raise to stop."""

SMALL_HEIGHT, SMALL_WIDTH, SMALL_STEPS = 320, 333, 21
"""A small grid, where all engines are compared over more steps. Its rows end within a word."""

CHAINS = 12
ROUNDS_UNROLLED = 4
SCALAR_OPS = 32


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
class Check:
    """Whether engines reached the same state."""

    what: str
    equal: bool


@dataclass(frozen=True)
class Report:
    """The measurements. Rates are per second, times in seconds, memory in bytes."""

    name: str
    gates: int
    instructions: int
    """Gates that are computed; gates that only pass an input on are not."""
    geometry: Geometry
    fire_rate: float
    paths: tuple[Path, ...]
    checks: tuple[Check, ...]
    compile_seconds: float
    load_seconds: float
    """Time to find and load the compiled circuit in the cache."""
    clock: float
    """Cycles per second of one core."""
    peak_one_core: float
    """Two-input operations per second, per bit."""
    peak_all_workers: float
    grid_bytes: int
    peak_memory: int | None

    @property
    def agree(self) -> bool:
        """Whether all checks passed."""
        return all(check.equal for check in self.checks)

    def gate_rate(self, path: Path) -> float:
        """Return gates per second, over all cells, by the median."""
        return path.rates(self.geometry.cells).median * self.instructions

    def gates_per_cycle(self, path: Path) -> float:
        """Return gates per clock cycle of each core in use."""
        return self.gate_rate(path) / (self.clock * path.workers)

    def share_of_peak(self, path: Path) -> float:
        """Return the gate rate relative to the machine's peak; ternary logic may exceed 1."""
        peak = self.peak_all_workers if path.workers > 1 else self.peak_one_core
        return self.gate_rate(path) / peak

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
    """Measure a circuit on a random start, `repeat` times for each path.

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
    limits = [_limits(workers)]
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
        path_steps = max(steps or _steps_for(each, pause) for each in simulators[1:])
        for rounds in range(1, repeat + 1):
            for path, simulator in zip(paths[1:], simulators[1:], strict=True):
                path.steps = path_steps
                path.seconds.append(_run(simulator, path_steps, pause))
            progress(rounds + 1)
        if workers > 1:
            checks.append(
                _check_states(simulators[1:], automaton, f"1 and {workers} workers", pause)
            )
    limits.append(_limits(workers))
    clock, peak_one_core, peak_all_workers = map(max, *limits)
    return Report(
        name=automaton.name,
        gates=circuit.gates,
        instructions=gates,
        geometry=geometry,
        fire_rate=automaton.fire_rate,
        paths=tuple(paths),
        checks=tuple(checks),
        compile_seconds=compile_seconds,
        load_seconds=load_seconds,
        clock=clock,
        peak_one_core=peak_one_core,
        peak_all_workers=peak_all_workers,
        grid_bytes=2 * geometry.bytes,
        peak_memory=peak_memory(),
    )


def _limits(workers: int) -> tuple[float, float, float]:
    """Return the clock, and the peak rates of one core and of all workers."""
    return clock_rate(), logic_rate(), logic_rate(workers)


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


def _check_states(
    simulators: list[Simulator], automaton: Automaton, who: str, pause: Pause
) -> Check:
    """Bring all simulators to the same step, and compare their states."""
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
    engines: list[tuple[Engine, int]] = [("interpreter", 1), ("compiled", 1)]
    with ExitStack() as stack:
        simulators = [
            stack.enter_context(Simulator(circuit, conditions, engine, count))
            for engine, count in [*engines, ("compiled", max(2, workers))]
        ]
        for simulator in simulators:
            simulator.randomize()
        simulators[0].run(SMALL_STEPS, progress=pause)
        return _check_states(simulators, automaton, "all", pause)


@cache
def _kernels() -> tuple[Callable[[int, int], int], Callable[[int, int], int], Any]:
    module = ir.Module("peak")
    word = ir.IntType(64)
    for name, emit in (("logic", _emit_logic), ("clock", _emit_clock)):
        function = ir.Function(module, ir.FunctionType(word, [word, word]), name)
        emit(Builder(function, native.vector_words()), *function.args)
    engine = native.load(native.lower(module))
    kind = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    logic, clock = (kind(engine.get_function_address(name)) for name in ("logic", "clock"))
    return logic, clock, engine


def _emit_logic(b: Builder, rounds: Any, seed: Any) -> None:
    def one_round(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        left, *chains = carried
        for turn in range(ROUNDS_UNROLLED):
            for number in range(CHAINS):
                operation = (b.ir.xor, b.ir.or_, b.ir.xor, b.ir.and_)[(turn + number) % 4]
                chains[number] = operation(chains[number], chains[(number + 1) % CHAINS])
        return _count_down(b, left, chains)

    word = seed.type
    starts = [b.splat(b.ir.add(seed, ir.Constant(word, number))) for number in range(CHAINS)]
    _, *chains = b.repeat([rounds, *starts], one_round)
    total = reduce(b.ir.xor, chains)
    b.ir.ret(b.ir.extract_element(total, ir.Constant(ir.IntType(32), 0)))


def _emit_clock(b: Builder, rounds: Any, seed: Any) -> None:
    """Emit a chain of additions and XORs. Each takes one cycle and waits for the one before."""

    def one_round(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        left, value = carried
        for number in range(SCALAR_OPS):
            value = (b.ir.add, b.ir.xor)[number % 2](value, seed)
        return _count_down(b, left, [value])

    b.ir.ret(b.repeat([rounds, seed], one_round)[1])


def _count_down(b: Builder, left: Any, values: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    left = b.ir.sub(left, ir.Constant(left.type, 1))
    return [left, *values], b.ir.icmp_unsigned("!=", left, ir.Constant(left.type, 0))


def logic_rate(workers: int = 1) -> float:
    """Measure two-input operations per second, counted per bit, on all workers together."""
    logic = _kernels()[0]
    bits = 64 * native.vector_words() * CHAINS * ROUNDS_UNROLLED
    if workers == 1:
        return bits * fastest_rate(lambda rounds: logic(rounds, 1))
    from difflogic.engine.workers import Workers

    with Workers(workers) as team:
        return (
            workers * bits * fastest_rate(lambda rounds: team.run(logic, [(rounds, 1)] * workers))
        )


def clock_rate() -> float:
    """Measure the clock of one core, in cycles per second."""
    clock = _kernels()[1]
    return SCALAR_OPS * fastest_rate(lambda rounds: clock(rounds, 3))
