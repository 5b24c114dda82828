"""What pictures of a circuit have in common: what is drawn, in which colours, and where."""
