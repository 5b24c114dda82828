"""Proving two circuits equal, and that an automaton does what it should: `prove`, `certify`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from difflogic.circuit.automaton import Automaton
from difflogic.config import Config
from difflogic.evaluation.assurance import question_of
from difflogic.library.certifying import Certified, certified
from difflogic.library.declaration import TimeLimit, checked
from difflogic.library.equality import proved
from difflogic.library.exchange import ProgressCallback
from difflogic.library.groups import Claims
from difflogic.library.loaded import Loaded, Source, load
from difflogic.library.simplifying import simplify
from difflogic.library.trusting import experiment_of, load_trusted
from difflogic.proof import Proof
from difflogic.proof.convergence.every_size import Plane
from difflogic.system.callbacks import ignore
from difflogic.tasks import make_task


@dataclass(frozen=True)
class Compared:
    """Whether two automata are equal: the same rule, and no other difference."""

    one: Loaded
    other: Loaded
    proof: Proof
    other_differences: tuple[str, ...]
    """Differences outside the circuits: boundary, fire rate, grid, steps, start, visible channels
    and their order, palette, encoding of examples."""

    def __repr__(self) -> str:
        return f"Compared({self.one.name!r}, {self.other.name!r}, equal={self.equal})"

    @property
    def same_rule(self) -> bool:
        """Whether all channels that both have get the same next state."""
        return self.proof.equal

    @property
    def equal(self) -> bool:
        return self.same_rule and not self.other_differences


def prove(
    source: Source,
    against: Source | None = None,
    *,
    time_limit: TimeLimit = None,
    progress: ProgressCallback = ignore,
) -> Compared:
    """Prove two automata equal, or one equal to its simplified form, or find a difference.

    Channels are matched by number. The same rule means that every channel that both have gets the
    same next state, for every state of the nine cells. Equal automata also share boundary, fire
    rate, grid, steps, start, visible channels in their order, palette and encoding. Raises what
    `load` raises, and CircuitError if a visible channel is missing in one of them.
    """
    one = load(source)
    if against is None:
        found = simplify(one, time_limit=time_limit, progress=progress)
        other, proof = load(found.automaton), found.proof
    else:
        other = load(against)
        proof = proved(one.automaton, other.automaton.circuit, time_limit, progress)
    return Compared(one, other, proof, tuple(_differences(one.automaton, other.automaton)))


def _differences(one: Automaton, other: Automaton) -> list[str]:
    """List how two automata differ in what is done or seen, apart from their circuits."""
    pairs = (
        ("boundary", one.boundary, other.boundary),
        ("fire rate", one.fire_rate, other.fire_rate),
        ("grid", f"{one.height}×{one.width}", f"{other.height}×{other.width}"),
        ("steps", one.steps, other.steps),
        ("start", one.start, other.start),
        ("visible channels", list(one.visible), list(other.visible)),
    )
    found = [f"{name} {first} and {second}" for name, first, second in pairs if first != second]
    kept = ("palette", "encoding")
    return [*found, *(key for key in kept if getattr(one, key) != getattr(other, key))]


OWN_GRID = Claims()

CHECKED = 32
"""Largest side of the grids on which what an author says of a period is checked."""


@checked
def certify(
    source: Source,
    claims: Claims = OWN_GRID,
    *,
    task: Config | str | None = None,
    time_limit: TimeLimit = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Certified:
    """Prove that every start ends in the target and stays, or find a state that does not.

    Runs and models know their target. For a circuit file, `task` is the experiment or its name;
    without it, the target is the state that a start of zeros ends in. `time_limit` is in seconds,
    for everything, by default SECONDS for each grid, for all sizes and for damage. `allow_code`
    allows the code of a run's or model's custom task to run; the code of `task` runs only if its
    configuration was loaded with it. Raises what `load` raises, ConfigError for a task or sizes
    that do not fit, and CircuitError without a target.
    """
    loaded = load_trusted(source, allow_code)
    config = experiment_of(loaded, task)
    if config is None:
        return certified(loaded, None, claims, time_limit, progress)
    goal = make_task(config)
    if goal.find_lasting_target() is None:
        asked = question_of(loaded.automaton, goal)
        return certified(loaded, asked, claims, time_limit, progress)
    asks_more, assumed = claims.all_sizes or claims.damage is not None, ""
    repeats = goal.find_lasting_period(CHECKED) if asks_more else None
    if goal.source is not None:
        assumed = (
            f"if the target repeats every {repeats} cells, as the task says; on grids of up to "
            f"{CHECKED}×{CHECKED} cells it does"
        )
    plane = Plane(loaded.automaton, partial(goal.lasting_target_on, boundary=None), repeats)
    return certified(loaded, plane, claims, time_limit, progress, assumed)
