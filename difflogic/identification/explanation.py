"""Identifies the rule of a recording, by the cheapest exact method, and what is proved of it."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from shlex import quote

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary
from difflogic.examples.film import Recording
from difflogic.identification import table_circuit
from difflogic.identification.chance import find
from difflogic.identification.families import Density
from difflogic.identification.flips import fewest_flips
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.likely import NEEDS_THREE, Likely, weigh
from difflogic.identification.rules import (
    BLOCKS,
    COUNTED,
    NEIGHBOURHOODS,
    UNSEEN,
    RuleTable,
    Space,
    hidden_spaces,
    spread_states,
)
from difflogic.identification.solver import Solved, solve
from difflogic.identification.votes import contradiction, count
from difflogic.proof import decide_equality
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.array_types import Flags, Float64s, Int64s
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.elementary import logarithm
from difflogic.system.errors import CircuitError, ConfigError, OutOfTimeError
from difflogic.system.quantities import counted
from difflogic.system.work import Progress, work, working

SURE_LOG_ODDS = float(np.log(1000))
"""A rule with memory must be this much likelier, as a logarithm."""
GUESS_SECONDS = 20.0
"""Time limit of a first guess with more symmetry, whose entries the solver then tries first."""
HINT_SECONDS = 5.0
"""Time limit of the search for assumptions that nothing contradicts."""
KNOWN = "determined", "open", "undecided", "never seen"
MOST_RENAMED = 3
"""Most states whose names are tried in every order: five more tables to fill."""
QUICK_INPUTS = 16
"""Most inputs of a circuit that is built in no time."""
FRAMES_TRIED = 1000
"""Random frames to try, to find one that tells two rules apart."""


@dataclass(frozen=True)
class Explanation(Solved):
    """A rule that explains a recording, and how it was found."""

    recording: Recording
    space: Space
    boundary: str
    gap: int
    method: str
    """table, SAT or MaxSAT."""
    flipped: Int64s | None = None
    """In a recording with noise: the cells that were recorded wrongly, (n, 4)."""
    least: int = 0
    """Cells that were recorded wrongly by any rule with the same clear entries."""
    agreement: Float64s | None = None
    """In a recording with noise, by entry: the share of its occurrences that agree; 0 if unseen."""
    likely: RuleTable | None = None
    """The likeliest state by entry, to fill those that were never seen."""
    of_a_kind: bool = False
    """Whether other kinds of rules may explain it, too: what is proved holds for this kind."""
    hurried: bool = False
    """Whether the time is up, too short for circuits of many inputs."""

    @property
    def never_seen(self) -> Flags:
        unseen: Flags = self.table == UNSEEN
        return unseen

    @property
    def undecided(self) -> Flags:
        return ~(self.determined | self.open | self.never_seen)

    @property
    def settled(self) -> bool:
        """Whether every entry is determined; in a recording with noise, whether each was seen."""
        known = self.determined if self.flipped is None else ~self.never_seen
        return bool(known.all())

    @property
    def unique(self) -> bool | None:
        """Whether all rules that explain the recording agree on the entries that it depends on.

        None if that is undecided, since time ran out or other kinds of rules may explain it.
        """
        if self.open.any():
            return False
        return None if self.of_a_kind or self.undecided.any() else True

    @property
    def wrong_cells(self) -> str:
        """Say how many cells were recorded wrongly, in a recording with noise."""
        many = 0 if self.flipped is None else len(self.flipped)
        if many > self.least:
            return f"{many} (at least {self.least} with the same clear entries: proved)"
        return f"{many} (no rule with the same clear entries needs fewer: proved)"

    @property
    def known(self) -> list[str]:
        """How each entry is known, by the names in KNOWN."""
        numbers = np.select((self.determined, self.open, self.never_seen), (0, 1, 3), 2)
        kind = " if of this kind" if self.of_a_kind else ""
        names = (KNOWN[0] + kind, *KNOWN[1:])
        return [names[number] for number in numbers]

    @property
    def counts(self) -> str:
        """Say how many entries are known, and how."""
        known = self.known
        kind = "if it is of this kind, " if self.of_a_kind else ""
        counts = (f"{name} {sum(each.startswith(name) for each in known)}" for name in KNOWN)
        return f"{self.space.entries}; {kind}{', '.join(counts)}"

    @property
    def uniqueness(self) -> str:
        """Say whether another rule explains the recording."""
        hidden = bool(self.space.looks_like)
        unseen = self.never_seen
        numbers = "; the hidden states could have other numbers" if self.space.exchangeable else ""
        if unseen.all():
            return "the recording shows no entry of the rule: nothing is known about it"
        if self.open.any():
            where = f", in the open entries{numbers}" if hidden else ""
            return f"another rule also explains the recording{where}"
        if self.undecided.any():
            return "whether another rule explains the recording is not decided"
        kind = " of this kind" if self.of_a_kind else ""
        free = ", except for entries that were never seen" if unseen.any() else ""
        others = "; rules of other kinds may explain it" if self.of_a_kind else ""
        proved = f"no other rule{kind} explains the recording{free} (proved)"
        return f"{proved}{numbers if hidden else ''}{others}"

    @cached_property
    def built(self) -> Circuit | None:
        """A circuit of the rule, not yet simplified, with the free entries filled.

        None if the rule depends on too many bits.
        """
        if self.hurried and self.space.inputs > QUICK_INPUTS:
            return None
        return table_circuit.build(self.space, self._filled)

    @cached_property
    def complete(self) -> RuleTable:
        """The next state by pattern, shape (patterns,), with the free entries filled."""
        return table_circuit.filled(self.space, self._filled, self.built)

    @property
    def _filled(self) -> RuleTable:
        """The table with the likeliest states where nothing was seen, if they are known."""
        return (
            self.table
            if self.likely is None
            else np.where(self.never_seen, self.likely, self.table)
        )

    @cached_property
    def renamed(self) -> str | None:
        """Say which usual name the rule has if its states are named in another order.

        None if the order was given, or if it makes no difference.
        """
        film = self.recording
        space = self.space
        if film.sizes or space.states > MOST_RENAMED or (self.name and not film.chosen):
            return None
        if space.looks_like or (film.names and not film.chosen):
            return None
        # Sums are of these numbers, and the notation of blocks is of these digits.
        if space.neighbourhood == BLOCKS or (space.states > 2 and space.symmetry in COUNTED[:2]):
            return None
        names = film.names or tuple(map(str, range(space.states)))
        for order in list(permutations(range(space.states)))[1:]:
            values = space.renamed(self._filled, np.argsort(order))
            if (name := replace(self, table=values, likely=None).name) not in (None, self.name):
                return f"{name} with --states {quote(','.join(names[state] for state in order))}"
        return None

    @property
    def name(self) -> str | None:
        """The usual name of the complete rule, such as B3/S23 or rule 110, if it has one."""
        return self.space.name(self.complete)

    @property
    def reversible(self) -> bool:
        """Whether the rule goes back by itself, on every grid: by all cases of a cell."""
        return self.space.memory and self.space.reversible(self.complete)

    @property
    def remembers(self) -> str:
        """Say on what the next state depends besides the neighbourhood."""
        by = self.space.difference(self.complete)
        minus = (
            "" if by is None else f": f(neighbourhood) minus that state, mod {self.space.states}"
        )
        back = "; reversible on every grid (proved)" if self.reversible else ""
        return f"the next state depends on the cell one frame earlier, too{minus}{back}"

    def circuit(self, effort: str = "normal", deadline: Deadline = NEVER) -> Circuit | None:
        """Return the rule's simplified circuit, proved equal to the table's."""
        if self.built is None:
            return None
        small = simplify(self._automaton(self.built), EFFORTS[effort], deadline).circuit
        if small.channels != self.built.channels:
            return self.built
        if not decide_equality(
            self.built, small, (), exhaustive=table_circuit.MOST_CELL_BITS
        ).equal:
            raise CircuitError("the simplified circuit differs from the table: please report this")
        return small

    def automaton(self, circuit: Circuit | None) -> Automaton:
        """Return the rule as an automaton; one of radius r takes r steps for each of the rule's.

        Raises CircuitError if circuits cannot hold it.
        """
        if circuit is None and self.hurried:
            raise CircuitError("there was no time to make the rule's circuit: raise --time-limit")
        if circuit is None:
            raise CircuitError(
                f"a circuit cannot tell all neighbourhoods of {self.space.states} states apart: "
                "leave out the file; the output and --json have the whole rule"
            )
        if self.space.drawable:
            return self._automaton(circuit)
        return self._automaton(table_circuit.relayed(self.space, circuit), self.space.cells // 2)

    def _automaton(self, circuit: Circuit, each: int = 1) -> Automaton:
        """Return an automaton that takes `each` steps for one of the rule's."""
        _, frames, height, width = self.recording.frames.shape
        boundary: Boundary = "zero" if self.boundary == "zero" else "periodic"
        visible = tuple(range(self.space.bits))
        name = "identified"
        if self.name:
            name = self.name.replace("/", "").replace(" ", "-")
        palette = self.recording.palette
        if palette:  # numbers that are no state have the last colour
            palette += palette[-1:] * (2 ** len(visible) - len(palette))
        return Automaton(
            name,
            circuit,
            visible,
            boundary,
            height,
            width,
            (frames - 1) * self.gap * each,
            fire_rate=1.0,
            start="random",
            palette=palette,
            before=table_circuit.remembered(self.space),
        )

    def next_frame(self) -> Int64s | None:
        """Return a frame (height, width) that tells the rule and `second` apart, if one is found.

        Recording it again `gap` steps later rules out one of them.
        """
        if self.second is None or self.space.looks_like or self.space.memory:
            return None
        rng = np.random.default_rng(0)
        first = self.space.spread(self.table)
        free = self.second == UNSEEN
        second = self.space.spread(np.where(free, self.table, self.second))
        _, _, height, width = self.recording.frames.shape
        boundary = "periodic" if self.boundary == "unknown" else self.boundary
        for _ in range(FRAMES_TRIED):
            density = rng.random()
            frame = np.where(
                rng.random((height, width)) < density,
                rng.integers(0, self.space.states, (height, width)),
                0,
            )
            ends = [run(self.space, each, frame, boundary, self.gap) for each in (first, second)]
            if (ends[0] != ends[1]).any() and (ends[0] >= 0).all() and (ends[1] >= 0).all():
                return frame
        return None


