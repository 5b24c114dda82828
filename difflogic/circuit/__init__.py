"""Circuits, and the one function that evaluates them."""
