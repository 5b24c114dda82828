"""The search's kernels against plain evaluation, case by case."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.simplification import nets
from difflogic.simplification.kernels.annealing import substitute
from difflogic.simplification.kernels.nets import VIRTUAL, Net, simulate
from difflogic.simplification.kernels.windows import extract, find_window, put_back
from tests.difflogic.circuit.circuits import all_cases, circuits
from tests.examples import examples

few = examples(30)


def values(net: Net, cases: np.ndarray) -> list[np.ndarray]:
    """Return the value of each node in each case, gate by gate."""
    rows = [np.zeros(cases.shape[1], int), *cases.astype(int)]
    for node in range(1 + net.inputs, net.size[0]):
        rows.append(TRUTH_TABLES[net.op[node]][2 * rows[net.a[node]] + rows[net.b[node]]])
    return rows


def outputs(net: Net, cases: np.ndarray) -> np.ndarray:
    rows = values(net, cases)
    return np.array([rows[output >> 1] ^ (output & 1) for output in net.outputs])


class TestClean:
    def test_folds_every_op_of_every_pair_of_literals(self) -> None:
        cases = all_cases(2)
        for op, x, y in product(range(16), range(6), range(6)):
            net = nets.new_net(2, 1, 3)
            # Two inverters or pass-throughs come first, so that all literals occur.
            net.op[3:6] = 12 if x & 1 else 3, 12 if y & 1 else 3, op
            net.a[3:6] = (x >> 1, y >> 1, 3)
            net.b[3:6] = (0, 0, 4)
            net.size[0] = 6
            net.outputs[0] = 2 * 5
            found = nets.cleaned(net)
            assert (outputs(found, cases) == outputs(net, cases)).all()
            assert nets.gates(found) <= 1

    @few
    @given(circuits(channels=1))
    def test_keeps_the_function_whatever_the_order_of_nodes(self, circuit: Circuit) -> None:
        net = nets.from_circuit(circuit)
        cases = all_cases(9)
        wanted = outputs(net, cases)
        shuffled = nets.new_net(9, 1, nets.gates(net))
        first = 10
        size = int(net.size[0])
        order = np.random.default_rng(1).permutation(size - first) + first
        place = np.concatenate([np.arange(first), order])
        shuffled.op[place[:size]] = net.op[:size]
        shuffled.a[place[:size]] = place[net.a[:size]]
        shuffled.b[place[:size]] = place[net.b[:size]]
        shuffled.size[0] = size
        shuffled.outputs[0] = 2 * place[net.outputs[0] >> 1] | net.outputs[0] & 1
        found = nets.cleaned(shuffled)
        assert (outputs(found, cases) == wanted).all()
        assert nets.gates(found) == nets.gates(net)


class TestSubstitution:
    @few
    @given(circuits(channels=1, fewest=3), st.integers(0, 100), st.integers(0, 9))
    def test_keeps_the_outputs(self, circuit: Circuit, chosen: int, seed: int) -> None:
        net = nets.cleaned(nets.from_circuit(circuit), room=VIRTUAL)
        if not nets.gates(net):
            return
        cases = all_cases(9)
        wanted = outputs(net, cases)
        work = nets.new_work(len(net.op), 9, seed)
        simulate(net, work.table)
        substitute(net, work, 10 + chosen % nets.gates(net))
        assert (outputs(nets.cleaned(net), cases) == wanted).all()


class TestWindow:
    @few
    @given(circuits(channels=2, fewest=4), st.integers(0, 100))
    def test_can_be_taken_out_and_put_back(self, circuit: Circuit, chosen: int) -> None:
        net = nets.cleaned(nets.from_circuit(circuit), room=40)
        if not nets.gates(net):
            return
        size = int(net.size[0])
        leaves = np.zeros(2 * size + 8, np.int32)
        marks = np.zeros((3, size), bool)
        root = 19 + chosen % nets.gates(net)
        count = find_window(net, leaves, 5, root, marks)
        part = nets.new_net(count, size, size)
        taken = extract(net, leaves, count, marks[1], np.zeros(size, np.int32), part)
        part = part._replace(outputs=part.outputs[:taken])
        cases = all_cases(18)[:, ::977]
        wanted = outputs(net, cases)
        put_back(net, leaves, count, nets.cleaned(part))
        again = nets.cleaned(net)
        assert nets.gates(again) <= size - 19
        assert (outputs(again, cases) == wanted).all()
