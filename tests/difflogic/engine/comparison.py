"""Comparisons of the engine with the oracle, and problems for them."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit import gates
from difflogic.circuit.grid import NEIGHBORHOOD, Grid
from difflogic.circuit.netlist import Architecture, Netlist, WiredLayers, flatten, wire
from difflogic.circuit.wiring import Wiring
from difflogic.engine import oracle
from difflogic.engine.soft.rollout import Engine
from difflogic.engine.soft.sharing import SEQUENTIAL, Sharing
from difflogic.system.jit import JIT
from difflogic.system.strategy import STRATEGIES
from difflogic.verification.case import DEEP, IRREGULAR, SINGLE, SMALL
from tests.examples import any_boundary, any_seed

# Relative to the largest magnitude. Kernels and oracle add the same numbers in different orders:
# about a thousand roundings of 2^-53 (2^-24). Measured differences are at most 4e-15 (1e-6).
TOLERANCES = {"float64": 1e-12, "float32": 3e-5}

# Without the compiler the kernels are thousands of times slower.
EXAMPLES = 25 if JIT else 6


ONE_LAYER = Architecture(2, 1, (8,), (9, 5, 3, 2))


@dataclass(frozen=True)
class Problem:
    """A circuit with coefficients, on a batch of grids, and dL/d(last states)."""

    netlist: Netlist
    grid: Grid
    steps: int
    coefficients: np.ndarray
    starts: np.ndarray
    masks: np.ndarray | None
    loss_gradients: np.ndarray

    @property
    def batch(self) -> int:
        return len(self.starts)

    def arrays(self, dtype="float64"):
        """Copies of coefficients, starts, masks and loss gradients."""
        masks = None if self.masks is None else self.masks.copy()
        return (
            self.coefficients.astype(dtype),
            self.starts.copy(),
            masks,
            self.loss_gradients.astype(dtype),
        )


def some_channels(rng):
    """One or two of three channels."""
    return sorted(rng.choice(3, int(rng.integers(1, 3)), replace=False).tolist())


def make_problem(netlist, grid, steps, batch, fire_rate=1.0, seed=0):
    """Draw logits, starts, masks and loss gradients. Starts are bits, as in training."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(netlist.parameters, gates.OPS))
    logits[:, gates.PASS_THROUGH] += 2.0
    shape = (batch, netlist.channels, grid.height, grid.width)
    masks = None
    if fire_rate < 1:
        fires = rng.random((batch, steps, grid.height, grid.width)) <= fire_rate
        masks = fires.astype(np.uint8)
    return Problem(
        netlist,
        grid,
        steps,
        gates.mix(gates.softmax(logits)),
        rng.integers(0, 2, shape, dtype=np.uint8),
        masks,
        rng.normal(size=shape),
    )


def run_engine(problem, dtype="float64", sharing=SEQUENTIAL):
    """States of all steps, and dL/d(coefficients)."""
    coefficients, starts, masks, loss_gradients = problem.arrays(dtype)
    grid = problem.grid
    steps = problem.steps
    batch = problem.batch
    with Engine(problem.netlist, grid, steps, batch, dtype, sharing) as engine:
        engine.forward(coefficients, starts, masks)
        gradients = engine.backward(loss_gradients)
        return engine.states(), gradients


def run_oracle(problem):
    """States of all steps, and dL/d(coefficients), sample by sample."""
    states = []
    total = np.zeros_like(problem.coefficients)
    for sample, start in enumerate(problem.starts):
        mask = None if problem.masks is None else problem.masks[sample]
        rollout = oracle.rollout(
            problem.netlist, problem.coefficients, start, problem.steps, problem.grid.boundary, mask
        )
        states.append(rollout)
        total += oracle.coefficient_gradients(
            problem.netlist,
            problem.coefficients,
            rollout,
            problem.loss_gradients[sample],
            problem.grid.boundary,
            mask,
        )
    return np.array(states), total


