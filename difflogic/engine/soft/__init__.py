"""Rollouts of soft automata and their gradients: programs, plans of sharing, and workers."""
