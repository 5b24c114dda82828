"""A run as one page for a browser: what was learned, how, and the automaton itself, running."""