def run(space: Space, patterns: RuleTable, frame: Int64s, boundary: str, steps: int) -> Int64s:
    """Return frames (…, height, width) after `steps` steps of a rule by pattern.

    A cell that depends on an UNSEEN one is UNSEEN.
    """
    for _ in range(steps):
        found = spread_states(frame, space, boundary)
        frame = np.where(found == UNSEEN, UNSEEN, patterns[found])
    return frame


def identify(inquiry: Inquiry) -> Explanation:
    """Find a rule that explains a recording.

    Raises ConfigError if no rule explains it, with the place, and OutOfTimeError if there was no
    time to find one.
    """
    recording = inquiry.recording
    space = inquiry.space
    _check(inquiry)
    if inquiry.noise:
        return _with_noise(inquiry)
    if space.memory and inquiry.gap == 1 and inquiry.likely is None:
        states = _weighed(inquiry, space).entries(space).argmax(axis=0)
        inquiry = replace(inquiry, likely=states)
    if found := _plain(inquiry):
        return found
    if inquiry.hidden:
        return _with_hidden(inquiry)
    where = ""
    if inquiry.gap == 1:
        where = contradiction(recording, space, inquiry.boundary, inquiry.deadline)
    other = where and _other_space(inquiry)
    if not other and (found := _with_memory(inquiry)):
        return found
    if where:
        raise ConfigError(f"{recording.subject}: {where}. {other or _remedy(inquiry)}")
    number, frame = _first_unexplained(inquiry)
    raise ConfigError(
        f"{recording.subject}: no rule explains recording {number} up to frame {frame}, though one "
        "explains all before: it may have noise (--noise), other --gap or --boundary, a larger "
        "neighbourhood, less symmetry, or more states than are seen"
    )


