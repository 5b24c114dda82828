"""Learning a rule from examples, and applying it: `train_examples`, `apply`."""

from __future__ import annotations

import io
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from difflogic.config import Config
from difflogic.config.checking import check
from difflogic.config.sections import fit_layer_widths
from difflogic.evaluation.padding import Padded, prove_padded
from difflogic.evaluation.settling import settle
from difflogic.examples.encoding import CLASH, Encoding, apply_rule, encodings
from difflogic.examples.pairs import MOST_SYMBOLS, Examples, largest, without_background
from difflogic.examples.reading import Raw, numbered, raw_grids, read_examples, read_inputs
from difflogic.library.common import MessageCallback, ShouldStop, require_output, write_output
from difflogic.library.loading import load
from difflogic.library.options import (
    Grids,
    NewDirectory,
    Opt,
    Seconds,
    Seed,
    Share,
    Source,
    checked,
)
from difflogic.library.removing import clear_remains
from difflogic.library.training import saved_at_interrupts
from difflogic.system.archive import write_npz
from difflogic.system.callbacks import ignore, never_stop
from difflogic.system.errors import ConfigError
from difflogic.system.files import ATTEMPTS, CONFIG, write_whole
from difflogic.system.quantities import counted
from difflogic.tasks import make_task
from difflogic.training.run_directory import RunDirectory, run_name
from difflogic.training.session import Session

FIRST_EPOCHS = 100
"""Epochs of each way to learn in the first round; each round has twice as many as the one before.
"""

STAGES = (0.15, 0.35, 0.65)
"""Shares of the examples, the smallest ones, that the stages learn from."""

SHORT = 2, 4
"""Most equal rows or columns side by side in the stages before these."""

FEW = 12
"""Up to this many pairs are shortened for stages: among more there are small ones."""


@dataclass(frozen=True)
class Way:
    """One way to learn from examples."""

    config: Config
    words: str


@dataclass(frozen=True)
class Attempt:
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
class Learned:
    """A rule learned from examples, as a run."""

    path: Path
    summary: Mapping[str, Any] = field(repr=False)
    """The contents of the run's summary.json; `right_pairs` has the examples that are right."""
    words: str
    """The way that learned it."""
    attempts: tuple[Attempt, ...]
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


@checked
def train_examples(
    source: str | Path | Sequence[str | Path] | Examples,
    *,
    hold_out: Share = 0.0,
    symbols: Literal["alike", "by-name"] | None = None,
    steps: Annotated[int, Opt(1, 10**6)] | None = None,
    channels: Annotated[int, Opt(1, 65536)] | None = None,
    boundary: Literal["zero", "periodic"] = "zero",
    name: str = "examples",
    seed: Seed = 0,
    time_limit: Seconds = 120.0,
    directory: NewDirectory | None = None,
    should_stop: ShouldStop = never_stop,
    on_message: MessageCallback = ignore,
) -> Learned:
    """Learn a rule that turns each grid of some pairs into the other, in a run directory.

    `source` names files, or is `Examples`. Several ways to learn, which differ in the bits that
    stand for symbols, in channels and steps, take turns until one is right on all pairs; of those
    that are right by then, the one with the fewest gates, then the fewest steps, becomes the run.
    Pairs that are kept aside, by the file or by `hold_out`, choose nothing. Of equal pairs, one
    counts, and it is learned from if any of them is. If no way is right, the run has the circuit
    with the most right pairs. What a killed process left in `directory` is removed first.

    Raises ConfigError for pairs that no automaton can learn, and what `train` raises.

    Operands:
        source FILE: Pairs of grids: JSON as in ARC, JSON lines, CSV or NPZ
    Options:
        hold_out: Share of the pairs to keep aside, as a test
        symbols: Treat all symbols alike, or know them by name, by default whatever fits the pairs
        steps: Automaton steps, by default several are tried
        channels: State bits per cell, by default several are tried
        boundary: Zeros beyond the grid's edge, or the opposite edge
        name: Name of the rule, and of its run
        time_limit: Time limit for learning
        directory --dir DIR: Run directory, new or empty, by default a new one in runs/
    """
    began = time.monotonic()
    if isinstance(source, Examples):
        examples = source
    else:
        paths = [source] if isinstance(source, str | Path) else source
        examples = read_examples([Path(path) for path in paths])
    examples, left_out = examples.distinct()
    if hold_out:
        examples = examples.split(hold_out, seed)
    ways = ways_to_learn(
        examples,
        symbols=symbols,
        steps=steps,
        channels=channels,
        boundary=boundary,
        name=name,
        seed=seed,
    )
    for line in (*left_out, *describe(examples, ways)):
        on_message(line)
    requested = None if directory is None else Path(directory)
    if requested is not None:
        clear_remains(requested)
    run = RunDirectory.create(name=run_name(ways[0].config), requested=requested)
    with ExitStack() as stack:
        stack.callback(run.remove_if_made)
        interrupted = stack.enter_context(saved_at_interrupts())

        def stop() -> bool:
            return interrupted() or should_stop() or time.monotonic() - began > time_limit

        learned = _race(ways, run.path, stop, on_message)
        if interrupted():
            on_message(f"interrupted; the best circuit so far is in {run.path}")
        elif not (learned.summary["finished"] or should_stop()):
            # The time limit ended it, as asked: it was not interrupted.
            ended = {**learned.summary, "finished": True, "interrupted": False}
            run.write_summary(ended)
            learned = replace(learned, summary=run.read_summary() or ended)
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


