"""Figures of runs and sweeps, by matplotlib, an optional dependency."""
