"""Discrete search for exact circuits: one walk, and what it proposes. A judge is handed in."""
