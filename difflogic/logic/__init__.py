"""Hard circuits as plain logic: to be simplified, proved, inspected, simulated and exported.

Nothing here knows how a circuit was trained; `automaton.py` alone turns a model into logic. There
is one form of a hard circuit, the `LogicCircuit`: gates of the 16 ops, in order. Others are views
of it for one purpose, each made once and in one place:

- `simplification.nets`: a `Net`, arrays that compiled kernels change, for the search; its
  `to_circuit` is the way back.
- `xag`: a `Xag` of ANDs, XORs and inverters, to ask questions about several copies of a circuit at
  once, and to build circuits; `satisfiability` puts questions as clauses to a SAT solver.
- `proof.cones`: a `Cone`, what one next state depends on, for proofs channel by channel.
- `simulation.schedule`: the order in which gates are computed; `formats` writes files.

The soft circuit that is trained is a `Netlist` (difflogic/netlist.py). Both are evaluated by one
function, over bits, sets, reals, literals and text: `circuit.evaluate`.
"""
