"""Simulation by the billion: any circuit on any grid, 64 cells to a word, two bit grids of memory.

`simulator.py` is the way in. It has two engines with one result: an interpreter that needs no
compiler, and straight-line code that is compiled once per circuit.

`difflogic.engine.hard.HardSimulator` does another job: it runs *batches* of small grids while
training changes the circuit with every epoch, so its kernel interprets gates, and counts wrong
bits as it goes. Here a circuit is fixed and one grid may be as large as memory.
"""
