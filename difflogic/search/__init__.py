"""Discrete search for exact circuits: candidates, rectifying, polishing, judging."""
