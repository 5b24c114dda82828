"""Learning a rule from examples, by several ways in turn: `train_examples`."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.evaluation.padded import Padded, prove_padded
from difflogic.evaluation.settled import outcomes, settle
from difflogic.examples.encoding import CLASH, apply_rule, encodings
from difflogic.examples.pairs import MOST_NAMED, Examples, Pair, local, named
from difflogic.examples.reading import read_examples
from difflogic.experiment.session import Session
from difflogic.library.declaration import checked
from difflogic.library.example_experiments import Way, describe, ways_to_learn
from difflogic.library.exchange import MessageCallback, ShouldStop
from difflogic.library.groups import AS_FITS, ExampleOptions
from difflogic.library.loaded import load
from difflogic.library.training import saved_at_interrupts
from difflogic.run.removal import clear, holding
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import run_name
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.callbacks import ignore, never_stop
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted
from difflogic.tasks import Task, make_task

SUSPECTED, FEWEST = 0.1, 10
"""Most of the pairs that may be suspected of being wrong, if not two; and the fewest pairs then."""
MOST_SUSPECTED = 100
"""Pairs up to which each is left out in turn: takes about 20 ms of a pair and 50 others."""
FIRST_EPOCHS, SECOND_EPOCHS = 100, 200
"""Epochs of each way to learn in the first round; each round has twice as many as the one before.
"""


@dataclass(frozen=True)
class Tried:
    """What came of one way to learn."""

    words: str
    right: bool
    """Whether every training pair is right."""
    gates: int
    steps: int
    epochs: int
    seconds: float
    """Processor time."""


@dataclass(frozen=True)
class LearnedRule:
    """A rule learned from examples, as a run."""

    path: Path
    summary: Mapping[str, Any] = field(repr=False)
    """The contents of the run's summary.json; `right_pairs` has the examples that are right."""
    words: str
    """The way that learned it."""
    attempts: tuple[Tried, ...]
    wrong: tuple[str, ...] = ()
    """Where the pairs stand that are wrong, those kept aside included."""
    suspected: tuple[str, ...] = ()
    """The pairs without which it was learned, and which it has wrong: the rest is right."""
    differences: tuple[str, ...] = ()
    """Of wrong pairs, if they are few: a cell of each, what the file says, and what the rule."""
    hint: str = ""
    """What may help, if not all pairs are right."""
    padded: Padded | None = None
    """What is proved of the training pairs with background on both sides, if all are right."""

    @property
    def right(self) -> bool:
        """Whether every training pair is right."""
        return _is_right(self.summary) and not self.suspected

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        attempts = [vars(each) for each in self.attempts]
        padded = None if self.padded is None else vars(self.padded)
        found = {"wrong_pairs": self.wrong, "suspected_pairs": self.suspected}
        own = {"run_directory": str(self.path), "attempts": attempts, "padded": padded, **found}
        return {**self.summary, **own}


@checked
def train_examples(
    source: str | Path | Sequence[str | Path] | Examples,
    options: ExampleOptions = AS_FITS,
    *,
    should_stop: ShouldStop = never_stop,
    on_message: MessageCallback = ignore,
) -> LearnedRule:
    """Learn a rule that turns each grid of some pairs into the other, in a run directory.

    `source` names files, or is `Examples`. Of equal pairs, one counts; it is learned from if any of
    them is. Pairs that are kept aside, by the file or by `hold_out`, choose nothing.

    Several ways to learn take turns. They differ in the bits that stand for symbols, in channels
    and in steps. They end once one is right on all pairs; of those that are right by then, the one
    with the fewest gates, then the fewest steps, becomes the run. If none is, the circuit with the
    most right pairs does.

    Few pairs may be wrong themselves. If the same few stay wrong for twice as many epochs, or if
    an encoding fits all pairs but one, the others are learned alone. Those left out are suspected
    if that finds a rule that is right on all others, also on those kept aside.

    What a killed process left in the directory is removed first.

    Raises ConfigError for pairs that no automaton can learn, and what `train` raises.
    """
    began = time.monotonic()
    requested = None if options.directory is None else Path(options.directory)
    if requested is not None:  # what is wrong with it is said before files are read
        with holding(found := RunDirectory.at(requested)):
            found.require_empty()
    if isinstance(source, Examples):
        examples = source
    else:
        paths = [source] if isinstance(source, str | Path) else source
        examples = read_examples([Path(path) for path in paths])
    examples, left_out = examples.distinct()
    if options.hold_out:
        examples = examples.split(options.hold_out, options.seed)
    ways = ways_to_learn(examples, options)
    for line in (*left_out, *describe(examples, ways)):
        on_message(line)
    run = RunDirectory.create(name=run_name(ways[0].config), requested=requested)
    with holding(run), saved_at_interrupts() as interrupted:
        run.require_empty()

        def stop() -> bool:
            return interrupted() or should_stop() or time.monotonic() - began > options.time_limit

        learned = _keep(run, _Problem(examples, options, ways), stop, on_message)
        if interrupted():
            on_message(f"interrupted; the best circuit so far is in {run.path}")
        elif not (learned.summary["finished"] or should_stop()):
            # The time limit ended it, as asked: it was not interrupted.
            ended = {**learned.summary, "finished": True, "interrupted": False}
            write_summary(run, ended)
            learned = replace(learned, summary=read_summary(run) or ended)
        if learned.right:
            learned = replace(learned, padded=_prove_longer(run, stop))
    learned = replace(learned, wrong=_wrong(run, examples))
    learned = replace(learned, differences=_differences(run, examples, learned.wrong[:MOST_NAMED]))
    return learned if learned.right else replace(learned, hint=_hint(learned, examples, options))


