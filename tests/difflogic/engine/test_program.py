"""Programs run on symbols instead of numbers: each read must see the right symbol."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.netlist import Architecture, Netlist, WiredLayers, flatten
from difflogic.circuit.wiring import Wiring
from difflogic.config import load_config
from difflogic.engine.kernels.structures import (
    ADD_A,
    ADD_B,
    FLAGS,
    GRAD_A,
    GRAD_B,
    GRAD_OUT,
    LINK,
    LINKED,
    OUT,
    PARAM,
    STAR_ADDS,
    STAR_CENTER,
    STAR_GRAD_CENTER,
    STAR_GRAD_LEAVES,
    STAR_GRAD_OUT,
    STAR_LEAVES,
    STAR_OUT,
    STAR_PARAMS,
    STAR_WIDTH,
    WIDTH,
    A,
    B,
)
from difflogic.engine.program import compile_program
from difflogic.model.model import Model
from tests.difflogic.circuit.test_netlist import EXPERIMENTS
from tests.difflogic.engine.comparison import (
    EXAMPLES,
    IRREGULAR,
    ONE_LAYER,
    SINGLE,
    SMALL,
    arbitrary_circuit,
    netlist_of,
    netlists,
)

ARCHITECTURES = {"small": SMALL, "single": SINGLE, "irregular": IRREGULAR, "one layer": ONE_LAYER}
ARCHITECTURES |= {
    f"{name}, distinct": replace(architecture, distinct_wiring=True)
    for name, architecture in ARCHITECTURES.items()
}


class Symbols:
    """A netlist's values as symbols: one for each distinct (param, symbol of a, symbol of b)."""

    def __init__(self, netlist):
        self.numbers = {}
        self.rows = list(range(netlist.inputs))
        for a, b, param in zip(netlist.a, netlist.b, netlist.param, strict=True):
            key = (int(param), self.rows[a], self.rows[b])
            assert key not in self.numbers, "two gates compute the same: the test cannot tell"
            self.numbers[key] = len(self.rows)
            self.rows.append(len(self.rows))

    def gate(self, param, a, b):
        """The netlist row of this gate; fails if there is no such gate."""
        return self.numbers[int(param), a, b]


def star_gates(row):
    """Leaves, centre and parameters of a star."""
    leaves = row[STAR_LEAVES : STAR_LEAVES + 4]
    params = row[STAR_PARAMS : STAR_PARAMS + 7]
    return leaves, row[STAR_CENTER], params


def run_forward(code, symbols, tile):
    """Execute instructions on a tile of symbols, like the kernels: stars, runs, gates."""
    for row in code.stars:
        leaves, center, params = star_gates(row)
        inner = range(row[STAR_WIDTH])
        out = []
        for i in inner:
            first = [
                symbols.gate(params[n], tile[leaf + i], tile[center + i])
                for n, leaf in enumerate(leaves)
            ]
            second = [
                symbols.gate(params[4], first[0], first[1]),
                symbols.gate(params[5], first[2], first[3]),
            ]
            out.append(symbols.gate(params[6], *second))
        tile[row[STAR_OUT] : row[STAR_OUT] + len(out)] = out
    for row in code.runs:
        # Row by row: a copy may overwrite its own inputs, but not those of later copies.
        for i in range(row[WIDTH]):
            a, b = tile[row[A] + i], tile[row[B] + i]
            tile[row[OUT] + i] = symbols.gate(row[PARAM], a, b)
    held = None
    for row in code.gates:
        assert row[WIDTH] == 1
        a = held if row[FLAGS] & LINK else tile[row[A]]
        held = tile[row[B]]
        tile[row[OUT]] = symbols.gate(row[PARAM], a, held)


def new_tile(rows, netlist):
    return list(range(netlist.inputs)) + [None] * (rows - netlist.inputs)


class Gradients:
    """A gradient tile of symbols: each row holds the parts that were added to it.

    A part is (gate, "a" or "b"), the contribution of a gate to one of its inputs. A row holds
    garbage until something is stored to it, like reused memory.
    """

    def __init__(self, rows):
        self.rows = [["garbage"] for _ in range(rows)]

    def put(self, row, adds, parts):
        self.rows[row] = (self.rows[row] if adds else []) + parts

    def read(self, row):
        return sorted(self.rows[row])


