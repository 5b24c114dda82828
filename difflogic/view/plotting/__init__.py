"""Figures of runs and sweeps, by matplotlib, which is an extra."""
