"""Learning a rule from examples, by several ways in turn: `train_examples`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.evaluation.padded import prove_padded
from difflogic.evaluation.settled import answers
from difflogic.examples.encoding import CLASH
from difflogic.examples.pairs import MOST_NAMED, Examples, local, named
from difflogic.examples.reading import read_examples
from difflogic.experiment.example_options import AS_FITS, ExampleOptions
from difflogic.experiment.example_race import LearnedRule, learned_by, race, wrong_places
from difflogic.experiment.example_ways import Way, describe, ways_to_learn
from difflogic.run.lock import clear, holding
from difflogic.run.measures import Clocks, clocks
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import run_name
from difflogic.run.summary import Seconds, read_summary, write_summary
from difflogic.system.deadline import Deadline, never_stop
from difflogic.system.declaration import checked
from difflogic.system.errors import TrainingError
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted
from difflogic.system.stops import deferring_interrupts
from difflogic.system.work import Stopped, say, stopped, working


@checked
def train_examples(
    source: str | Path | Sequence[str | Path] | Examples,
    options: ExampleOptions = AS_FITS,
    *,
    should_stop: Callable[[], bool] = never_stop,
    began: Clocks | None = None,
) -> LearnedRule:
    """Learn a rule that turns each grid of some pairs into the other, in a run directory.

    `source` names files, or is `Examples`. Of equal pairs, one counts; it is learned from if any of
    them is. Pairs that are kept aside, by the file or by `hold_out`, choose nothing.

    Several ways to learn take turns. They differ in the bits that stand for symbols, in channels
    and in steps. They end once one is right on all pairs; of those that are right by then, the one
    with the fewest gates, then the fewest steps, becomes the run. If none is, the circuit with the
    most right pairs does.

    What a killed process left in the directory is removed first. The seconds in the summary are
    those of all ways, from `began` on, by default the call.

    Raises ConfigError for pairs that no automaton can learn, and what `train` raises.
    """
    began = began or clocks()
    called = time.monotonic()
    requested = options.directory
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
        say(line)
    run = RunDirectory.create(run_name(ways[0].config), requested)
    with holding(run), deferring_interrupts():
        run.require_empty()
        limit = Deadline(called + options.time_limit, lambda: stopped() or should_stop())
        learned = _keep(run, ways, limit)
        new: dict[str, Any] = {"seconds": _seconds(learned, began)}
        if stopped():
            say(f"interrupted; the best circuit so far is in {run.path}")
        elif not (learned.summary.finished or should_stop()):
            # The time limit ended it, as asked: it was not interrupted.
            new |= {"finished": True, "interrupted": False}
        if learned.right:
            automaton, task = learned_by(run)
            assert task.encoding is not None, "it learned from examples"
            pairs = task.examples["training"]
            padded = prove_padded(automaton, task.encoding, task.channels, pairs, limit)
            learned.summary.scores.padded = padded
        whole = learned.summary.model_copy(update=new)
        write_summary(run, whole)
        learned = replace(learned, summary=read_summary(run) or whole)
    with working(asked=never_stop):  # what it says of a result is quick
        wrong = wrong_places(run, examples)
        differences = _differences(run, examples, wrong[:MOST_NAMED])
    learned = replace(learned, wrong=wrong, differences=differences)
    return learned if learned.right else replace(learned, hint=_hint(learned, examples, options))


def _seconds(learned: LearnedRule, began: Clocks) -> Seconds:
    """Return the seconds of a whole race, with those of the ways that did not win as `others`."""
    seconds = learned.summary.seconds
    own = seconds.training + seconds.start + seconds.compilation + seconds.tests
    wall, processor = (now - then for then, now in zip(began, clocks(), strict=True))
    new = {"all": wall, "processor": processor, "others": wall - own}
    return seconds.model_copy(update=new)


def _differences(run: RunDirectory, examples: Examples, wrong: Sequence[str]) -> tuple[str, ...]:
    """Return a cell of each wrong pair, what the file says about it, and what the rule says."""
    pairs = [p for p in examples.every if p.place in wrong]
    if not pairs:
        return ()
    automaton, task = learned_by(run)
    assert task.encoding is not None, "it learned from examples"
    grids = [pair.before for pair in pairs]
    names = dict(enumerate(examples.symbols))
    names[CLASH] = "two symbols"
    found = answers(automaton, task.encoding, grids)
    words = []
    for pair, after in zip(pairs, found, strict=True):
        for row, column in np.argwhere(after != pair.after)[:1].tolist():
            said = names[int(pair.after[row, column])]
            given = names[int(after[row, column])]
            place = f"{pair.place}, row {row}, column {column}"
            words.append(f"{place}: the file says {said}, the rule {given}")
    return tuple(words)


def _hint(learned: LearnedRule, examples: Examples, options: ExampleOptions) -> str:
    """Say what may help if not all pairs are right."""
    around = {edge: local(examples.train, edge == "periodic") for edge in ("zero", "periodic")}
    if around["periodic"] and not around["zero"] and options.boundary == "zero":
        return "--boundary periodic: with zeros around, equal nine cells become different"
    if around[options.boundary]:
        return "dct identify may name the rule: equal nine cells never become different"
    few = 0 < len(learned.wrong) <= MOST_NAMED
    check = f"check {named(learned.wrong)}; or try " if few else ""
    return f"{check}more pairs, a longer --time-limit, or other --steps, --channels and --boundary"


def _keep(run: RunDirectory, ways: Sequence[Way], limit: Deadline) -> LearnedRule:
    """Let ways take turns, in directories inside of `run`; the best one's run becomes `run`.

    If one cannot save, all stay where they are; if none had results when it was stopped, none does.
    """
    try:
        learned = race(ways, map(run.attempt, count(1)), limit)
    except TrainingError as error:
        path = for_shell(run.path)
        raise TrainingError(
            f"{error}\nAll that was tried stays in {path}; to remove it: dct runs rm {path}"
        ) from error
    if learned is None:
        clear(run)
        raise Stopped
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
        spent = f"{each.epochs} epochs, {each.processor_seconds:.1f} CPU s"
        say(f"way {number}: {outcome}; {spent}")
    return replace(learned, path=run.path)