def expected_parts(netlist):
    """The parts of each row's gradient, from the gates that outputs depend on."""
    live = np.zeros(netlist.rows, bool)
    live[netlist.outputs] = True
    parts = [[] for _ in range(netlist.rows)]
    for channel, row in enumerate(netlist.outputs):
        parts[row].append((channel, "output"))
    for gate in range(netlist.gates - 1, -1, -1):
        out = netlist.inputs + gate
        if live[out]:
            live[[netlist.a[gate], netlist.b[gate]]] = True
            parts[netlist.a[gate]].append((out, "a"))
            parts[netlist.b[gate]].append((out, "b"))
    return [sorted(p) for p in parts], live


def run_backward(program, netlist, symbols):
    """Walk back on symbols and check the gradient that every gate reads; return these gates."""
    expected, live = expected_parts(netlist)
    tile = new_tile(program.backward_rows, netlist)
    run_forward(program.backward, symbols, tile)
    grad = Gradients(program.gradient_rows)
    for channel, row in enumerate(program.backward.grad_outputs):
        grad.put(row, False, [(channel, "output")])
        held = program.backward.outputs[channel]
        if held < netlist.inputs:
            grad.put(held, False, [(channel, "output")])
    for row in program.zero_rows:
        grad.put(row, False, [])
    met = []

    def meet(out, row=None):
        """Visit a gate: its gradient must be complete, or empty if no output needs the gate."""
        met.append(out)
        if row is not None:
            assert grad.read(row) == (expected[out] if live[out] else [])
        # A dead copy contributes zero.
        return lambda side: [(out, side)] if live[out] else []

    held, carried = None, []
    for row in program.backward.gates[::-1]:
        flags = row[FLAGS]
        if not flags & LINKED:
            held, carried = tile[row[B]], []
        a = tile[row[A]]
        parts = meet(symbols.gate(row[PARAM], a, held), row[GRAD_OUT])
        grad.put(row[GRAD_B], flags & ADD_B, carried + parts("b"))
        held, carried = a, parts("a")
        if not flags & LINK:
            grad.put(row[GRAD_A], flags & ADD_A, carried)
    for row in program.backward.runs[::-1]:
        for i in range(row[WIDTH]):
            a, b = tile[row[A] + i], tile[row[B] + i]
            parts = meet(symbols.gate(row[PARAM], a, b), row[GRAD_OUT] + i)
            grad.put(row[GRAD_B] + i, row[FLAGS] & ADD_B, parts("b"))
            grad.put(row[GRAD_A] + i, row[FLAGS] & ADD_A, parts("a"))
    for row in program.backward.stars[::-1]:
        leaves, center, params = star_gates(row)
        for i in range(row[STAR_WIDTH]):
            first = [
                symbols.gate(params[n], tile[leaf + i], tile[center + i])
                for n, leaf in enumerate(leaves)
            ]
            second = [symbols.gate(params[4 + n], *first[2 * n : 2 * n + 2]) for n in range(2)]
            meet(symbols.gate(params[6], *second), row[STAR_GRAD_OUT] + i)
            for gate in second:
                meet(gate)
            # The kernel holds the centre's gradient while it adds to the leaves'.
            place = row[STAR_GRAD_CENTER] + i
            adds = row[STAR_ADDS]
            to_center = grad.rows[place] if adds & 16 else []
            for n, gate in enumerate(first):
                parts = meet(gate)
                to_center = to_center + parts("b")
                grad.put(row[STAR_GRAD_LEAVES + n] + i, adds & 1 << n, parts("a"))
            grad.put(place, False, to_center)
    for row in range(netlist.inputs):
        assert grad.read(row) == expected[row]
    return met, live


