"""Counts of wrong cells, the one thing that most tests report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from difflogic.evaluation.scene import Scene


@dataclass(frozen=True)
class Count:
    """Wrong cells, and starts with a wrong cell, after one step of one scene.

    `cells` are those of all starts and loss channels together.
    """

    what: str
    height: int
    width: int
    fire_rate: float
    step: int
    starts: int
    wrong_starts: int
    cells: int
    wrong_cells: int
    decisive: bool | None = None
    """Whether a circuit must have none wrong here to be exact; None where that is no question."""

    @classmethod
    def of_scene(cls, what: str, scene: Scene, wrong: npt.NDArray[np.int64]) -> Iterator[Count]:
        """Yield a count for each step, from the wrong cells of each start (steps, starts)."""
        for step, cells in zip(scene.at, wrong, strict=True):
            yield cls(
                what,
                scene.grid.height,
                scene.grid.width,
                scene.fire_rate,
                step,
                len(cells),
                int((cells > 0).sum()),
                scene.cells * len(cells),
                int(cells.sum()),
            )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; `decisive` only where it is a question."""
        return {key: value for key, value in asdict(self).items() if value is not None}