def describe(examples: Examples, ways: Sequence[Way]) -> list[str]:
    """Say what was read, and what will be tried."""
    least, most = ("×".join(map(str, size)) for size in examples.sizes)
    sizes = least if least == most else f"{least} to {most}"
    aside = f", {len(examples.held_out)} kept aside" if examples.held_out else ""
    names = ", ".join(examples.symbols)
    background = examples.symbols[examples.background]
    return [
        f"{examples.source}: {counted(len(examples.train), 'pair')} to learn from{aside}; {sizes} "
        f"cells; symbols {names}; background {background}",
        *(f"way {number}: {way.words}" for number, way in enumerate(ways, 1)),
    ]


def ways_to_learn(
    examples: Examples,
    *,
    symbols: str | None = None,
    steps: int | None = None,
    channels: int | None = None,
    boundary: str = "zero",
    name: str = "examples",
    seed: int = 0,
) -> list[Way]:
    """Return the ways to learn from examples that are worth trying, the quickest first.

    Raises ConfigError if no encoding fits: if the same bits would need different results.
    """
    fitting = encodings(examples.train, examples.symbols, examples.background)
    height, width = largest(examples.train)
    alike = any(each.per_symbol for each in fitting)
    if symbols is not None or (alike and height == 1):
        alike = symbols != "by-name"
        fitting = [each for each in fitting if each.per_symbol == alike]
    if not fitting:
        how = "" if symbols is None else f" with --symbols {symbols}"
        raise ConfigError(
            f"{examples.source}: no encoding fits{how}: cells that look alike need different "
            "symbols: correct the pairs, or let dct choose"
        )
    needed = min(len(each.features) + len(each.outputs) for each in fitting)
    if channels is not None and channels < needed:
        raise ConfigError(
            f"--channels {channels}: the bits that say what is in a cell, and the answer, need "
            f"{needed} or more"
        )
    found: list[Way] = []
    for encoding in fitting:
        if channels is not None and channels < len(encoding.features) + len(encoding.outputs):
            continue
        for size in _sizes(encoding, max(height, width)):
            config = _configure(
                examples,
                encoding,
                replace(size, steps=steps or size.steps, channels=channels or size.channels),
                boundary=boundary,
                name=name,
                seed=seed,
            )
            way = Way(config, _words(config, encoding))
            if way.words not in [each.words for each in found]:
                found.append(way)
    return found


