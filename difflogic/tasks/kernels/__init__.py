"""Compiled kernels of tasks."""
