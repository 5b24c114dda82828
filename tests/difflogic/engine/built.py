"""Circuits built by hand."""

import numpy as np

from difflogic.circuit.gates import Op
from difflogic.circuit.grid import CENTER
from difflogic.circuit.netlist import Netlist
from tests.difflogic.circuit import circuits


class Builder(circuits.Builder):
    """Builds a netlist gate by gate, each with its own logits."""

    def finish(self, *outputs):
        """The netlist, and the op of each parameter."""
        ops, a, b = np.array(self.gates).T.astype(np.int32)
        n = np.arange(len(ops), dtype=np.int32)
        netlist = Netlist(self.channels, a, b, n, np.array(outputs, np.int32), len(ops))
        return netlist, ops.astype(np.uint8)


def read_once(channels, rng):
    """A netlist in which no row is read twice: each channel has a tree over its share of inputs."""
    gate = Builder(channels)
    rows = rng.permutation(9 * channels)
    outputs = []
    for leaves in np.array_split(rows, channels):
        level = leaves.tolist()
        while len(level) > 1:
            a, b = (level.pop(rng.integers(len(level))) for _ in range(2))
            level.append(gate(Op.A, a, b))
        outputs.append(level[0])
    return gate.finish(*outputs)[0]


def game_of_life():
    """Conway's rule by counting neighbours with adders; bit 3 of the count is left out (8 = 0)."""
    gate = Builder()

    def add(x, y, z):
        half = gate(Op.XOR, x, y)
        carry = gate(Op.OR, gate(Op.AND, x, y), gate(Op.AND, half, z))
        return gate(Op.XOR, half, z), carry

    neighbors = [n for n in range(9) if n != CENTER]
    ones1, twos1 = add(*neighbors[:3])
    ones2, twos2 = add(*neighbors[3:6])
    ones3 = gate(Op.XOR, *neighbors[6:])
    twos3 = gate(Op.AND, *neighbors[6:])
    ones, twos4 = add(ones1, ones2, ones3)
    twos5, fours1 = add(twos1, twos2, twos3)
    twos = gate(Op.XOR, twos5, twos4)
    fours2 = gate(Op.AND, twos5, twos4)
    fours = gate(Op.OR, fours1, fours2)
    # Alive with three neighbours, or with two if it was alive.
    odd_or_alive = gate(Op.OR, ones, CENTER)
    two_or_three = gate(Op.A_AND_NOT_B, twos, fours)
    return gate.finish(gate(Op.AND, odd_or_alive, two_or_three))
