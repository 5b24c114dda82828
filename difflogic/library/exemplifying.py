"""Learning a rule from examples, by several ways in turn: `train_examples`."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from difflogic.evaluation.padding import Padded, prove_padded
from difflogic.examples.pairs import Examples
from difflogic.examples.reading import read_examples
from difflogic.library.exchange import MessageCallback, ShouldStop
from difflogic.library.groups import AS_FITS, ExampleOptions
from difflogic.library.loaded import load
from difflogic.library.training import saved_at_interrupts
from difflogic.library.ways import Way, describe, ways_to_learn
from difflogic.run.removal import clear_remains
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import run_name
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.callbacks import ignore, never_stop
from difflogic.system.quantities import counted
from difflogic.tasks import make_task
from difflogic.training.session import Session

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
    padded: Padded | None = None
    """What is proved of the training pairs with background on both sides, if all are right."""

    @property
    def right(self) -> bool:
        """Whether every training pair is right."""
        return _is_right(self.summary)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        attempts = [vars(each) for each in self.attempts]
        padded = None if self.padded is None else vars(self.padded)
        own = {"run_directory": str(self.path), "attempts": attempts, "padded": padded}
        return {**self.summary, **own}


def train_examples(
    source: str | Path | Sequence[str | Path] | Examples,
    options: ExampleOptions = AS_FITS,
    *,
    should_stop: ShouldStop = never_stop,
    on_message: MessageCallback = ignore,
) -> LearnedRule:
    """Learn a rule that turns each grid of some pairs into the other, in a run directory.

    `source` names files, or is `Examples`. Several ways to learn, which differ in the bits that
    stand for symbols, in channels and steps, take turns until one is right on all pairs; of those
    that are right by then, the one with the fewest gates, then the fewest steps, becomes the run.
    Pairs that are kept aside, by the file or by `hold_out`, choose nothing. Of equal pairs, one
    counts, and it is learned from if any of them is. If no way is right, the run has the circuit
    with the most right pairs. What a killed process left in the directory is removed first.

    Raises ConfigError for pairs that no automaton can learn, and what `train` raises.

    """
    began = time.monotonic()
    requested = None if options.directory is None else Path(options.directory)
    if requested is not None:  # what is wrong with it is said before files are read
        clear_remains(requested)
        RunDirectory.create(requested=requested).remove_if_made()
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
    with ExitStack() as stack:
        stack.callback(run.remove_if_made)
        interrupted = stack.enter_context(saved_at_interrupts())

        def stop() -> bool:
            return interrupted() or should_stop() or time.monotonic() - began > options.time_limit

        learned = _race(ways, run, stop, on_message)
        if interrupted():
            on_message(f"interrupted; the best circuit so far is in {run.path}")
        elif not (learned.summary["finished"] or should_stop()):
            # The time limit ended it, as asked: it was not interrupted.
            ended = {**learned.summary, "finished": True, "interrupted": False}
            write_summary(run, ended)
            learned = replace(learned, summary=read_summary(run) or ended)
        if learned.right:
            learned = replace(learned, padded=_prove_longer(run, stop))
    return learned


def _prove_longer(run: RunDirectory, stop: ShouldStop) -> Padded:
    loaded = load(run.path)
    assert loaded.model is not None, "a run has a model"
    task = make_task(loaded.model.config)
    assert task.encoding is not None, "it learned from examples"
    pairs = task.examples["training"]
    return prove_padded(loaded.automaton, task.encoding, task.channels, pairs, stop)


def _race(
    ways: Sequence[Way], run: RunDirectory, stop: ShouldStop, on_message: MessageCallback
) -> LearnedRule:
    """Let ways take turns, in directories inside of `run`; keep the best one's run there."""
    places = [run.attempt(number) for number in range(1, len(ways) + 1)]
    found: dict[int, tuple[Tried, Mapping[str, Any]]] = {}
    with ExitStack() as stack:
        for place in places:
            stack.callback(shutil.rmtree, place.path, ignore_errors=True)
        with ExitStack() as entered:
            sessions: dict[int, Session] = {}
            epochs, seconds = FIRST_EPOCHS, dict.fromkeys(range(len(ways)), 0.0)
            while not any(attempt.right for attempt, _ in found.values()):
                for number, way in enumerate(ways):
                    if found and stop():
                        break
                    before = time.process_time()
                    if number not in sessions:
                        session = Session(way.config, RunDirectory.at(places[number].path))
                        sessions[number] = entered.enter_context(session)
                        session.trainer.warm_up()
                    try:
                        summary = _train(sessions[number], epochs, stop)
                    except KeyboardInterrupt:  # in its final tests: what the others have counts
                        found.pop(number, None)
                        if not found:
                            raise
                        break
                    seconds[number] += time.process_time() - before
                    found[number] = _attempt(way, summary, seconds[number]), summary
                if stop():
                    break
                epochs *= 2
        attempts = tuple(found[number][0] for number in sorted(found))
        best = min(found, key=lambda number: (*_cost(*found[number]), number))
        attempt, result = found[best]
        run.adopt(places[best])
    run.write(run.attempts, json.dumps([vars(each) for each in attempts], indent=2) + "\n")
    for number, each in enumerate(attempts, 1):
        outcome = (
            f"right on all pairs, {counted(each.gates, 'gate')}" if each.right else "not right"
        )
        on_message(f"way {number}: {outcome}; {each.epochs} epochs, {each.seconds:.1f} s")
    return LearnedRule(run.path, result, attempt.words, attempts)


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


def _cost(attempt: Tried, summary: Mapping[str, Any]) -> tuple[bool, int, int, int]:
    """Return what makes one result better than another, the smaller the better."""
    wrong = 0 if attempt.right else -summary["scores"]["right_pairs"]["training"][0]
    return not attempt.right, wrong, attempt.gates, attempt.steps
