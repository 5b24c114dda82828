"""A rule from examples: pairs of grids, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from difflogic.circuit.specification import Cases
from difflogic.examples.encoding import FEATURE_NAMES, MOVED_FEATURES, Encoding, stacked
from difflogic.examples.pairs import (
    MOST_SYMBOLS,
    Pair,
    contradiction,
    largest,
    shortened,
    without_background,
)
from difflogic.system.array_types import Bits, Float64s
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit, InapplicableError, Sample
from difflogic.tasks.section import AutomatonConfig, Size, TaskSection

Texts = Annotated[
    tuple[str, ...], Field(strict=False, json_schema_extra={"accepted": "a list of texts"})
]
Number = Annotated[int, Field(ge=0, lt=MOST_SYMBOLS)]


class ExamplesSection(TaskSection):
    """Start: bits for the symbols of a grid, before. Target: bits for those after."""

    kind: Literal["examples"] = Field(description="the task's name")
    pairs: Annotated[Texts, Field(min_length=1)] = Field(
        description="examples: rows of symbols' numbers in hexadecimal, separated by /, with > "
        'between before and after, such as "0110/0000>0000/0110"; dct train-examples reads files'
    )
    held_out: Texts = Field(default=(), description="further pairs, to test what was learned")
    symbols: Annotated[Texts, Field(min_length=2, max_length=MOST_SYMBOLS)] = Field(
        description="the symbols' names, by their numbers"
    )
    background: Number = Field(default=0, description="number of the symbol around everything")
    features: Texts = Field(
        default=("this", "another", "inside"),
        description="what the first channels say of each cell, and keep. inside: it is in the "
        "grid; filled: it is no background; this: it has the symbol whose turn it is; another: a "
        "further symbol; single: its symbol occurs in one cell only; odd: its block of equal "
        "cells has an odd number of cells; largest: no block has more; =red: it has the symbol "
        "red; this-right, this-left: copies of this that move by one cell per step; single-right "
        "with single-right-2 after it, and so on: copies of single, by one cell in two steps",
    )
    outputs: Annotated[Texts, Field(min_length=1)] = Field(
        default=("this",),
        description="what the loss channels, which come next, should say; with this, a grid is "
        "run once for each of its symbols",
    )
    stages: tuple[Size, ...] = Field(
        default=(),
        strict=False,
        description="longest sides of the examples to learn first, in this order, without the "
        "background around them, in fewer steps",
    )

    shortened: tuple[Size, ...] = Field(
        default=(),
        strict=False,
        description="most equal rows, or columns, side by side in the examples to learn before "
        "all others, in this order: further ones are cut out",
    )

    gone: ClassVar = {"suspected": []}

    def encoding(self) -> Encoding:
        """Return what the channels mean. Raises ConfigError for a feature that is unknown."""
        known = {*FEATURE_NAMES, *(f"={name}" for name in self.symbols)}
        unknown = [name for name in (*self.features, *self.outputs) if name not in known]
        if unknown or self.background >= len(self.symbols):
            what = f'no feature "{unknown[0]}"' if unknown else f"no symbol {self.background}"
            raise ConfigError(f"[task] features: {what}: choose from {', '.join(sorted(known))}")
        return Encoding(self.symbols, self.background, self.features, self.outputs)

    @property
    def moving(self) -> tuple[tuple[int, int, int], ...]:
        return self.encoding().moving

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Check the examples, and the channels of features and outputs."""
        try:
            self.encoding()
            pairs = [Pair.parse(text) for text in (*self.pairs, *self.held_out)]
        except (ConfigError, ValueError) as error:
            return [str(error) if isinstance(error, ConfigError) else f"[task] pairs: {error}"]
        size = self.height, self.width
        if largest(pairs[: len(self.pairs)]) != size:
            return [f"[task] height, width: the largest grids have other sizes than {size}"]
        if any(pair.before.max() >= len(self.symbols) for pair in pairs):
            return [
                f"[task] pairs: a symbol has no name among {counted(len(self.symbols), 'name')}"
            ]
        shown = len(self.features)
        held = self.encoding().held
        compared = tuple(range(shown, shown + len(self.outputs)))
        if (self.inputs, self.loss_channels) != (held, compared):
            return [
                f"[task] inputs, loss_channels: {shown} features and {len(compared)} outputs need "
                f"inputs = {list(held)} and loss_channels = {list(compared)}"
            ]
        for channel, feature in enumerate(self.features):
            shift = MOVED_FEATURES[feature][1] if feature in MOVED_FEATURES else 0
            partner = feature.removesuffix("-2") + "-2" * (shift > 0)
            if shift and self.features[channel + shift :][:1] != (partner,):
                return [f"[task] features: {feature}: needs {partner} beside it"]
        if any(side >= max(size) for side in self.stages):
            return [f"[task] stages: each must be shorter than the longest side, {max(size)}"]
        return []


