"""Digests of short runs of experiments: the same on every processor, whatever shares the work.

`python -m tests.digests` prints those of this machine; with --write it replaces digests.json. Do
so only if a change is meant to alter bits, and say in its commit why.
"""

import hashlib
import json
import sys
from functools import cache
from pathlib import Path

from difflogic import Trainer, load_config

KEPT = Path(__file__).with_suffix(".json")
NAMES = (
    "game-of-life",
    "checkerboard-small",
    "checkerboard",
    "checkerboard-async",
    "checkerboard-tough",
    "checkerboard-tough-async",
    "letter-g",
    "lizard",
    "lizard-small-heal",
    "sorting",
    "addition",
    "hexagons",
    "picture-with-places",
    "examples",
)
"""Shipped experiments, and those that commands made of a picture and of pairs, in experiments/."""

FEW = 3
MANY = 30
"""Epochs of `make test` and `make exhaustive`. The latter reach searches and finished circuits."""


@cache
def digest(name: str, epochs: int, *overrides: str) -> str:
    """Return a digest of all that a run has learned, and of its losses, after some epochs."""
    found = hashlib.sha256()
    file = KEPT.parent / "experiments" / f"{name}.toml"
    config = load_config(file if file.exists() else name, ["parallel.workers=1", *overrides])
    with Trainer(config) as trainer:
        while trainer.epoch < epochs and not trainer.done:
            step = trainer.step()
            found.update(repr((step.soft_loss, step.hard_loss, step.accuracy)).encode())
        for _, array in sorted(trainer.state().items()):
            found.update(array.tobytes())
        found.update(trainer.result.logits.tobytes())
    return found.hexdigest()[:16]


def digests(epochs: int, precision: str) -> dict[str, str]:
    """Return the digests of all experiments."""
    setting = f"training.precision={precision}"
    return {f"{name} {precision} {epochs}": digest(name, epochs, setting) for name in NAMES}


if __name__ == "__main__":
    asked = [word.split(":") for word in sys.argv[1:] if ":" in word] or [
        (epochs, precision) for epochs in (FEW, MANY) for precision in ("float32", "float64")
    ]
    every: dict[str, str] = {}
    for epochs, precision in asked:
        every |= digests(int(epochs), precision)
    text = json.dumps(every, indent=1) + "\n"
    if "--write" in sys.argv:
        KEPT.write_text(text, "utf-8")
    else:
        print(text, end="")
