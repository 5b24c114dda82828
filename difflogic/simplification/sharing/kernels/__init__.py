"""The compiled kernels of the search for circuits whose cells share what they compute.

A *plane* is a value at every cell of an endless grid; a gate makes one of two others, each read at
an offset. Node 0 is constant 0, then come the channels, then the gates in topological order. A
node's *origin* is the top left of all cells that it reads, so offsets are never negative once a
graph is clean. Beside each node stand its values on a torus of random states, a row of 64 cells to
a word, with as many rows as a power of two: every test is one on these samples.
"""
