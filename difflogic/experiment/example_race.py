"""Ways to learn from examples that take turns until one is right: `race`."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.evaluation.settled import outcomes
from difflogic.examples.encoding import encodings
from difflogic.examples.pairs import Examples, Pair, named
from difflogic.experiment.example_options import ExampleOptions
from difflogic.experiment.example_ways import Way, ways_to_learn
from difflogic.experiment.session import Session
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory, saved_model
from difflogic.run.summary import Summary
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError
from difflogic.system.work import Stopped, say
from difflogic.tasks import Task, make_task

SUSPECTED = 0.1
FEWEST_PAIRS = 10
"""Most of the pairs that may be suspected of being wrong, if not two; and the fewest pairs then."""
MOST_SUSPECTED = 100
"""Pairs up to which each is left out in turn: takes about 20 ms of a pair and 50 others."""
FIRST_EPOCHS = 100
SECOND_EPOCHS = 200
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
    processor_seconds: float


@dataclass(frozen=True)
class LearnedRule:
    """A rule learned from examples, as a run."""

    path: Path
    summary: Summary = field(repr=False)
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

    @property
    def right(self) -> bool:
        """Whether every training pair is right."""
        return _is_right(self.summary) and not self.suspected

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        attempts = [vars(each) for each in self.attempts]
        found = {"wrong_pairs": self.wrong, "suspected_pairs": self.suspected}
        own = {"run_directory": str(self.path), "attempts": attempts, **found}
        return {**self.summary.as_dict(), **own}


@dataclass(frozen=True)
class Lessons:
    """Examples, and the ways to learn from them."""

    examples: Examples
    options: ExampleOptions
    ways: Sequence[Way]

    def few(self, wrong: Collection[str]) -> tuple[str, ...]:
        """Return where the wrong ones of the pairs to learn from stand, if they are few."""
        train = self.examples.train
        found = tuple(pair.place for pair in train if pair.place in wrong)
        most = max(2, SUSPECTED * len(train)) if len(train) >= FEWEST_PAIRS else 0
        return found if len(found) <= most else ()

    @property
    def odd_one(self) -> tuple[str, ...]:
        """The only pair without which more encodings fit, if there is one."""
        given = self.examples
        train = self.examples.train
        if not MOST_SUSPECTED >= len(train) >= FEWEST_PAIRS:
            return ()

        def fitting(pairs: Sequence[Pair]) -> int:
            return len(encodings(pairs, given.symbols, given.background))

        every = fitting(train)
        parts = ((pair.place, (*train[:n], *train[n + 1 :])) for n, pair in enumerate(train))
        odd = tuple(place for place, rest in parts if fitting(rest) > every)
        return odd if len(odd) == 1 else ()

    def without(self, places: Collection[str]) -> Lessons | None:
        """Return them with the training pairs at these places suspected; None if no way fits."""
        try:
            rest = self.examples.without(places)
            return Lessons(rest, self.options, ways_to_learn(rest, self.options))
        except ConfigError:  # what is left has nothing to learn
            return None


@dataclass
class _Runner:
    """A way to learn that takes part in a race."""

    way: Way
    session: Session
    summary: Summary | None = None
    """Of its run; None before it ends a round, and if its final tests are stopped."""
    seconds: float = 0.0

    def learn(self, epochs: int, limit: Deadline) -> None:
        """Train up to a number of epochs. Raises Stopped in the final tests."""
        trainer, self.summary = self.session.trainer, None
        self.summary = self.session.train(lambda: limit.passed or trainer.epoch >= epochs)

    @property
    def tried(self) -> Tried:
        assert self.summary is not None
        return Tried(
            self.way.words,
            _is_right(self.summary),
            self.summary.scores.checked.active_gates,
            self.way.config.automaton.steps,
            self.summary.epochs,
            round(self.seconds, 2),
        )

    @property
    def cost(self) -> tuple[bool, int, int, int]:
        """What makes one result better than another, the smaller the better."""
        assert self.summary is not None
        tried = self.tried
        right_pairs = 0 if tried.right else _right_pairs(self.summary)[0]
        return not tried.right, -right_pairs, tried.gates, tried.steps


def race(
    lessons: Lessons, places: Iterator[RunDirectory], limit: Deadline, most: int | None = None
) -> LearnedRule | None:
    """Let ways take turns, each in the next of `places`; return the best, None if none has results.

    No way has more than `most` epochs in a round; if that is not None, no pair is suspected.
    """
    runners: list[_Runner] = []
    ended: list[_Runner] = []
    other: LearnedRule | None = None
    with ExitStack() as entered:
        epochs = FIRST_EPOCHS
        wrong = tuple[str, ...]()
        while not any(each.tried.right for each in ended):
            for number, way in enumerate(lessons.ways):
                if ended and limit.passed:
                    break
                before = time.process_time()
                if number == len(runners):
                    session = Session(way.config, RunDirectory.at(next(places).path))
                    runners.append(_Runner(way, entered.enter_context(session)))
                    session.trainer.warm_up()
                try:
                    runners[number].learn(epochs, limit)
                except Stopped:  # in its final tests: what the others have counts
                    most = epochs  # this round is the last
                    break
                finally:
                    runners[number].seconds += time.process_time() - before
                    ended = [each for each in runners if each.summary is not None]
            if not ended:
                return None
            best = min(ended, key=lambda each: each.cost)
            if best.tried.right or limit.passed or (most is not None and epochs >= most):
                break
            if most is None:
                known, wrong = wrong, wrong_places(best.session.run, lessons.examples)
                suspects = lessons.few(wrong) if wrong == known else ()
                if not suspects and epochs == SECOND_EPOCHS:
                    suspects = lessons.odd_one
                if suspects:
                    say(f"trying without {named(suspects)}")
                    other = _doubt(lessons, suspects, places, limit, epochs)
                if other is not None:
                    break
            epochs *= 2
    attempts = tuple(each.tried for each in ended)
    if other is not None:
        return replace(other, attempts=(*attempts, *other.attempts))
    assert best.summary is not None
    return LearnedRule(best.session.run.path, best.summary, best.way.words, attempts)


def _doubt(
    lessons: Lessons,
    suspects: Sequence[str],
    places: Iterator[RunDirectory],
    limit: Deadline,
    epochs: int,
) -> LearnedRule | None:
    """Learn without some pairs; return None unless that is right on all the others."""
    rest = lessons.without(suspects)
    learned = None if rest is None else race(rest, places, limit, epochs)
    if learned is None:  # stopped in its first final tests: what the other ways have counts
        return None
    still = wrong_places(RunDirectory(learned.path), lessons.examples)
    if not (learned.right and {*still} <= {*suspects}):
        return None
    attempts = tuple(
        replace(each, words=f"without {named(suspects)}: {each.words}") for each in learned.attempts
    )
    return replace(learned, attempts=attempts, suspected=still)


def learned_by(run: RunDirectory) -> tuple[Automaton, Task]:
    """Return the automaton of a run, and its task."""
    model = Model.load(saved_model(run.path))
    return from_model(model), make_task(model.config)


def wrong_places(run: RunDirectory, examples: Examples) -> tuple[str, ...]:
    """Return where the examples stand that a run has wrong."""
    automaton, task = learned_by(run)
    found = outcomes(automaton, task)
    wrong = {
        str(pair)
        for part, pairs in task.examples.items()
        for pair, right in zip(pairs, found[part], strict=True)
        if not right
    }
    return tuple(p.place for p in examples.every if str(p) in wrong)


def _right_pairs(summary: Summary) -> tuple[int, int]:
    """Return how many training pairs are right, and of how many."""
    assert summary.scores.right_pairs is not None, "it learned from examples"
    return summary.scores.right_pairs["training"]


def _is_right(summary: Summary) -> bool:
    right, total = _right_pairs(summary)
    return summary.scores.checked.exact and right == total
