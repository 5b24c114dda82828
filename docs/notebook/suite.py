"""Train the reference recipe on the wirings and batches of trentonstrong's suite, by its seeds.

    python suite.py SEED DECAY UPDATES DIRECTORY [FORM]

Needs JAX. Writes the model, and the soft and hard loss of each update. The suite's keys are those
of JAX's older, not partitionable random numbers.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.training.trainer import Descent

jax.config.update("jax_threefry_partitionable", False)

TRUTH_LEAD = 7.9206
"""The logit of a truth table's row that is as sure as a softmax with a lead of 10."""


def pairs(inputs, gates):
    """Return the pairs of wiring `unique`, not yet permuted: (gates, 2)."""
    x = np.arange(inputs)
    found = [np.stack([x[:-1:2], x[1::2]], 1), np.stack([x[1:-1:2], x[2::2]], 1)]
    distance = 2
    while sum(map(len, found)) < gates:
        found.append(np.stack([x[:-distance], x[distance:]], 1))
        distance += 1
    return np.concatenate(found)[:gates]


def network(key, sizes, first=None):
    """Return the wires of each layer; `first` are the pairs of the first one."""
    layers = []
    for inputs, gates in pairwise(sizes):
        key, own = jax.random.split(key)
        reads = pairs(inputs, gates) if first is None or layers else first
        layers.append(reads[np.asarray(jax.random.permutation(own, gates))])
    return layers


def wires(seed, update):
    """Return the wires of the perception kernels and of the update circuit."""
    _, key = jax.random.split(jax.random.PRNGKey(seed))
    key, for_update = jax.random.split(key)
    _, for_perception = jax.random.split(key)
    moore = np.array([(neighbor, 4) for neighbor in range(9) if neighbor != 4])
    return network(for_perception, [9, 8, 4, 2], moore), network(for_update, [264, *update])


@jax.jit
def draw(key):
    """Return the next key, and a batch of starts."""
    key, own = jax.random.split(key)
    return key, jax.random.randint(own, (2, 16, 16, 8), 0, 2).astype(jnp.uint8)


def main(seed, decay, updates, directory, form="ops"):
    """Train one run."""
    settings = [f"training.seed={seed}", f"training.weight_decay={decay}", f"training.form={form}"]
    settings += [f"training.initial_logit={TRUTH_LEAD}"] * (form == "truth-table")
    config = load_config("checkerboard", [*settings, "parallel.workers=1"], recipe="reference")
    perception, update = wires(int(seed), config.update.gates)
    model = Model.create(config, perception=[perception], update=update)
    y, x = np.indices((16, 16))
    target = np.broadcast_to(((x // 2 + y // 2) % 2).astype(float), (2, 1, 16, 16))
    key, losses = jax.random.PRNGKey(int(seed)), []
    with Descent(config, model) as descent:
        for _ in range(int(updates)):
            key, starts = draw(key)
            found = descent.step(np.moveaxis(np.asarray(starts), 3, 1), target)
            losses.append((float(found.soft_loss), float(found.hard_loss)))
        name = Path(directory, f"seed{seed}-{decay}-{form}").as_posix()
        descent.model.save(f"{name}.npz")
    Path(f"{name}.json").write_text(json.dumps(losses))


if __name__ == "__main__":
    main(*sys.argv[1:])