def _plain(inquiry: Inquiry) -> Explanation | None:
    """Return a rule of the space without hidden states and wrong cells, if one explains all."""
    recording = inquiry.recording
    space = inquiry.space
    known = np.full(space.entries, UNSEEN)
    if inquiry.gap == 1:
        votes = count(recording, space, inquiry.boundary, inquiry.deadline)
        if len(votes.contradicted):
            return None
        known = votes.table
        if recording.complete and inquiry.boundary != "unknown":
            none = np.zeros(space.entries, np.bool_)
            return explained(inquiry, "table", Solved(known, known != UNSEEN, none, None))
    guess = _guess(inquiry, known) if inquiry.likely is None else inquiry.likely
    solved = solve(inquiry, known, guess)
    return None if solved is None else explained(inquiry, "SAT", solved)


def explained(inquiry: Inquiry, method: str, solved: Solved) -> Explanation:
    return Explanation(
        **vars(solved),
        recording=inquiry.recording,
        space=inquiry.space,
        boundary=inquiry.boundary,
        gap=inquiry.gap,
        method=method,
        likely=inquiry.likely,
        of_a_kind=inquiry.of_a_kind,
        hurried=inquiry.deadline.passed,
    )


def _with_noise(inquiry: Inquiry) -> Explanation:
    votes = count(inquiry.recording, inquiry.space, inquiry.boundary, inquiry.deadline)
    flips = fewest_flips(inquiry, votes)
    none = np.zeros(inquiry.space.entries, np.bool_)
    found = explained(inquiry, "MaxSAT", Solved(flips.table, none, none, None))
    agreement = votes.counts.max(axis=1) / np.maximum(votes.counts.sum(axis=1), 1)
    return replace(found, flipped=flips.flipped, least=flips.least, agreement=agreement)


