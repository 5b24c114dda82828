"""The names of the ways in which workers share the samples of a training step."""

from typing import Literal, get_args

Strategy = Literal["auto", "sequential", "samples", "cells", "steps"]
"""How workers share samples.

- auto: as many samples as divide evenly have one worker each; steps for the others;
- sequential: one worker does everything;
- samples: each sample has one worker;
- cells: workers share the cells and wait for each other after every automaton step;
- steps: workers share cells and steps, as a pipeline (engine/kernels/pipeline.py).
"""

STRATEGIES: tuple[Strategy, ...] = tuple(
    each for each in get_args(Strategy) if each != "sequential"
)
"""Those of several workers."""
