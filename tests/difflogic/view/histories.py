"""Epochs and models of made-up runs, for figures and pages."""

from dataclasses import replace

import numpy as np

from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow, Search


def rows(count, restarts=()):
    """Epochs 1 to `count`: every fifth searches, every tenth records it and the hard circuit."""
    return tuple(
        MetricsRow(
            n,
            200.0 / n,
            8.0 if n % 10 == 0 else None,
            0.5 if n % 10 == 0 else None,
            {"forward": 0.5, "backward": 1.5, "finish": float(n % 5 == 0)},
            1 - n / 5000,
            Search(4 * n, n, n, 9, False) if n % 10 == 0 else None,
            1 + sum(n > end for end in restarts),
        )
        for n in range(1, count + 1)
    )


def model(*changes, name="checkerboard-small", seed=0, spread=4):
    """A model whose logits are drawn around those that it begins with."""
    made = Model.create(load_config(name, changes))
    drawn = np.random.default_rng(seed).normal(0, spread, made.logits.shape)
    return replace(made, logits=made.logits + drawn.astype(np.float32))
