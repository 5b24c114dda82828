"""Pictures of a circuit: what to draw, in which colours, and where."""