def _with_hidden(inquiry: Inquiry) -> Explanation:
    refuted = 0
    hidden = inquiry.hidden
    outer = work().tell

    def told(news: Progress) -> None:
        kinds = counted(refuted, "kind")
        outer(replace(news, what=f"{kinds} of hidden states refuted; {news.what}"))

    for space in hidden_spaces(inquiry.space, hidden):
        attempt = replace(inquiry, space=space, of_a_kind=True)
        try:
            with working(tell=told):
                solved = solve(attempt, np.full(space.entries, UNSEEN))
        except OutOfTimeError as error:
            kinds = counted(refuted, "kind")
            raise OutOfTimeError(f"{error}; {kinds} of hidden states refuted") from None
        if solved is not None:
            return explained(attempt, "SAT", solved)
        refuted += 1
    most = counted(hidden, "hidden state")
    raise ConfigError(
        f"{inquiry.recording.subject}: no rule with up to {most} explains it (proved for all "
        f"{refuted} kinds): it may have more (--hidden), noise (--noise), other --gap or "
        "--boundary, or a larger neighbourhood"
    )


def _check(inquiry: Inquiry) -> None:
    recording = inquiry.recording
    noise = inquiry.noise
    hidden = inquiry.hidden
    if noise and hidden:
        raise ConfigError("noise and hidden states cannot be told apart: give one of them")
    if inquiry.space.memory and (noise or hidden or recording.frames.shape[1] < 3):
        raise ConfigError(NEEDS_THREE)
    if noise and (inquiry.gap > 1 or inquiry.boundary == "unknown" or not recording.complete):
        raise ConfigError(
            "noise needs a recording of frames one step apart, without unseen cells, and a known "
            "boundary"
        )


def _guess(inquiry: Inquiry, known: RuleTable) -> RuleTable | None:
    """Return an outer-totalistic rule that explains the recording, by the inquiry's entries.

    The solver tries it first; no answer depends on it.
    """
    space = inquiry.space
    if space.symmetry in COUNTED or space.entries == (known != UNSEEN).sum():
        return None
    coarse = replace(space, symmetry="outer-totalistic")
    merged = table_circuit.merge(coarse, space.spread(known))
    if merged is None:
        return None

    short = _sooner(inquiry.deadline, GUESS_SECONDS)
    simpler = replace(inquiry, space=coarse, deadline=short)
    try:
        solved = solve(simpler, merged, decide=False)
    except OutOfTimeError:
        if inquiry.deadline.should_stop():
            raise
        return None
    if solved is None:
        return None
    return np.maximum(solved.table, 0)[coarse.entry_of[space.examples]]


def _first_unexplained(inquiry: Inquiry) -> tuple[int, int]:
    """Return the first recording, and its frame, up to which no rule explains all."""

    def fails(frames: Int64s) -> bool:
        part = replace(inquiry, recording=Recording(frames, inquiry.recording.states))
        known = np.full(inquiry.space.entries, UNSEEN)
        return solve(part, known, decide=False) is None

    every = inquiry.recording.frames
    number = bisect_left(range(1, len(every) + 1), True, key=lambda n: fails(every[:n]))

    def cut(frame: int) -> Int64s:
        frames = every[: number + 1].copy()
        frames[number, frame:] = UNSEEN
        return frames

    return number, 1 + bisect_left(range(2, every.shape[1] + 1), True, key=lambda n: fails(cut(n)))


def _sooner(deadline: Deadline, seconds: float) -> Deadline:
    return replace(deadline, at=min(deadline.at, Deadline.after(seconds).at))


