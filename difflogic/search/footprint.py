"""How many starts a search looks at, and the memory that it takes, for the plan: an upper bound."""

from __future__ import annotations

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Netlist
from difflogic.config.problem import Problem
from difflogic.engine.hard.slope_memory import CELLS, MOST_SLOPES, most_slopes
from difflogic.engine.kernels.structures import WORDS
from difflogic.tasks.checked import UNSAMPLED_CELLS

MOST_SAMPLES = 64
"""Most starts of a search. Each makes every candidate slower."""

FIRST_STARTS = 8
"""Starts at the beginning of a search. Counterexamples join them."""

VERIFIED_STARTS = 1024
"""Further starts on which a circuit must have no wrong cell. A circuit that is wrong on one start
in 200 passes them once in 170 times."""

ROUND = 256
"""Fresh starts that are checked together for counterexamples."""

SEARCH_CELLS = 1024
"""Cells that a gradient is taken over, about: a few grids, or many small ones."""

SIMULATOR = 80
GRADIENT = 208
BASE = 168
"""Bytes for a row of the netlist: in a simulator, and at most in a gradient and in the base that
candidates differ from."""

LEARNED = 4
CORRECTED = 6
"""Gates to an active one after training, and bits of a picture to a gate that corrects some."""

SHIFTS = {"zero": 9, "periodic": 25}
"""Most shifts, each with a mask, that lead packed cells to their neighbours. On a torus it is one
for the cell itself, two for each neighbour at a side, and four for each at a corner."""

SLOPES = 64
"""Bytes of the slopes of states before and after a step, for each byte of packed states: two
float32 a bit."""


def search_bytes(problem: Problem, netlist: Netlist) -> int:
    """Return the bytes that searches take at most.

    Left out are the values of circuits, about `candidates.MOST_BYTES` at most, and the steps that
    are checked later than a scene's.
    """
    if not problem.finishing.every:
        return 0
    if problem.automaton.places:
        return _correction_bytes(problem, netlist)
    task = problem.task.stages[-1]
    masked = problem.automaton.fire_rate < 1
    damaged = False
    grid = Grid(problem.task.height, problem.task.width, problem.automaton.boundary)
    steps = max(task.decisive_steps)
    starts = FIRST_STARTS + VERIFIED_STARTS
    cases = task.find_cases()
    if cases is not None:
        height, width = cases.starts.shape[2:]
        grid = Grid(height, width, cases.boundary)
        steps = cases.steps
        starts = len(cases.starts)
    elif grid.cells <= UNSAMPLED_CELLS and not masked and not task.has_random_start:
        starts = 1 + sum(task.damages.values())
        steps, damaged = 3 * problem.automaton.steps + 1 if task.holds else steps, starts > 1
    compared = min(MOST_SAMPLES, starts) if cases is None else starts
    channels = netlist.channels
    simulator = 2 * channels + SHIFTS[grid.boundary]

    def batch(samples: int, arrays: int, row: int) -> int:
        """Return the bytes of packed `arrays` of these samples, and of `row` bytes for each row."""
        return arrays * packed_bytes(grid, samples) + row * netlist.rows

    def gradient(samples: int, steps: int) -> int:
        arrays = simulator + (steps + 1 + SLOPES) * channels + 1
        return batch(samples, arrays, GRADIENT) + most_slopes(netlist) * (4 * CELLS + 8)

    # Starts, masks, damage, targets, and what counts at each step.
    arrays = channels + steps * (masked + 2 * damaged) + len(problem.task.loss_channels) + 1
    verified = [min(ROUND, starts)] * -(-starts // ROUND)
    trials = [compared, min(FIRST_STARTS, starts), *verified]
    found = sum(batch(samples, simulator + arrays, SIMULATOR) for samples in trials)
    found += gradient(min(most_samples(grid), starts), problem.automaton.steps)
    found += batch(compared, (steps + 3) * channels + 2, BASE)
    if problem.finishing.rectify and not masked and (cases is not None or starts == 1):
        points = steps * 8 * packed_bytes(grid, starts)
        found += gradient(starts, steps) + netlist.rows * points // 8
        found += min(max(MOST_SLOPES, 4 * points), netlist.gates * 4 * points)
    return found


def _correction_bytes(problem: Problem, netlist: Netlist) -> int:
    """Return the bytes of the proof of a corrected picture: a plane and its opposite per gate."""
    cells = problem.task.height * problem.task.width
    gates = netlist.gates // LEARNED + cells * len(problem.task.loss_channels) // CORRECTED
    return 2 * gates * (cells // 8 + 32)


def packed_bytes(grid: Grid, samples: int) -> int:
    """Return the bytes of one channel's bits, with the padding for shifted reads."""
    furthest = grid.cells if grid.boundary == "periodic" else grid.width + 1
    words = -(-samples * grid.cells // (64 * WORDS)) * WORDS
    return 8 * (words + 2 * (furthest // 64 + 2))


def most_samples(grid: Grid) -> int:
    """Return the most samples that a gradient is taken over."""
    return max(1, SEARCH_CELLS // grid.cells)