@dataclass(frozen=True)
class Size:
    """A size of circuit, and how long it runs."""

    steps: int
    channels: int
    gates: tuple[int, ...]
    """Of the update's first layers."""
    staged: bool = True
    """Whether the smallest examples come first."""
    shortened: tuple[int, ...] = ()
    """Most equal rows, or columns, side by side in the examples that come first of all."""
    restart: int = 50
    """Epochs until learning starts over."""


def _sizes(encoding: Encoding, side: int) -> list[Size]:
    """Return the sizes of circuit to try on grids with the longest side `side`.

    The notebook has the measurements behind them (docs/notebook/examples.md).
    """
    shown = len(encoding.features) + len(encoding.outputs)
    if encoding.features == ("single",):
        return [Size(ceil(1.5 * side), shown, (32, 16, 8, 4), shortened=SHORT)]
    if encoding.moving:
        return [Size(side, shown, (32, 16, 8), shortened=SHORT)]
    if encoding.features == ("this",):
        return [Size(side, shown + 1, (32, 16, 8))]
    if "largest" in encoding.features:
        return [Size(2, shown + 1, (48, 24, 12), staged=False)]
    far = Size(side, shown + 4, (64, 32, 16))
    if encoding.per_symbol:
        return [Size(2, shown + 2, (48, 24, 12), staged=False), far]
    wide = (128, 64, 32, 16)
    return [*(Size(steps, shown + 3, wide, staged=False, restart=200) for steps in (3, 6)), far]


