"""Circuits built by hand."""

import numpy as np

from difflogic.circuit.hard_netlist import netlist_of
from difflogic.circuit.netlist import Netlist
from tests.difflogic.circuit import circuits
from tests.difflogic.circuit.rules import life_automaton


class Builder(circuits.Builder):
    """Builds a netlist gate by gate, each with its own logits."""

    def finish(self, *outputs):
        """The netlist, and the op of each parameter."""
        ops, a, b = np.array(self.gates).T.astype(np.int32)
        n = np.arange(len(ops), dtype=np.int32)
        netlist = Netlist(self.channels, a, b, n, np.array(outputs, np.int32), len(ops))
        return netlist, ops.astype(np.uint8)


def game_of_life():
    """Conway's rule as a netlist, and the op of each gate."""
    return netlist_of(life_automaton().circuit, 1)
