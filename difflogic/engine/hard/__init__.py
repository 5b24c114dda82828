"""Hard automata on words of cells: simulation, gradients, and circuits that differ in a gate."""
