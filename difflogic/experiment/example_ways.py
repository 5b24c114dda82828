"""The ways to learn a rule from examples that are worth trying: `ways_to_learn`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from difflogic.config import Config
from difflogic.config.checking import check
from difflogic.config.sections import fit_layer_widths
from difflogic.examples.encoding import Encoding, encodings
from difflogic.examples.pairs import Examples, largest, without_background
from difflogic.experiment.example_options import AS_FITS, ExampleOptions
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted

STAGES = (0.15, 0.35, 0.65)
"""Shares of the examples, the smallest ones, that the stages learn from."""

MOST_EQUAL_LINES = 2, 4
"""Most equal rows or columns side by side in the stages before these."""

MOST_SHORTENED_PAIRS = 12
"""Up to this many pairs are shortened for stages: among more there are small ones."""


@dataclass(frozen=True)
class Way:
    """One way to learn from examples."""

    config: Config
    words: str


def describe(examples: Examples, ways: Sequence[Way]) -> list[str]:
    """Say what was read, and what will be tried."""
    least, most = ("×".join(map(str, size)) for size in examples.sizes)
    sizes = least if least == most else f"{least} to {most}"
    aside = f", {len(examples.held_out)} kept aside" if examples.held_out else ""
    names = ", ".join(examples.symbols)
    background = examples.symbols[examples.background]
    return [
        f"{examples.source}: {counted(len(examples.train), 'pair')} to learn from{aside}; {sizes} "
        f"cells; symbols {names}; background {background}",
        *(f"way {number}: {way.words}" for number, way in enumerate(ways, 1)),
    ]


def ways_to_learn(examples: Examples, options: ExampleOptions = AS_FITS) -> list[Way]:
    """Return the ways to learn from examples that are worth trying, the quickest first.

    Raises ConfigError if no encoding fits: if the same bits would need different results.
    """
    symbols = options.symbols
    channels = options.channels
    fitting = encodings(examples.train, examples.symbols, examples.background)
    height, width = largest(examples.train)
    alike = any(each.per_symbol for each in fitting)
    if symbols is not None or (alike and height == 1):
        alike = symbols != "by-name"
        fitting = [each for each in fitting if each.per_symbol == alike]
    if not fitting:
        how = "" if symbols is None else f" with --symbols {symbols}"
        raise ConfigError(
            f"{examples.source}: no encoding fits{how}: cells that look alike need different "
            "symbols: correct the pairs, or let dct choose"
        )
    needed = min(len(each.features) + len(each.outputs) for each in fitting)
    if channels is not None and channels < needed:
        raise ConfigError(
            f"--channels {channels}: the bits that say what is in a cell, and the answer, need "
            f"{needed} or more"
        )
    found: list[Way] = []
    for encoding in fitting:
        if channels is not None and channels < len(encoding.features) + len(encoding.outputs):
            continue
        for size in _sizes(encoding, max(height, width)):
            size = replace(
                size, steps=options.steps or size.steps, channels=channels or size.channels
            )
            config = _configure(examples, encoding, size, options)
            way = Way(config, _words(config, encoding))
            if way.words not in [each.words for each in found]:
                found.append(way)
    return found


@dataclass(frozen=True)
class Sizing:
    """A size of circuit, and how long it runs."""

    steps: int
    channels: int
    gates: tuple[int, ...]
    """Of the update's first layers."""
    staged: bool = True
    """Whether the smallest examples come first."""
    shortened: tuple[int, ...] = ()
    """Most equal rows, or columns, side by side in the examples that come first of all."""
    restart: int = 50
    """Epochs until learning starts over."""


