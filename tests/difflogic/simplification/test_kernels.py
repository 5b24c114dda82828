"""The search's kernels against plain evaluation, case by case."""

from itertools import product

import numpy as np

from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.simplification import nets
from difflogic.simplification.kernels.nets import Net
from tests.difflogic.circuit.circuits import all_cases
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


def test_every_op_of_every_pair_of_literals_is_folded() -> None:
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
