"""The compiled kernels of the search for small circuits.

A net is a circuit over few inputs: node 0 is constant 0, then come the inputs, then the gates in
topological order, each one of the 16 ops of two nodes. Outputs are literals: twice a node, plus
one if inverted. Beside each node stands its whole truth table, so that every test is exact.
Results are proved equal by `equivalence.py`.
"""
