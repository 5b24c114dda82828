"""What a circuit does, and how well: `inspect` and `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from difflogic import evaluation, inspection
from difflogic.inspection import Inspection, Limits
from difflogic.library.common import Progress, ProgressCallback
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import small_form
from difflogic.library.trusting import load_trusted
from difflogic.system.callbacks import ignore
from difflogic.system.errors import ConfigError

PARTS = 3
"""Parts of an inspection that take time: symmetries, fixed points, the run from the start."""


def inspect(
    source: Source,
    limits: Limits | None = None,
    *,
    unsimplified: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
) -> Inspection:
    """Find equations, symmetries, fixed points, and the states in which the automaton settles.

    The circuit of a run or a model is simplified first, unless `unsimplified`. Raises what `load`
    raises, and ProofError if the simplified circuit cannot be proved equal.
    """
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(loaded, time_limit=time_limit, progress=progress)

    def part(done: int, following: str) -> None:
        progress(Progress("inspecting: part", done, PARTS, following))

    return inspection.inspect(automaton, limits or Limits(), part)


@dataclass(frozen=True)
class Evaluated:
    """The test results of a trained circuit."""

    source: Loaded
    results: Mapping[str, Any]
    """Plain values, as `dct eval --json` prints them."""

    def __repr__(self) -> str:
        return f"Evaluated({self.source.name!r}, exact={self.exact})"

    @property
    def exact(self) -> bool:
        """Whether no cell is wrong in any required test."""
        return bool(self.results["exact"])


def evaluate(
    source: Source,
    tests: Sequence[str] = (),
    *,
    starts: int | None = None,
    seed: int | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Evaluated:
    """Test the hard circuit of a run or a model on starts that training never draws.

    `tests` are names as in `dct eval`, by default all that apply. `starts` is the number of starts
    per test; `seed` is that of training by default. `allow_code` allows the code of a custom
    task to run. Raises what `load` raises, and ConfigError for a circuit file and for tests that do
    not exist or apply.
    """
    loaded = load_trusted(source, allow_code)
    if starts is not None and not 1 <= starts <= 65536:
        raise ConfigError(f"{starts} starts: must be from 1 to 65536")
    if seed is not None and not 0 <= seed < 2**63:
        raise ConfigError(f"seed {seed}: must be from 0 to {2**63 - 1}")

    def test(done: int, total: int, name: str) -> None:
        progress(Progress("tests:", done, total, name))

    model = loaded.require_model()
    found = evaluation.evaluate(model, tests, starts=starts, seed=seed, progress=test)
    return Evaluated(loaded, found)
