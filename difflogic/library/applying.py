"""Applying a rule that was learned from examples to other grids: `apply`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.evaluation.settled import answers
from difflogic.examples.encoding import CLASH, CLASH_NAME, Encoding
from difflogic.examples.pairs import MOST_SYMBOLS
from difflogic.examples.reading import Raw, numbered, raw_grids, read_inputs
from difflogic.library.loaded import Source, load
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, errors_about
from difflogic.system.files import require_output, write_output


@dataclass(frozen=True)
class Applied:
    """What a rule makes of a grid."""

    place: str
    before: tuple[tuple[str, ...], ...]
    """The names of symbols, by row and column."""
    after: tuple[tuple[str, ...], ...]
    """A cell for which the rule gives two symbols has the name CLASH_NAME, "?"."""
    right: bool | None
    """Whether this is the output in the file; None if it has none."""
    expected: tuple[tuple[str, ...], ...] | None = None
    """The output in the file."""


@checked
def apply(source: Source, inputs: str | Path | Sequence[Any]) -> list[Applied]:
    """Apply a rule that was learned from examples to other grids of any size.

    `source` is a run, a model or a circuit file; `inputs` a file as for `train_examples`, or grids,
    lists of rows of symbols. Each grid runs until its state rests, at most eight times as long as
    in training, and two steps for each cell of its longer side. Raises ConfigError for other
    circuits, and for symbols that the rule cannot tell.
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
    with errors_about(named):
        grids = [numbered(raw.before, symbols, encoding.symbols) for raw in raws]
    found = answers(automaton, encoding, grids)
    names = dict(enumerate(symbols)) | {CLASH: CLASH_NAME}
    results = []
    for raw, grid in zip(raws, found, strict=True):
        after = tuple(tuple(names[symbol] for symbol in row) for row in grid.tolist())
        known = None if raw.after is None else tuple(map(tuple, raw.after))
        right = None if known is None else after == known
        results.append(Applied(raw.place, tuple(map(tuple, raw.before)), after, right, known))
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
    rows = (row for raw in raws for row in raw.before)
    new = (name for row in rows for name in row if name not in (".", "0"))
    return tuple(dict.fromkeys([*known, *new]))[:CLASH]


def save_grids(found: Sequence[Applied], file: str | Path, force: bool = False) -> None:
    """Write grids before and after as JSON, or those after alone as CSV.

    Raises ConfigError for another file name, RunDirectoryError if the file exists without `force`.
    """
    path = require_output(file, (".json", ".csv"), force)
    if path.suffix == ".json":
        pairs = [{"input": _symbols(x.before), "output": _symbols(x.after)} for x in found]
        text = json.dumps({"test": pairs})
    else:
        text = "\n\n".join("\n".join(map(",".join, each.after)) for each in found)
    write_output(path, text + "\n", force)


def _symbols(grid: Sequence[Sequence[str]]) -> list[list[str | int]]:
    """Return a grid's symbols as a file has them: numbers, or names."""
    return [[as_symbol(name) for name in row] for row in grid]


def as_symbol(name: str) -> str | int:
    """Return a symbol as a file has it: a number, or a name."""
    return int(name) if name.isdigit() else name