def compare_with_oracle(problem, dtype="float64", sharing=SEQUENTIAL):
    """Check shapes and types, then the states of every step, then the gradients."""
    states, gradients = run_engine(problem, dtype, sharing)
    expected_states, expected_gradients = run_oracle(problem)
    for found, expected in ((states, expected_states), (gradients, expected_gradients)):
        assert found.shape == expected.shape
        assert found.dtype == dtype
        assert_close(found, expected, TOLERANCES[dtype])


def assert_close(found, expected, tolerance):
    """Compare, relative to the largest expected magnitude."""
    scale = max(float(np.abs(expected).max()), np.finfo(np.float32).tiny)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def arbitrary_circuit(architecture, rng):
    """Wire at random: gates may read one row twice, or be read by nobody."""

    def layers(inputs, sizes):
        for gates_ in sizes:
            a, b = rng.integers(0, inputs, (2, gates_)).astype(np.int32)
            yield Wiring(inputs, a, b)
            inputs = gates_

    wirings = architecture.kernels if architecture.distinct_wiring else 1
    return WiredLayers(
        architecture,
        tuple(tuple(layers(NEIGHBORHOOD, architecture.perception)) for _ in range(wirings)),
        tuple(layers(architecture.update_inputs, architecture.update)),
    )


def some_ops(netlist, rng, passing):
    """Random ops. The share `passing` of the gates passes an input on, as in trained circuits."""
    ops = rng.integers(0, gates.OPS, netlist.parameters)
    passes = rng.choice([gates.Op.A, gates.Op.B], netlist.parameters)
    return np.where(rng.random(len(ops)) < passing, passes, ops).astype(np.uint8)


@st.composite
def netlists(draw):
    """Small circuits: with the published shape and wiring, or arbitrary ones."""
    published = draw(st.booleans())
    if published:
        architecture = draw(st.sampled_from([SMALL, SINGLE, IRREGULAR, ONE_LAYER, DEEP]))
    else:
        channels = draw(st.integers(1, 3))
        perception = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
        update = (*draw(st.lists(st.integers(1, 12), max_size=4)), channels)
        architecture = Architecture(channels, draw(st.integers(1, 3)), perception, update)
    channels = architecture.channels
    one = st.integers(0, channels - 1)
    moving = st.lists(st.tuples(one, st.integers(0, NEIGHBORHOOD - 1), one), max_size=2)
    architecture = replace(
        architecture,
        distinct_wiring=draw(st.booleans()),
        held=tuple(draw(st.sets(one, max_size=channels - 1))),
        moving=tuple(draw(moving)),
    )
    rng = np.random.default_rng(draw(any_seed))
    return flatten((wire if published else arbitrary_circuit)(architecture, rng))


@st.composite
def problems(draw):
    """Problems on grids of any size and boundary, with or without masks."""
    boundary = draw(any_boundary)
    grid = Grid(draw(st.integers(1, 13)), draw(st.integers(1, 13)), boundary)
    return make_problem(
        draw(netlists()),
        grid,
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from([1.0, 0.5])),
        draw(any_seed),
    )


sharings = st.builds(
    Sharing, workers=st.integers(1, 5), strategy=st.sampled_from(["sequential", *STRATEGIES])
)
"""Ways to share the work."""

MOVING = Netlist(
    3,
    a=np.array([21, 22, 23, 27, 13, 13], np.int32),
    b=np.array([15, 16, 17, 12, 12, 12], np.int32),
    param=np.array([0, 0, 0, 1, 2, 3], np.int32),
    outputs=np.array([1, 31, 32], np.int32),
    parameters=4,
)
"""Channel 0 becomes a copy of a neighbour's channel 1."""
COPIES = replace(SMALL, moving=((0, 4, 2), (1, 4, 2)))


def netlist_of(architecture, seed=0):
    return flatten(wire(architecture, np.random.default_rng(seed)))
