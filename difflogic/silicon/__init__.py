"""Grids on FPGAs: a top level with few pins, and the tools that synthesise, place and route it."""