def _configure(
    examples: Examples, encoding: Encoding, size: Size, *, boundary: str, name: str, seed: int
) -> Config:
    height, width = largest(examples.train)
    channels = size.channels
    shown, line = len(encoding.features), height == 1
    kernels, per_kernel = 8 if channels < 4 else 4, [4, 2, 1]
    if not line:
        kernels, per_kernel = 8, [8, 4, 2, 1]
    runs = sum(len(encoding.runs(pair.before)) for pair in examples.train)
    return check(
        {
            "name": name,
            "task": {
                "kind": "examples",
                "height": height,
                "width": width,
                "pairs": list(map(str, examples.train)),
                "held_out": list(map(str, examples.held_out)),
                "symbols": list(encoding.symbols),
                "background": encoding.background,
                "features": list(encoding.features),
                "outputs": list(encoding.outputs),
                "stages": _stages(examples) if size.staged else [],
                "shortened": list(size.shortened if len(examples.train) <= FEW else ()),
                "inputs": list(encoding.held),
                "loss_channels": list(range(shown, shown + len(encoding.outputs))),
            },
            "automaton": {"channels": channels, "boundary": boundary, "steps": size.steps},
            "perception": {
                "kernels": kernels,
                "gates": per_kernel,
                "wiring": "line" if line else "moore",
                "directions": "random",
            },
            "update": {
                "gates": fit_layer_widths([*size.gates, 0], channels * (1 + kernels), channels)
            },
            "training": {
                "seed": seed,
                "epochs": 100_000,
                "batch": min(32, runs),
                "learning_rate": 0.3,
                "weight_decay": 0.0,
                "restart_every": size.restart,
                "initial_logit": 5.0,
                "later_steps": max(1, size.steps // 2),
            },
            "finishing": {"every": 10, "from_epoch": 10, "candidates": 6000, "polish": 6000},
        },
        examples.source,
        {("name",): f"--name {name}"},
        [],
    )


def _stages(examples: Examples) -> list[int]:
    """Return the longest sides of the smallest examples, without the background around them."""
    sides = sorted(
        max(without_background(pair, examples.background).before.shape) for pair in examples.train
    )
    chosen = {sides[ceil(share * len(sides)) - 1] for share in STAGES}
    return sorted(chosen - {max(largest(examples.train))})


def _words(config: Config, encoding: Encoding) -> str:
    automaton, per_symbol = config.automaton, encoding.per_symbol
    symbols = "run once per symbol" if per_symbol else "symbols known by name"
    stages = config.task.model_dump()["stages"]
    first = f", examples of up to {', '.join(map(str, stages))} cells first" if stages else ""
    given = ", ".join(name.removeprefix("=") for name in encoding.features)
    return (
        f"{symbols}; each cell is told: {given}; {counted(automaton.channels, 'bit')} per cell, "
        f"{counted(automaton.steps, 'step')}{first}"
    )


def _race(
    ways: Sequence[Way], path: Path, stop: ShouldStop, on_message: MessageCallback
) -> Learned:
    """Let ways take turns, in directories inside of `path`; keep the best one's run there."""
    places = [path / f".attempt-{number}" for number in range(1, len(ways) + 1)]
    found: dict[int, tuple[Attempt, Mapping[str, Any]]] = {}
    with ExitStack() as stack:
        for place in places:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
        with ExitStack() as entered:
            sessions: dict[int, Session] = {}
            epochs, seconds = FIRST_EPOCHS, dict.fromkeys(range(len(ways)), 0.0)
            while not any(attempt.right for attempt, _ in found.values()):
                for number, way in enumerate(ways):
                    if found and stop():
                        break
                    before = time.process_time()
                    if number not in sessions:
                        session = Session(way.config, RunDirectory.at(places[number]))
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
        # The configuration first: once it is there, `dct runs rm` knows the directory.
        for file in sorted(places[best].iterdir(), key=lambda file: file.name != CONFIG):
            file.rename(path / file.name)
    rows = json.dumps([vars(each) for each in attempts], indent=2) + "\n"
    write_whole(path / ATTEMPTS, lambda file: file.write(rows.encode()))
    for number, each in enumerate(attempts, 1):
        outcome = (
            f"right on all pairs, {counted(each.gates, 'gate')}" if each.right else "not right"
        )
        on_message(f"way {number}: {outcome}; {each.epochs} epochs, {each.seconds:.1f} s")
    return Learned(path, result, attempt.words, attempts)


def _train(session: Session, epochs: int, stop: ShouldStop) -> dict[str, Any]:
    trainer = session.trainer
    return session.train(lambda: stop() or trainer.epoch >= epochs)


def _attempt(way: Way, summary: Mapping[str, Any], seconds: float) -> Attempt:
    scores, steps = summary["scores"], way.config.automaton.steps
    right = _is_right(summary)
    gates = scores["checked"]["active_gates"]
    return Attempt(way.words, right, gates, steps, summary["epochs"], round(seconds, 2))


def _is_right(summary: Mapping[str, Any]) -> bool:
    right, total = summary["scores"]["right_pairs"]["training"]
    return bool(summary["scores"]["checked"]["exact"] and right == total)


def _cost(attempt: Attempt, summary: Mapping[str, Any]) -> tuple[bool, int, int, int]:
    """Return what makes one result better than another, the smaller the better."""
    wrong = 0 if attempt.right else -summary["scores"]["right_pairs"]["training"][0]
    return not attempt.right, wrong, attempt.gates, attempt.steps


@dataclass(frozen=True)
class Applied:
    """What a rule makes of a grid."""

    place: str
    before: tuple[tuple[str, ...], ...]
    """The names of symbols, by row and column."""
    after: tuple[tuple[str, ...], ...]
    """A cell for which the rule gives two symbols has the name "?"."""
    right: bool | None
    """Whether this is the output in the file; None if it has none."""


@checked
def apply(source: Source, inputs: Grids) -> list[Applied]:
    """Apply a rule that was learned from examples to other grids of any size.

    `source` is a run, a model or a circuit file; `inputs` a file as for `train_examples`, or grids,
    lists of rows of symbols. Each grid runs until its state rests, at most eight times as long as
    in training. Raises ConfigError for other circuits, and for symbols that the rule cannot tell.

    Operands:
        inputs INPUT: Grids: JSON, JSON lines, CSV or NPZ
    """
    loaded = load(source)
    automaton = loaded.automaton
    if automaton.encoding is None:
        raise ConfigError(
            f"{loaded.name}: was not learned from examples, so its bits stand for no symbols: use "
            "dct simulate"
        )
    encoding = Encoding(**automaton.encoding)
    named = str(inputs) if isinstance(inputs, str | Path) else "the inputs"
    raws = read_inputs(Path(inputs)) if isinstance(inputs, str | Path) else raw_grids(inputs)
    symbols = _symbols_of(encoding, raws)
    try:
        grids = [numbered(raw.before, symbols) for raw in raws]
    except ConfigError as error:
        raise ConfigError(f"{named}: {error}") from None
    channels = 1 + max(automaton.circuit.labels)
    channels = max(channels, len(encoding.features) + len(encoding.outputs))
    found = apply_rule(encoding, channels, grids, lambda starts: settle(automaton, starts).shown)
    names = dict(enumerate(symbols)) | {CLASH: "?"}
    results = []
    for raw, grid in zip(raws, found, strict=True):
        after = tuple(tuple(names[symbol] for symbol in row) for row in grid.tolist())
        known = None if raw.after is None else after == tuple(map(tuple, raw.after))
        results.append(Applied(raw.place, tuple(map(tuple, raw.before)), after, known))
    return results


def _symbols_of(encoding: Encoding, raws: Sequence[Raw]) -> tuple[str, ...]:
    """Return the symbols that a rule takes: one for all symbols alike takes those of any grid.

    An unknown "0" or "." stays unknown: it is most likely meant as the background.
    """
    if not encoding.per_symbol:
        return encoding.symbols
    known = encoding.symbols
    if all(name.isdigit() for name in known):  # numbers of symbols, as in `name_symbols`
        known = tuple(map(str, range(MOST_SYMBOLS)))
    new = (name for raw in raws for row in raw.before for name in row if name not in (".", "0"))
    return tuple(dict.fromkeys([*known, *new]))[:CLASH]


def save_grids(found: Sequence[Applied], file: str | Path, force: bool = False) -> None:
    """Write grids before and after as JSON, or those after alone as CSV or NPZ with a mask.

    Raises ConfigError for another file name, RunDirectoryError if the file exists without `force`.
    """
    path = require_output(file, (".json", ".csv", ".npz"), force)
    grids = [[[as_symbol(name) for name in row] for row in each.after] for each in found]
    if path.suffix == ".json":
        befores = [[[as_symbol(name) for name in row] for row in each.before] for each in found]
        pairs = [{"input": a, "output": b} for a, b in zip(befores, grids, strict=True)]
        write_output(path, json.dumps({"test": pairs}) + "\n", force)
    elif path.suffix == ".csv":
        blocks = ["\n".join(",".join(map(str, row)) for row in grid) for grid in grids]
        write_output(path, "\n\n".join(blocks) + "\n", force)
    else:
        names = {name for grid in grids for row in grid for name in row}
        if not all(isinstance(name, int) for name in names):
            raise ConfigError(f"{file}: an array has numbers: write symbols with names to .json")
        shapes = np.array([np.shape(grid) for grid in grids])
        outputs = np.zeros((len(grids), *shapes.max(axis=0)), np.uint8)
        mask = np.zeros(outputs.shape, np.bool_)
        for number, (grid, (rows, columns)) in enumerate(zip(grids, shapes, strict=True)):
            outputs[number, :rows, :columns], mask[number, :rows, :columns] = grid, True
        content = io.BytesIO()
        write_npz(content, {"outputs": outputs, "mask": mask})
        write_output(path, content.getvalue(), force)


def as_symbol(name: str) -> str | int:
    """Return a symbol as a file has it: a number, or a name."""
    return int(name) if name.isdigit() else name
