"""Proving two circuits equal, and that an automaton does what it should: `prove`, `certify`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from difflogic.circuit.automaton import Automaton
from difflogic.config import Config
from difflogic.evaluation.assurance import question_of
from difflogic.formats.circuit_file import write_circuit
from difflogic.library.groups import Claims
from difflogic.library.loaded import Loaded, Source, experiment_of, load, load_trusted
from difflogic.library.simplifying import proved, simplify
from difflogic.proof import Proof
from difflogic.proof.answer import Budget
from difflogic.proof.convergence.every_size import Plane
from difflogic.proof.decided import Decided, Extent, decide
from difflogic.proof.joined import decide_regions
from difflogic.proof.prover import Question
from difflogic.proof.question import Wound
from difflogic.system.deadline import Deadline
from difflogic.system.declaration import TimeLimit, checked
from difflogic.system.errors import ConfigError, errors_about
from difflogic.system.files import write_output
from difflogic.system.work import tell
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


@checked
def prove(
    source: Source, against: Source | None = None, *, time_limit: TimeLimit = None
) -> Compared:
    """Prove two automata equal, or one equal to its simplified form, or find a difference.

    Channels are matched by number. The same rule means that every channel that both have gets the
    same next state, for every state of the nine cells. Equal automata also share boundary, fire
    rate, grid, steps, start, visible channels in their order, palette, encoding, blocks and memory.
    Raises what `load` raises, and CircuitError if a visible channel is missing in one of them.
    """
    one = load(source)
    if against is None:
        found = simplify(one, time_limit=time_limit)
        other = load(found.automaton)
        proof = found.proof
    else:
        other = load(against)
        proof = proved(one.automaton, other.automaton.circuit, time_limit)
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
    kept = ("palette", "encoding", "blocks", "held", "parts", "before")
    return [*found, *(key for key in kept if getattr(one, key) != getattr(other, key))]


@dataclass(frozen=True, kw_only=True)
class Certified(Decided):
    """What is proved about an automaton."""

    source: Loaded
    assumed: str = ""
    """What it rests on that is not proved."""

    def __repr__(self) -> str:
        return f"Certified({self.source.name!r}, {'proved' if self.proved else 'not proved'})"

    def save(self, path: str | Path, *, force: bool = False) -> Path | None:
        """Write the certificate of the first grid; `force` overwrites an earlier file.

        If the proof is not of the circuit file itself, but of its gates that matter, writes these
        to NAME.circuit.json beside it, and returns that path.
        It is about every grid if cells look to one side, and all sizes are proved by that.
        If all starts of the task can be listed, the certificate is a list of starts and targets.
        Raises CircuitError without a proof by sets or by all cases, since no other can be written,
        and RunDirectoryError if the file cannot be written.
        """
        with errors_about(self.source.name):
            text = self.certificate(self.source.automaton, self.source.trained)
        own = json.loads(text)["circuit"]
        beside = None
        if not self.source.trained and own != json.loads(write_circuit(self.source.automaton)):
            beside = Path(path).with_suffix(".circuit.json")
            write_output(beside, json.dumps(own, indent=1), force)
        write_output(path, text, force)
        return beside


OWN_GRID = Claims()

CHECKED_SIDE = 32
"""Largest side of the grids on which what an author says of a period is checked."""


@checked
def certify(
    source: Source,
    claims: Claims = OWN_GRID,
    *,
    task: Config | str | None = None,
    time_limit: TimeLimit = None,
    allow_code: bool = False,
) -> Certified:
    """Prove that every start ends in the target and stays, or find a state that does not.

    Runs and models know their target. For a circuit file, `task` is the experiment or its name;
    without it, the target is the state that a start of zeros ends in. `time_limit` is in seconds,
    for everything, by default PART_SECONDS for each grid, for all sizes and for damage.
    `allow_code` allows the code of a run's or model's custom task to run; the code of `task` runs
    only if its configuration was loaded with it. Raises what `load` raises, ConfigError for a task
    or sizes that do not fit, and CircuitError without a target.
    """
    loaded = load_trusted(source, allow_code)
    config = experiment_of(loaded, task)
    goal, assumed = (None, "") if config is None else _goal(loaded.automaton, config, claims)
    wound = None
    zeros = claims.contents == "zeros"
    if claims.damage is not None:
        wound = Wound(claims.damage, margin=claims.margin, zeros=zeros)
    elif claims.margin or not zeros:
        raise ConfigError("--contents and --margin describe damage: give its side by --damage")
    if (claims.all_sizes or wound is not None) and loaded.automaton.boundary != "zero":
        raise ConfigError("all sizes and damage can only be certified with a zero boundary")
    extent = Extent(claims.sizes, claims.all_sizes, wound)
    numbers = count(1)
    budget = Budget(
        Deadline.after(extent.seconds if time_limit is None else time_limit),
        progress=lambda what: tell("questions asked:", next(numbers), None, what),
    )

    def smaller(automaton: Automaton, seconds: float) -> Automaton:
        found = simplify(automaton, "low", time_limit=seconds)
        return found.automaton if found.proved else automaton

    with errors_about(loaded.name):
        if loaded.automaton.parts:
            if goal is not None:
                raise ConfigError(
                    "--task: each part of a joined circuit has its own: certify those"
                )
            found = decide_regions(loaded.automaton, extent, budget, smaller)
        else:
            found = decide(loaded.automaton, goal, extent, budget, smaller)
    proved_everywhere = found.every_size is not None and found.every_size.proof is not None
    return Certified(source=loaded, assumed=assumed if proved_everywhere else "", **vars(found))


def _goal(automaton: Automaton, config: Config, claims: Claims) -> tuple[Question, str]:
    """Return what a task asks of an automaton, and what an answer about all sizes rests on."""
    task = make_task(config)
    if task.find_lasting_target() is None:
        return question_of(automaton, task), ""
    asks_more = claims.all_sizes or claims.damage is not None
    assumed = ""
    repeats = task.find_lasting_period(CHECKED_SIDE) if asks_more else None
    if task.source is not None:
        assumed = (
            f"if the target repeats every {repeats} cells, as the task says; on grids of up to "
            f"{CHECKED_SIDE}×{CHECKED_SIDE} cells it does"
        )
    return Plane(automaton, partial(task.lasting_target_on, boundary=None), repeats), assumed
