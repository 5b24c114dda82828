"""Ops, grids, wirings, and the two graphs of gates: the soft netlist and the hard circuit."""
