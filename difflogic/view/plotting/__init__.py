"""Figures of runs, by matplotlib, an optional dependency."""