def _wrong(run: RunDirectory, examples: Examples) -> tuple[str, ...]:
    """Return where the examples stand that a run has wrong."""
    automaton, task = _learned(run)
    found = outcomes(automaton, task)
    wrong = {
        str(pair)
        for part, pairs in task.examples.items()
        for pair, right in zip(pairs, found[part], strict=True)
        if not right
    }
    return tuple(p.place for p in (*examples.train, *examples.held_out) if str(p) in wrong)


def _differences(run: RunDirectory, examples: Examples, wrong: Sequence[str]) -> tuple[str, ...]:
    """Return a cell of each wrong pair, what the file says about it, and what the rule says."""
    pairs = [p for p in (*examples.train, *examples.held_out) if p.place in wrong]
    if not pairs:
        return ()
    automaton, task = _learned(run)
    assert task.encoding is not None, "it learned from examples"
    grids, names = [pair.before for pair in pairs], dict(enumerate(examples.symbols))
    names[CLASH] = "?"
    found = apply_rule(task.encoding, task.channels, grids, lambda x: settle(automaton, x).shown)
    words = []
    for pair, after in zip(pairs, found, strict=True):
        for row, column in np.argwhere(after != pair.after)[:1].tolist():
            said, given = names[int(pair.after[row, column])], names[int(after[row, column])]
            place = f"{pair.place}, row {row}, column {column}"
            words.append(f"{place}: the file says {said}, the rule {given}")
    return tuple(words)


def _hint(learned: LearnedRule, examples: Examples, options: ExampleOptions) -> str:
    """Say what may help if not all pairs are right."""
    if learned.suspected:
        return f"check {named(learned.suspected)}, correct or remove it, and train again"
    around = {edge: local(examples.train, edge == "periodic") for edge in ("zero", "periodic")}
    if around["periodic"] and not around["zero"] and options.boundary == "zero":
        return "--boundary periodic: with zeros around, equal nine cells become different"
    if around[options.boundary]:
        return "dct identify may name the rule: equal nine cells never become different"
    few = 0 < len(learned.wrong) <= MOST_NAMED
    check = f"check {named(learned.wrong)}; or try " if few else ""
    return f"{check}more pairs, a longer --time-limit, or other --steps, --channels and --boundary"


def _prove_longer(run: RunDirectory, stop: ShouldStop) -> Padded:
    automaton, task = _learned(run)
    assert task.encoding is not None, "it learned from examples"
    training = task.examples["training"]
    return prove_padded(automaton, task.encoding, task.channels, training, stop)


def _learned(run: RunDirectory) -> tuple[Automaton, Task]:
    loaded = load(run.path)
    return loaded.automaton, make_task(loaded.require_model().config)


@dataclass(frozen=True)
class _Problem:
    """Examples, and the ways to learn from them."""

    examples: Examples
    options: ExampleOptions
    ways: Sequence[Way]

    def few(self, wrong: Collection[str]) -> tuple[str, ...]:
        """Return where the wrong ones of the pairs to learn from stand, if they are few."""
        train = self.examples.train
        found = tuple(pair.place for pair in train if pair.place in wrong)
        most = max(2, SUSPECTED * len(train)) if len(train) >= FEWEST else 0
        return found if len(found) <= most else ()

    @property
    def odd_one(self) -> tuple[str, ...]:
        """The only pair without which more encodings fit, if there is one."""
        given = self.examples
        if not MOST_SUSPECTED >= len(given.train) >= FEWEST:
            return ()

        def fitting(pairs: Sequence[Pair]) -> int:
            return len(encodings(pairs, given.symbols, given.background))

        every = fitting(given.train)
        odd = tuple(
            pair.place
            for n, pair in enumerate(given.train)
            if fitting((*given.train[:n], *given.train[n + 1 :])) > every
        )
        return odd if len(odd) == 1 else ()

    def without(self, places: Collection[str]) -> _Problem | None:
        """Return it with the training pairs at these places kept aside; None if no way fits."""
        try:
            rest = self.examples.without(places)
            return _Problem(rest, self.options, ways_to_learn(rest, self.options))
        except ConfigError:  # what is left has nothing to learn
            return None


