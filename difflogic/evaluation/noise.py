"""Counting wrong cells while bits flip at random after every step."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.evaluation.scene import Scene
from difflogic.evaluation.scores import Counted
from difflogic.evaluation.trial import count_of_all_steps
from difflogic.simulation.bit_grid import Geometry, pack
from difflogic.simulation.simulator import Simulator, World, choose_engine
from difflogic.system.streams import Purpose, stream

PROBABILITIES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05)
"""Probabilities that a bit flips after a step. Without noise, a cell may be wrong all the same."""

SETTLING_STEPS = 200
NOISY_STEPS = 400
"""Steps before wrong cells count, at least, and steps after which they do."""

NOISY_CELLS = 2**14
MOST_STARTS = 8
"""About as many cells in all, so that large grids do not take long; at most as many starts."""


def count_wrong(automaton: Automaton, scene: Scene, probability: float, starts: int) -> Counted:
    """Count the wrong cells of a scene without damage, all steps of `scene.at` together.

    Each bit flips with this probability after each step, from a random stream of its start. A cell
    is wrong if any loss channel is, and does not count if its target is NaN.
    """
    circuit = automaton.circuit
    grid = scene.grid
    rows = slice(0, scene.grid.height)
    geometry = Geometry(circuit.channels, grid.height, grid.width, grid.boundary)
    channels = [circuit.labels.index(channel) for channel in scene.channels]
    states, drawn = scene.draw(0, starts)
    counts = ~np.isnan(drawn[:, :1])
    wrong = np.zeros((1, starts), np.int64)
    for sample, state in enumerate(states[:, list(circuit.labels)]):
        target = pack(scene.targets(drawn[sample]))
        counted = pack(counts[sample])[:, 0]
        rng = stream(scene.streams.seed, Purpose.EVALUATION_NOISE, scene.streams.epoch, sample)
        seed = int(rng.integers(2**63))
        world = World(geometry, scene.fire_rate, seed, probability)
        # One compiled circuit serves all calls.
        engine = choose_engine(circuit, world, starts * len(PROBABILITIES) * scene.at[-1])
        with Simulator(circuit, world, engine) as running:
            running.grid.load(rows, pack(state))
            for step in scene.at:
                running.run(step - running.step)
                bits = running.grid.cells(rows)[:, channels] ^ target
                cells = np.bitwise_or.reduce(bits, axis=1) & counted
                wrong[0, sample] += np.bitwise_count(cells).sum()
    return count_of_all_steps(f"{100 * probability:g} % noise", scene, wrong)