class ExamplesTask(Task):
    """The pairs of a file. What a rule has got right once it should keep."""

    Section = ExamplesSection
    section: ExamplesSection
    stays = True
    start = "zeros"

    @cached_property
    def encoding(self) -> Encoding:
        return self.section.encoding()

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The examples to learn from."""
        return tuple(map(Pair.parse, self.section.pairs))

    @cached_property
    def _runs(self) -> tuple[Bits, Float64s]:
        starts, targets, _ = stacked(
            self.encoding, self.pairs, (self.height, self.width), self.channels
        )
        return starts, targets

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a run of one of the pairs."""
        starts, targets = self._runs
        number = int(rng.integers(len(starts)))
        return starts[number], targets[number]

    def draw_numbered(self, seed: int, purpose: Purpose, epoch: int, numbers: range) -> Sample:
        """Return runs in an order drawn for the epoch: none is drawn twice before all were once."""
        starts, targets = self._runs
        order = stream(seed, purpose, epoch, 0).permutation(len(starts))
        chosen = order[np.array(numbers) % len(starts)]
        return starts[chosen], targets[chosen]

    def cases(self) -> Cases:
        """Return all runs of all pairs."""
        starts, targets = self._runs
        pairs = counted(len(self.pairs), "example")
        name = f"all {pairs}"
        if len(starts) != len(self.pairs):
            name = f"all {len(starts)} runs of {pairs}"
        why = "Other grids are not proved; the pairs that were kept aside test them."
        automaton = self.automaton
        return Cases(name, starts, targets, automaton.boundary, automaton.steps, why)

    @property
    def examples(self) -> dict[str, tuple[Pair, ...]]:
        return {"training": self.pairs, "held out": tuple(map(Pair.parse, self.section.held_out))}

    @property
    def stages(self) -> tuple[Task, ...]:
        """Shortened and then the smallest examples first, without the background around them."""
        bare = [without_background(pair, self.section.background) for pair in self.pairs]
        found = []
        for most in self.section.shortened:
            pairs = [shortened(pair, most) for pair in bare]
            if largest(pairs) != largest(bare) and not contradiction(pairs):
                found.append(self._of(pairs))
        for side in self.section.stages:
            pairs = [pair for pair in bare if max(pair.before.shape) <= side]
            if any(self.encoding.runs(pair.before) for pair in pairs):
                found.append(self._of(pairs))
        return (*found, self)

    def _of(self, pairs: Sequence[Pair]) -> Task:
        chosen = dict.fromkeys(map(str, pairs))
        height, width = largest(pairs)
        share = max(height, width) / max(self.height, self.width)
        steps = max(1, round(self.automaton.steps * share))
        small = super().on_grid(height, width, steps=steps)
        keys = {"pairs": tuple(chosen), "stages": (), "shortened": ()}
        return type(self)(small.section.model_copy(update=keys), small.automaton)

    def on_grid(self, height: int, width: int, **changes: Any) -> Self:
        if (height, width) != (self.height, self.width):
            raise InapplicableError("examples have sizes of their own")
        return super().on_grid(height, width, **changes)

    @property
    def exhibit(self) -> Exhibit:
        words = "Choose an example, or paint a grid of your own, and press play."
        return Exhibit(words, wrong="Cells that differ from what the example should become")
