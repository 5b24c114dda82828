"""Ways to learn from examples that take turns until one is right: `race`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.evaluation.settled import outcomes
from difflogic.examples.pairs import Examples
from difflogic.experiment.example_ways import Way
from difflogic.experiment.session import Session
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory, saved_model
from difflogic.run.summary import Summary
from difflogic.system.deadline import Deadline
from difflogic.system.work import Stopped
from difflogic.tasks import Task, make_task

FIRST_EPOCHS = 100
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
    differences: tuple[str, ...] = ()
    """Of wrong pairs, if they are few: a cell of each, what the file says, and what the rule."""
    hint: str = ""
    """What may help, if not all pairs are right."""

    @property
    def right(self) -> bool:
        """Whether every training pair is right."""
        return _is_right(self.summary)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        attempts = [vars(each) for each in self.attempts]
        return {
            **self.summary.as_dict(),
            "run_directory": str(self.path),
            "attempts": attempts,
            "wrong_pairs": self.wrong,
        }


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
    ways: Sequence[Way], places: Iterator[RunDirectory], limit: Deadline
) -> LearnedRule | None:
    """Let ways take turns, each in the next of `places`; return the best, if one has results."""
    runners: list[_Runner] = []
    ended: list[_Runner] = []
    is_last = False
    epochs = FIRST_EPOCHS
    with ExitStack() as entered:
        while True:
            for number, way in enumerate(ways):
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
                    is_last = True
                    break
                finally:
                    runners[number].seconds += time.process_time() - before
                    ended = [each for each in runners if each.summary is not None]
            if not ended:
                return None
            best = min(ended, key=lambda each: each.cost)
            if is_last or best.tried.right or limit.passed:
                break
            epochs *= 2
    assert best.summary is not None
    attempts = tuple(each.tried for each in ended)
    return LearnedRule(best.session.run.path, best.summary, best.way.words, attempts)


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
