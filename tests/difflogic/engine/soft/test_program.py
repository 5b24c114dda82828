"""Programs: what they consist of; on special circuits, the engine is compared with the oracle."""

import numpy as np
import pytest

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Architecture, Netlist, WiredLayers, flatten
from difflogic.circuit.wiring import Wiring
from difflogic.config import load_config
from difflogic.engine.kernels.structures import FLAGS, LINK, STAR_WIDTH
from difflogic.engine.soft.program import compile_program
from tests.difflogic.engine.comparison import (
    arbitrary_circuit,
    compare_with_oracle,
    make_problem,
    netlist_of,
)


def check(netlist):
    """Compare states and gradients with the oracle's; return the program."""
    compare_with_oracle(make_problem(netlist, Grid(3, 4, "periodic"), 3, 2, 0.7))
    return compile_program(netlist)


@pytest.mark.once
@pytest.mark.parametrize(
    "name", ["checkerboard", "checkerboard-async", "game-of-life", "letter-g", "lizard"]
)
def test_published_architectures_consist_of_stars_and_chains(name):
    architecture = load_config(name).architecture
    netlist = netlist_of(architecture)
    program = compile_program(netlist)
    stars, runs, gates = (
        getattr(program.code.backward, kind) for kind in ("stars", "runs", "gates")
    )
    # A kernel of 8, 4 and 2 gates is two stars; a fourth layer of one gate is a run over them,
    # or a single gate where there is one channel.
    kernels = architecture.kernels
    channels = architecture.channels
    assert len(stars) == 2 * kernels
    assert (stars[:, STAR_WIDTH] == channels).all()
    fourth = kernels if len(architecture.perception) == 4 else 0
    assert len(runs) == (fourth if channels > 1 else 0)
    assert len(gates) == sum(architecture.update) + (fourth if channels == 1 else 0)
    # Unique wiring is a path: most gates of a layer continue a chain.
    assert (gates[:, FLAGS] & LINK > 0).mean() > 0.75
    # The first instruction to reach a gradient stores to it, so nothing needs clearing.
    assert not len(program.code.zero_rows)


def wired(inputs, *pairs):
    a, b = np.array(pairs, np.int32).T
    return Wiring(inputs, a, b)


def test_dead_gates_are_dropped():
    architecture = Architecture(1, 1, (2,), (3, 1))
    circuit = WiredLayers(
        architecture,
        ((wired(9, (0, 4), (1, 4)),),),
        (wired(3, (0, 1), (1, 2), (2, 2)), wired(3, (0, 0))),
    )
    netlist = flatten(circuit)
    program = check(netlist)
    # Left: the output, the update gate that it reads twice, and one perception gate.
    assert program.gates == len(program.code.backward.gates) == 3


def test_perception_and_update_read_different_channels_of_a_neighbour():
    # The update circuit reads only one of the centre's two channels, as a loaded model may. So the
    # gradients of the two rows are first written by different instructions.
    architecture = Architecture(2, 1, (1,), (2,))
    circuit = WiredLayers(architecture, ((wired(9, (0, 4)),),), (wired(4, (1, 2), (3, 3)),))
    check(flatten(circuit))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        check(flatten(arbitrary_circuit(Architecture(2, 2, (3, 3, 2), (3, 2)), rng)))


def circuit_of_one_kernel(first_layer, *update):
    """One channel and one kernel of 8, 4 and 2 gates; its tree is the article's."""
    inputs = [3, *(len(layer) for layer in update)]
    architecture = Architecture(1, 1, (8, 4, 2), tuple(inputs[1:]))
    perception = (
        wired(9, *first_layer),
        wired(8, (0, 1), (2, 3), (4, 5), (6, 7)),
        wired(4, (0, 1), (2, 3)),
    )
    layers = tuple(wired(n, *layer) for n, layer in zip(inputs, update, strict=False))
    return WiredLayers(architecture, (perception,), layers)


MOORE = [(n, 4) for n in (0, 1, 2, 3, 5, 6, 7, 8)]


def test_a_star_needs_inner_gates_that_nobody_else_reads():
    plain = flatten(circuit_of_one_kernel(MOORE, [(1, 2), (0, 1)], [(0, 1)]))
    assert len(check(plain).code.backward.stars) == 2
    # The update gate that reads the centre reads a gate inside the first star instead.
    a = plain.a.copy()
    a[(plain.a == 4) & (np.arange(plain.gates) >= 14)] = plain.inputs
    tapped = Netlist(plain.channels, a, plain.b, plain.param, plain.outputs, plain.parameters)
    assert len(check(tapped).code.backward.stars) == 1


def test_a_star_whose_leaf_is_its_centre():
    first = [(4, 4), *MOORE[1:]]
    check(flatten(circuit_of_one_kernel(first, [(1, 2), (0, 1)], [(0, 1)])))
