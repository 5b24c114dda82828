"""The conditions that a circuit is run under: `Conditions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Boundary
from difflogic.library.loading import Loaded
from difflogic.library.progress import ProgressCallback
from difflogic.library.simplifying import small_form
from difflogic.model.automaton import Automaton
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.damage import Damage, rectangle
from difflogic.simulation.simulator import MOST_STEPS
from difflogic.simulation.starts import NAMES
from difflogic.system.errors import ConfigError, described

MOST_SIDE = 10**9 - 1
MOST_SEED = 2**63 - 1
BOUNDARIES = ("zero", "periodic")


@dataclass(frozen=True)
class Rectangle:
    """Damage: cells that are zeroed after the given steps, counted from 1."""

    steps: tuple[int, ...]
    y: int
    x: int
    height: int
    width: int

    def __str__(self) -> str:
        steps = ",".join(map(str, self.steps))
        return f"damage {steps}:{self.y},{self.x},{self.height}x{self.width}"

    def scaled(self, times: int) -> Rectangle:
        """Return damage to the same part of a grid that is larger."""
        y, x, height, width = (times * each for each in (self.y, self.x, self.height, self.width))
        return Rectangle(self.steps, y, x, height, width)


@dataclass(frozen=True)
class Conditions:
    """How to run a circuit. None means as in training. Raises ConfigError if out of range."""

    size: tuple[int, int] | None = None
    """Rows and columns."""
    steps: int | None = None
    start: str | Path | npt.NDArray | None = None
    """random, center, zeros, or a file: an image, a picture as text, an .rle pattern, or an .npz
    state or array. Or an array of bits: (rows, columns), (visible channels, rows, columns), or all
    (channels, height, width)."""
    density: float = 0.5
    """Share of ones in a random start."""
    seed: int = 0
    """Seed of random starts and fire masks."""
    fire_rate: float | None = None
    """Share of cells that update in a step."""
    boundary: str | None = None
    """Beyond the edge: zero or periodic."""
    damage: Sequence[Rectangle] = ()
    unsimplified: bool = False
    """Whether to run the circuit as trained, with all its gates and channels."""

    def __post_init__(self) -> None:
        if not isinstance(self.start, str | Path | np.ndarray | None):
            raise ConfigError(
                f"start: is {described(self.start)}, which is no start: give {', '.join(NAMES)}, "
                "an array of bits, or the name of a file: an image, a picture as text, an .rle "
                "pattern, or an .npz with one array or a state as Simulated.save writes it"
            )
        if self.size is not None and not all(1 <= side <= MOST_SIDE for side in self.size):
            height, width = self.size
            raise ConfigError(f"{height}×{width} cells: each side must be from 1 to {MOST_SIDE}")
        if self.steps is not None and not 0 <= self.steps <= MOST_STEPS:
            raise ConfigError(f"{self.steps} steps: must be from 0 to {MOST_STEPS}")
        if not 0 <= self.density <= 1:
            raise ConfigError(f"density {self.density:g}: must be from 0 to 1")
        if not 0 <= self.seed <= MOST_SEED:
            raise ConfigError(f"seed {self.seed}: must be from 0 to {MOST_SEED}")
        if self.fire_rate is not None and not 0 < self.fire_rate <= 1:
            raise ConfigError(f"fire rate {self.fire_rate:g}: must be above 0 and at most 1")
        if self.boundary not in (None, *BOUNDARIES):
            raise ConfigError(f'no boundary "{self.boundary}": choose {" or ".join(BOUNDARIES)}')

    def automaton(
        self, source: Loaded, effort: str = "low", *, progress: ProgressCallback
    ) -> Automaton:
        """Return the automaton to run: simplified, at this size, with these steps.

        The circuit of a run or a model is simplified, unless `unsimplified`: by default quickly,
        since more effort would take longer than most simulations. Raises ProofError.
        """
        automaton = source.automaton
        if not self.unsimplified:
            automaton = small_form(source, effort, progress=progress)
        height, width = self.size or (automaton.height, automaton.width)
        return replace(
            automaton,
            height=height,
            width=width,
            fire_rate=automaton.fire_rate if self.fire_rate is None else self.fire_rate,
            boundary=cast(Boundary, self.boundary or automaton.boundary),
            steps=automaton.steps if self.steps is None else self.steps,
        )

    def start_of(self, automaton: Automaton) -> str | npt.NDArray:
        """Return the start: the automaton's own unless another was asked for."""
        if isinstance(self.start, np.ndarray):
            return self.start
        return automaton.start if self.start is None else str(self.start)


AS_TRAINED = Conditions()


def place_damage(damage: Rectangle, geometry: Geometry, last: int) -> Damage:
    """Return damage in the simulator's form.

    Raises ConfigError if it lies outside the grid or comes after step `last`.
    """
    y, x, rows, columns = damage.y, damage.x, damage.height, damage.width
    inside = min(y, x) >= 0 and y + rows <= geometry.height and x + columns <= geometry.width
    if rows < 1 or columns < 1 or not inside:
        raise ConfigError(f"{damage}: is not within the {geometry.height}×{geometry.width} cells")
    if not damage.steps or min(damage.steps) < 1 or max(damage.steps) > last:
        raise ConfigError(f"{damage}: its steps must be from 1 to {last}")
    return rectangle(damage.steps, (y, y + rows), (x, x + columns), geometry.width)