def _weighed(inquiry: Inquiry, space: Space) -> Likely:
    """Return the odds of families with memory."""
    triples = inquiry.recording.triples
    return weigh(triples, [space], (1,), inquiry.boundary, inquiry.deadline)


def _with_memory(inquiry: Inquiry) -> Explanation | None:
    """Return a rule with memory that explains a recording, unless that is no better than chance.

    For recordings that no rule without memory explains. Such a rule must be likelier than that what
    follows each neighbourhood is drawn, and than that some cells are wrong.
    """
    film = inquiry.recording
    space = inquiry.space
    if not inquiry.may_remember or space.memory or inquiry.gap > 1 or film.frames.shape[1] < 3:
        return None
    try:
        remembering = replace(space, memory=True)
        likely = _weighed(inquiry, remembering)
    except ConfigError:
        return None
    rest = replace(film, frames=film.frames[:, 1:])
    counts = count(rest, space, inquiry.boundary, inquiry.deadline).counts
    if likely.hypotheses[0].evidence < SURE_LOG_ODDS + max(
        _by_chance(counts), _by_noise(counts, space)
    ):
        return None
    states = likely.entries(remembering).argmax(axis=0)
    return identify(replace(inquiry, space=remembering, likely=states, may_remember=False))


def _by_chance(counts: Int64s) -> float:
    """Return the log probability of what followed entries, if all odds are as likely.

    `counts` are votes, shape (entries, states).
    """
    states = counts.shape[1]
    factorials = np.append(0, logarithm(np.arange(1, counts.sum() + states)).cumsum())
    totals = factorials[counts].sum(axis=1) + factorials[states - 1]
    return float((totals - factorials[counts.sum(axis=1) + states - 1]).sum())


def _by_noise(counts: Int64s, space: Space) -> float:
    """Return the log probability of the same, if the rarer outcomes come from wrong cells.

    Each wrong cell may be in as many neighbourhoods as these have cells.
    """
    total = int(counts.sum())
    usual = np.bincount(counts.argmax(axis=1), minlength=space.states)
    wrong = -(-(total - int(counts.max(axis=1).sum())) // (space.cells + 1))
    each = float(logarithm(total * (space.states - 1) + 1))
    return float(Density(space.states).evidence(usual)) - wrong * each


def _other_space(inquiry: Inquiry) -> str:
    """Return a hint: another space whose entries nothing contradicts, or ""."""
    space = inquiry.space
    deadline = _sooner(inquiry.deadline, HINT_SECONDS)
    recording = inquiry.recording
    for edge, hood, symmetry in product(
        ("periodic", "zero", "unknown"), NEIGHBOURHOODS, ("outer-totalistic", "rotations", "none")
    ):
        same = (hood, symmetry, edge) == (space.neighbourhood, space.symmetry, inquiry.boundary)
        if same or hood.startswith("line") != space.line:
            continue
        try:
            other = Space(hood, symmetry, space.states, memory=space.memory)
            votes = count(recording, other, edge, deadline, hasty=True)
        except ConfigError:
            continue
        except OutOfTimeError:
            break
        if not len(votes.contradicted) and votes.counts.any():
            return (
                f"No entry is contradicted with --neighbourhood {hood} --symmetry {symmetry} "
                f"--boundary {edge}"
            )
    return ""


def _remedy(inquiry: Inquiry) -> str:
    """Return a hint: which options might explain the recording."""
    space = inquiry.space
    recording = inquiry.recording
    deadline = _sooner(inquiry.deadline, HINT_SECONDS)
    films, frames, height, width = recording.frames.shape
    if films == 1 and height > 1 < width:
        turned = replace(recording, frames=np.moveaxis(recording.frames, -1, 1))
        with suppress(OutOfTimeError):
            votes = count(turned, space, inquiry.boundary, deadline, hasty=True)
            if not len(votes.contradicted) and votes.counts.any():
                return (
                    f"No entry is contradicted if the last axis is time, {width} frames of "
                    f"{frames}×{height} cells: save np.moveaxis(frames, -1, 0)"
                )
    if recording.complete and inquiry.boundary != "unknown" and not space.memory:
        with suppress(OutOfTimeError):
            if hint := find(recording, space, inquiry.boundary, deadline).hint:
                return hint
    return (
        "Some cells may be recorded wrongly (--noise), frames may be further apart (--gap), or "
        "cells may have states that are not seen (--hidden), or are larger than a pixel (--cell), "
        "or whole blocks of cells may change (--neighbourhood margolus)"
    )