def check(netlist):
    """Check both directions of a netlist's program on symbols."""
    program = compile_program(netlist)
    symbols = Symbols(netlist)
    for code, rows in (
        (program.forward, program.forward_rows),
        (program.backward, program.backward_rows),
    ):
        tile = new_tile(rows, netlist)
        run_forward(code, symbols, tile)
        assert [tile[row] for row in code.outputs] == netlist.outputs.tolist()
    met, live = run_backward(program, netlist, symbols)
    assert len(met) == len(set(met))
    # All live gates are visited; a dead one only with a live copy of it.
    assert set(np.flatnonzero(live)) - set(range(netlist.inputs)) <= set(met)
    return program


@pytest.mark.thorough
@settings(max_examples=4 * EXAMPLES)
@given(netlists())
def test_every_read_sees_the_right_value_and_gradient(netlist):
    check(netlist)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_named_architectures(name):
    program = check(netlist_of(ARCHITECTURES[name]))
    assert program.inputs == 9 * ARCHITECTURES[name].channels
    assert program.parameters == ARCHITECTURES[name].parameters


@pytest.mark.thorough
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_published_architectures_consist_of_stars_and_chains(name):
    architecture = EXPERIMENTS[name][0]
    netlist = netlist_of(architecture)
    program = compile_program(netlist) if architecture.gates > 10000 else check(netlist)
    stars, runs, gates = (getattr(program.backward, kind) for kind in ("stars", "runs", "gates"))
    # A kernel of 8, 4 and 2 gates is two stars; a fourth layer of one gate is a run over them,
    # or a single gate where there is one channel.
    kernels, channels = architecture.kernels, architecture.channels
    assert len(stars) == 2 * kernels
    assert (stars[:, STAR_WIDTH] == channels).all()
    fourth = kernels if len(architecture.perception) == 4 else 0
    assert len(runs) == (fourth if channels > 1 else 0)
    assert len(gates) == sum(architecture.update) + (fourth if channels == 1 else 0)
    # Unique wiring is a path: most gates of a layer continue a chain.
    assert (gates[:, FLAGS] & LINK > 0).mean() > 0.75
    # The first instruction to reach a gradient stores to it, so nothing needs clearing.
    assert not len(program.zero_rows)


def wired(inputs, *pairs):
    a, b = np.array(pairs, np.int32).T
    return Wiring(inputs, a, b)


@pytest.mark.parametrize("name", ["game-of-life"])
def test_gates_in_runs_and_stars_are_counted(name):
    config = load_config(name)
    architecture, netlist = config.architecture, Model.create(config).netlist
    assert compile_program(netlist).gates == architecture.gates == netlist.gates


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
    assert len(program.backward.gates) == 3
    assert program.gates == 3
    assert set(program.backward.gates[:, PARAM]) == {0, 2, 5}
    # Inputs that no live gate reads have a gradient of zero.
    assert sorted(program.zero_rows) == [1, 2, 3, 5, 6, 7, 8]


def test_copies_that_nobody_reads_have_no_gradient():
    # Of two channels' copies of the perception gate, only the first is read.
    architecture = Architecture(2, 1, (1,), (2,))
    circuit = WiredLayers(architecture, ((wired(9, (0, 4)),),), (wired(4, (2, 0), (2, 1)),))
    program = check(flatten(circuit))
    unread = set(program.zero_rows) - set(range(program.inputs))
    assert unread == {program.backward.runs[0, GRAD_OUT] + 1}


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
    assert len(check(plain).backward.stars) == 2
    # The update gate that reads the centre reads a gate inside the first star instead.
    a = plain.a.copy()
    a[(plain.a == 4) & (np.arange(plain.gates) >= 14)] = plain.inputs
    tapped = Netlist(plain.channels, a, plain.b, plain.param, plain.outputs, plain.parameters)
    assert len(check(tapped).backward.stars) == 1


def test_a_star_whose_leaf_is_its_centre():
    first = [(4, 4), *MOORE[1:]]
    check(flatten(circuit_of_one_kernel(first, [(1, 2), (0, 1)], [(0, 1)])))


def test_a_gate_reading_one_row_twice():
    twice = ([(1, 1), (2, 2)], [(0, 0), (1, 1)], [(1, 1)])
    check(flatten(circuit_of_one_kernel(MOORE, *twice)))