def _keep(
    run: RunDirectory, problem: _Problem, stop: ShouldStop, on_message: MessageCallback
) -> LearnedRule:
    """Let ways take turns, in directories inside of `run`; the best one's run becomes `run`.

    If one cannot save, all stay where they are; if none had results when it was stopped, none does.
    """
    try:
        learned = _race(problem, map(run.attempt, count(1)), stop, on_message)
    except TrainingError as error:
        path = for_shell(run.path)
        raise TrainingError(
            f"{error}\nAll that was tried stays in {path}; to remove it: dct runs rm {path}"
        ) from error
    if learned is None:
        clear(run)
        raise KeyboardInterrupt
    best = RunDirectory(learned.path)
    best.write(
        best.attempts, json.dumps([vars(each) for each in learned.attempts], indent=2) + "\n"
    )
    run.adopt(best)
    with suppress(OSError):  # what is left does no harm
        clear(run)
    for number, each in enumerate(learned.attempts, 1):
        outcome = (
            f"right on all pairs, {counted(each.gates, 'gate')}" if each.right else "not right"
        )
        further = number > len(problem.ways)  # `describe` named the others
        words = f" ({each.words})" if further else ""
        on_message(f"way {number}{words}: {outcome}; {each.epochs} epochs, {each.seconds:.1f} s")
    return replace(learned, path=run.path)


def _race(
    problem: _Problem,
    places: Iterator[RunDirectory],
    stop: ShouldStop,
    on_message: MessageCallback,
    most: int | None = None,
) -> LearnedRule | None:
    """Let ways take turns, each in the next of `places`; return the best, None if none has results.

    No way has more than `most` epochs in a round; if that is not None, no pair is suspected.
    """
    ways = problem.ways
    found: dict[int, tuple[Tried, Mapping[str, Any]]] = {}
    sessions: dict[int, Session] = {}
    other: LearnedRule | None = None
    with ExitStack() as entered:
        epochs, seconds = FIRST_EPOCHS, dict.fromkeys(range(len(ways)), 0.0)
        wrong: tuple[str, ...] = ()
        while not any(attempt.right for attempt, _ in found.values()):
            for number, way in enumerate(ways):
                if found and stop():
                    break
                before = time.process_time()
                if number not in sessions:
                    session = Session(way.config, RunDirectory.at(next(places).path))
                    sessions[number] = entered.enter_context(session)
                    session.trainer.warm_up()
                try:
                    summary = _train(sessions[number], epochs, stop)
                except KeyboardInterrupt:  # in its final tests: what the others have counts
                    found.pop(number, None)
                    most = epochs  # this round is the last
                    break
                seconds[number] += time.process_time() - before
                found[number] = _attempt(way, summary, seconds[number]), summary
            if not found:
                return None
            if stop() or (most is not None and epochs >= most):
                break
            best = _best(found)
            if most is None and not found[best][0].right:
                known, wrong = wrong, _wrong(sessions[best].run, problem.examples)
                suspects = problem.few(wrong) if wrong == known else ()
                if not suspects and epochs == SECOND_EPOCHS:
                    suspects = problem.odd_one
                if suspects:
                    on_message(f"trying without {named(suspects)}")
                other = _doubt(problem, suspects, places, stop, epochs)
                if other is not None:
                    break
            epochs *= 2
    best = _best(found)
    attempts = tuple(found[number][0] for number in sorted(found))
    if other is not None:
        return replace(other, attempts=(*attempts, *other.attempts))
    return LearnedRule(sessions[best].run.path, found[best][1], found[best][0].words, attempts)


def _doubt(
    problem: _Problem,
    suspects: Sequence[str],
    places: Iterator[RunDirectory],
    stop: ShouldStop,
    epochs: int,
) -> LearnedRule | None:
    """Learn without some pairs; return None unless that is right on all the others."""
    rest = problem.without(suspects) if suspects else None
    learned = None if rest is None else _race(rest, places, stop, ignore, epochs)
    if learned is None:  # stopped in its first final tests: what the other ways have counts
        return None
    still = _wrong(RunDirectory(learned.path), problem.examples)
    if not (learned.right and {*still} <= {*suspects}):
        return None
    attempts = tuple(
        replace(each, words=f"without {named(suspects)}: {each.words}") for each in learned.attempts
    )
    return replace(learned, attempts=attempts, suspected=still)


def _train(session: Session, epochs: int, stop: ShouldStop) -> dict[str, Any]:
    trainer = session.trainer
    return session.train(lambda: stop() or trainer.epoch >= epochs)


def _attempt(way: Way, summary: Mapping[str, Any], seconds: float) -> Tried:
    scores, steps = summary["scores"], way.config.automaton.steps
    right = _is_right(summary)
    gates = scores["checked"]["active_gates"]
    return Tried(way.words, right, gates, steps, summary["epochs"], round(seconds, 2))


def _is_right(summary: Mapping[str, Any]) -> bool:
    right, total = summary["scores"]["right_pairs"]["training"]
    return bool(summary["scores"]["checked"]["exact"] and right == total)


def _best(found: Mapping[int, tuple[Tried, Mapping[str, Any]]]) -> int:
    return min(found, key=lambda number: (*_cost(*found[number]), number))


def _cost(attempt: Tried, summary: Mapping[str, Any]) -> tuple[bool, int, int, int]:
    """Return what makes one result better than another, the smaller the better."""
    wrong = 0 if attempt.right else -summary["scores"]["right_pairs"]["training"][0]
    return not attempt.right, wrong, attempt.gates, attempt.steps
