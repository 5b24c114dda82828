"""Discrete search for exact circuits: one walk, what it proposes, and who judges."""
