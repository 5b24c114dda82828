"""Ops, grids, wirings, and the two graphs of gates: soft netlists and hard circuits."""
