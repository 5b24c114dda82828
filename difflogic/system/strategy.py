"""The names of the ways in which workers share the samples of a training step."""

from typing import Literal, get_args

Strategy = Literal["sequential", "samples", "cells", "steps"]
"""How workers share samples.

- sequential: one worker does everything;
- samples: each sample has one worker;
- cells: workers share the cells and wait for each other after every automaton step;
- steps: workers share cells and steps, as a pipeline (engine/kernels/pipeline.py).
"""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)[1:]
"""Those of several workers."""