def _sizes(encoding: Encoding, side: int) -> list[Sizing]:
    """Return the sizes of circuit to try on grids with the longest side `side`.

    The notebook has the measurements behind them (docs/notebook/examples.md).
    """
    shown = len(encoding.features) + len(encoding.outputs)
    if encoding.features == ("single",):
        return [Sizing(ceil(1.5 * side), shown, (32, 16, 8, 4), shortened=MOST_EQUAL_LINES)]
    if encoding.moving:
        return [Sizing(side, shown, (32, 16, 8), shortened=MOST_EQUAL_LINES)]
    if encoding.features == ("this",):
        return [Sizing(side, shown + 1, (32, 16, 8))]
    if "largest" in encoding.features:
        return [Sizing(2, shown + 1, (48, 24, 12), staged=False)]
    far = Sizing(side, shown + 4, (64, 32, 16))
    if encoding.per_symbol:
        return [Sizing(2, shown + 2, (48, 24, 12), staged=False), far]
    wide = (128, 64, 32, 16)
    return [*(Sizing(steps, shown + 3, wide, staged=False, restart=200) for steps in (3, 6)), far]


def _configure(
    examples: Examples, encoding: Encoding, size: Sizing, options: ExampleOptions
) -> Config:
    height, width = largest(examples.train)
    channels = size.channels
    shown = len(encoding.features)
    line = height == 1
    kernels = 8 if channels < 4 else 4
    per_kernel = [4, 2, 1]
    if not line:
        kernels = 8
        per_kernel = [8, 4, 2, 1]
    runs = sum(len(encoding.runs(pair.before)) for pair in examples.train)
    return check(
        {
            "name": options.name,
            "task": {
                "kind": "examples",
                "height": height,
                "width": width,
                "pairs": list(map(str, examples.train)),
                "held_out": list(map(str, examples.held_out)),
                "symbols": list(encoding.symbols),
                "background": encoding.background,
                "features": list(encoding.features),
                "outputs": list(encoding.outputs),
                "stages": _stages(examples, encoding) if size.staged else [],
                "shortened": list(
                    size.shortened if len(examples.train) <= MOST_SHORTENED_PAIRS else ()
                ),
                "inputs": list(encoding.held),
                "loss_channels": list(range(shown, shown + len(encoding.outputs))),
            },
            "automaton": {"channels": channels, "boundary": options.boundary, "steps": size.steps},
            "perception": {
                "kernels": kernels,
                "gates": per_kernel,
                "wiring": "line" if line else "moore",
                "directions": "random",
            },
            "update": {
                "gates": fit_layer_widths([*size.gates, 0], channels * (1 + kernels), channels)
            },
            "training": {
                "seed": options.seed,
                "epochs": 100_000,
                "batch": min(32, runs),
                "learning_rate": 0.3,
                "weight_decay": 0.0,
                "restart_every": size.restart,
                "initial_logit": 5.0,
                "later_steps": max(1, size.steps // 2),
            },
            "parallel": {"workers": options.workers},
            "finishing": {"every": 10, "from_epoch": 10, "candidates": 6000, "polish": 6000},
        },
        examples.source,
        {
            ("name",): f"--name {options.name}",
            ("parallel", "workers"): f"--workers {options.workers}",
        },
        [],
    )


def _stages(examples: Examples, encoding: Encoding) -> list[int]:
    """Return the longest sides of the smallest examples, without the background around them.

    Examples without runs, such as those of background alone, teach nothing.
    """
    sides = sorted(
        max(without_background(pair, examples.background).before.shape)
        for pair in examples.train
        if encoding.runs(pair.before)
    )
    chosen = {sides[ceil(share * len(sides)) - 1] for share in STAGES if sides}
    return sorted(chosen - {max(largest(examples.train))})


def _words(config: Config, encoding: Encoding) -> str:
    automaton = config.automaton
    per_symbol = encoding.per_symbol
    symbols = "run once per symbol" if per_symbol else "symbols known by name"
    stages = config.task.model_dump()["stages"]
    first = f", examples of up to {', '.join(map(str, stages))} cells first" if stages else ""
    given = ", ".join(name.removeprefix("=") for name in encoding.features)
    return (
        f"{symbols}; each cell is told: {given}; {counted(automaton.channels, 'bit')} per cell, "
        f"{counted(automaton.steps, 'step')}{first}"
    )
