"""What the final tests of a run find, as its summary has it. To read it takes no kernels."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from difflogic.system.json_values import json_value


class Entries(BaseModel):
    """Entries of a summary that the program reads; a file may have more."""

    model_config = ConfigDict(strict=True, extra="allow")

    def as_dict(self) -> dict[str, Any]:
        """Return the entries that are there, as JSON values."""
        found: dict[str, Any] = json_value(self.model_dump(exclude_unset=True))
        return found


class Checked(Entries):
    """Wrong cells of a hard circuit at the training step, and at twice that step."""

    tested: str
    """On which starts or cases."""
    starts: int
    cells: int
    """Of all starts together."""
    step: int
    wrong_cells: int
    later_step: int | None
    """None if all cases are listed, as are its wrong cells."""
    wrong_cells_later: int | None
    exact: bool
    """What docs/glossary.md says."""
    exactness: dict[str, int]
    """`wrong_cells` and `cells` of all counts that decide."""
    active_gates: int


class ProofEntries(Entries):
    """A verdict, and what it says in words."""

    verdict: str
    text: str


class Assured(ProofEntries):
    """What is proved of a circuit; the other entries are those of an `Assurance`."""

    from_step: int | None


class Counted(Entries):
    """Wrong cells, and starts with a wrong cell, after a step of a scene.

    A cell is wrong if any of its loss channels is.
    """

    name: str
    height: int
    width: int
    fire_rate: float
    step: int
    starts: int
    wrong_starts: int
    cells: int
    """Of all starts together."""
    wrong_cells: int
    decisive: bool | None = None
    """Whether an exact circuit must have no wrong cell here; None if this test does not decide."""


class Tested(Entries):
    """What a test of `dct eval` found. Some tests have further entries."""

    about: str
    notes: list[str]
    counts: list[Counted] = Field(default_factory=list)
    first_wrong_step: int | None = None
    wrong_neighborhoods: int | None = None
    exact: bool | None = None


class Evaluation(Entries):
    """What all tests of a circuit found."""

    experiment: str
    task: str
    training_seed: int | None
    """None for a circuit file."""
    seed: int
    exact: bool
    """Whether no cell is wrong in any required test."""
    assurance: Assured
    published: dict[str, float]
    tests: dict[str, Tested]
    not_applicable: dict[str, str]
    """Why other tests do not apply."""

    def __repr__(self) -> str:
        return f"Evaluation({self.experiment!r}, exact={self.exact})"


class Scores(Entries):
    """Scores of a run's hard circuit."""

    soft_loss: float | None
    hard_loss: float | None
    accuracy: float | None
    best_hard_loss: float | None
    best_accuracy: float | None
    best_epoch: int | None
    checked: Checked
    assurance: Assured
    right_pairs: dict[str, tuple[int, int]] | None = None
    """How many examples are right, and of how many, by their part."""
    exactness: Tested | None = None
    padded: ProofEntries | None = None
    """What is proved of examples with background on both sides."""
