"""Files of examples: JSON as in ARC, JSON lines, CSV and NPZ, read without trusting them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from difflogic.examples.pairs import MOST_PAIR_CELLS, MOST_SYMBOLS, Examples, Pair, SymbolGrid
from difflogic.system.archive import NpzReader
from difflogic.system.errors import ConfigError, ModelFileError, errors_about
from difflogic.system.files import read_named
from difflogic.system.json_values import distinct
from difflogic.system.quantities import counted
from difflogic.system.work import say

MOST_EXAMPLE_BYTES = 2**26
EXAMPLES = (".json", ".jsonl", ".csv", ".npz")

_NO_NAME = re.compile(r"0\d+|[+-]?(\d+\.\d*|\.\d+|\d+[eE][+-]?\d+|(?i:nan|inf))|[+-]\d+")
"""Texts that are meant as numbers, but not from 0 to 15."""

NamedRows = list[list[str]]
"""The names of symbols, by row and column."""


class Raw(NamedTuple):
    """An example as it stands in a file; `after` is None if only an input is there."""

    place: str
    before: NamedRows
    after: NamedRows | None
    aside: bool = False
    """Whether the file keeps it aside, as a test."""


def read_examples(paths: Sequence[Path]) -> Examples:
    """Read pairs from files. Raises ConfigError, which names the file, the pair and the cell.

    Files may hold one task or many; all pairs are taken together. A pair in a `test` part is kept
    aside; without its output it is left out. Says how many pairs have other parts, which are not
    read.
    """
    several = len(paths) > 1
    found = []
    for path in paths:
        for raw in _read(path, paired=True):
            place = f"{path.name}: {raw.place}" if several else raw.place
            if raw.after is None and not raw.aside:
                raise ConfigError(f"{path}: {raw.place}: has no output")
            if raw.after is not None:
                found.append(raw._replace(place=place))
    source = ", ".join(map(str, paths)) or "source"
    with errors_about(source):
        symbols = name_symbols(cells for raw in found for cells in (raw.before, raw.after or []))
        pairs = {
            aside: tuple(
                Pair(numbered(raw.before, symbols), numbered(raw.after or [], symbols), raw.place)
                for raw in found
                if raw.aside is aside
            )
            for aside in (False, True)
        }
    return Examples(symbols, pairs[False], pairs[True], source)


def read_inputs(path: Path) -> list[Raw]:
    """Read grids to apply a rule to, with the outputs that they should have, if the file has any.

    A file of tasks gives its tests, or all pairs if it has no tests. Raises ConfigError.
    """
    found = list(_read(path, paired=False))
    if not found:
        raise ConfigError(f"{path}: has no grid: give rows of symbols, or pairs with an input")
    return [raw for raw in found if raw.aside] or found


def raw_grids(grids: Sequence[Any]) -> list[Raw]:
    """Return grids that are not from a file, as `read_inputs` does. Raises ConfigError."""
    if isinstance(grids, str) or not np.iterable(grids):
        raise ConfigError(f"{grids!r:.40} is no list of grids: give each as rows of symbols")
    try:
        found = [np.asarray(grid).tolist() for grid in grids]
    except ValueError:
        raise ConfigError("a grid has rows of several lengths: give rows as long") from None
    found = [found] if found and all(np.ndim(row) == 1 for row in grids) else found  # as in files
    return [
        Raw(f"grid {n}", named_cells(grid, f"grid {n}"), None) for n, grid in enumerate(found, 1)
    ]


def name_symbols(grids: Iterable[NamedRows]) -> tuple[str, ...]:
    """Return the names of symbols by their numbers: whole numbers from 0 to 15 keep their own.

    Other names are numbered as they first occur. Raises ConfigError for more than 16.
    """
    names = dict.fromkeys(chain.from_iterable(chain.from_iterable(grids)))
    if all(name.isascii() and name.isdigit() for name in names):
        most = max(map(int, names), default=0)
        if most < MOST_SYMBOLS:
            return tuple(map(str, range(most + 1)))
        raise ConfigError(f"symbol {most}: symbols that are numbers must be from 0 to 15")
    if len(names) > MOST_SYMBOLS:
        some = ", ".join(list(names)[:20])
        raise ConfigError(f"has {len(names)} symbols, more than {MOST_SYMBOLS}: {some}")
    return tuple(names)


def numbered(cells: NamedRows, symbols: Sequence[str], told: Sequence[str] = ()) -> SymbolGrid:
    """Return a grid of symbols' numbers.

    Raises ConfigError for a symbol without one; it lists those `told`, by default all.
    """
    number = {name: place for place, name in enumerate(symbols)}
    unknown = [name for row in cells for name in row if name not in number]
    if unknown:
        raise ConfigError(
            f'no symbol "{unknown[0]}": the examples have {", ".join(told or symbols)}'
        )
    return np.array([[number[name] for name in row] for row in cells], np.uint8)


def split_task(path: Path) -> tuple[Path, str | None]:
    """Return a file, and the name of the task that is meant, as in tasks.json:007bbfb7, if any."""
    found = re.fullmatch(r"(.*?\.json):(.*)", str(path), re.IGNORECASE)
    return (Path(found[1]), found[2]) if found else (path, None)


def _read(path: Path, paired: bool) -> Iterator[Raw]:
    try:
        file, task = split_task(path)
        suffix = file.suffix.lower()
        if suffix not in EXAMPLES:
            raise ConfigError(f"is no file of examples: give {', '.join(EXAMPLES)}")
        if suffix == ".npz":
            found = _from_npz(path)
        else:
            content = read_named(file, MOST_EXAMPLE_BYTES, "a file of examples").decode("utf-8-sig")
            if suffix == ".json":
                task_of = _task(_json(content), task)
                if paired:
                    _say_unread(task_of, path)
                found = _walk(task_of, "", paired)
            else:
                found = (_from_lines if suffix == ".jsonl" else _from_csv)(content, paired)
        cells = 0
        for raw in found:
            cells += sum(map(len, raw.before))
            if cells > MOST_PAIR_CELLS:
                raise ConfigError(f"{raw.place}: the inputs have more than {MOST_PAIR_CELLS} cells")
            yield raw
    except (ConfigError, ModelFileError) as error:
        named = str(error).startswith((str(path), repr(str(path))))
        raise ConfigError(str(error) if named else f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None


def _task(value: Any, task: str | None) -> Any:
    """Return the task of this name, if a file has tasks by name. Others are not checked."""
    named = isinstance(value, dict) and not {*value} & {"train", "test", "input"}
    tasks = value if named and any(isinstance(each, dict) for each in value.values()) else {}
    if task in tasks or (task is None and not tasks):
        return tasks.get(task, value)
    if not tasks:
        raise ConfigError(f'has no tasks by name: leave out ":{task:.40}"')
    what = "several tasks: name one after the file" if task is None else f'no task "{task:.40}"'
    some = ", ".join(map(json.dumps, [*tasks][:5])) + ", …" * (len(tasks) > 5)
    raise ConfigError(f"has {what}: its tasks are {some:.200}")


def _say_unread(value: Any, path: Path) -> None:
    """Say which parts of a task have pairs that are not read, such as "arc-gen"."""
    if not isinstance(value, dict):
        return
    for name, part in value.items():
        inside = part if isinstance(part, list) else []
        pairs = [each for each in inside if isinstance(each, dict) and "input" in each]
        if pairs and name not in ("train", "test"):
            say(
                f'{path}: {counted(len(pairs), "pair")} under "{name:.40}" not read: move to '
                '"train" or "test" what is to be used'
            )


def _from_lines(text: str, paired: bool) -> Iterator[Raw]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield from _walk(_json(line), f"line {number} ", paired)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"is not JSON: {str(error)[:80]}") from None


def _walk(value: Any, place: str, paired: bool) -> Iterator[Raw]:
    """Yield what a task, a pair, a grid or a list of these holds."""
    match value:
        case {"train": _} | {"test": _}:
            for part in ("train", "test"):
                inside = value.get(part, [])
                for number, pair in enumerate(inside if isinstance(inside, list) else [inside], 1):
                    raw = _pair(pair, f"{place}{part} pair {number}")
                    yield raw._replace(aside=part == "test")
            if "query" in value:  # as in CellARC
                yield Raw(f"{place}query", named_cells(value["query"], f"{place}query"), None, True)
        case {"input": _}:
            yield _pair(value, f"{place}pair")
        case [[[*_], *_], *_] | [{}, *_]:
            for number, item in enumerate(value, 1):
                what = "task" if isinstance(item, dict) and "input" not in item else ""
                yield from _walk(item, f"{place}{what or 'number'} {number} ", paired)
        case [[*_], *_] if not paired:
            yield Raw(f"{place}grid", named_cells(value, f"{place}grid"), None)
        case {"gates": _}:
            raise ConfigError("is a circuit, not what it did: dct inspect prints its rule")
        case _:
            pairs = '"train" with a list of pairs, each an {"input": rows, "output": rows}'
            needed = pairs if paired else f"a grid, a list of rows of symbols; or {pairs}"
            raise ConfigError(f"{place.strip() or 'the file'}: needs {needed}")


def _pair(value: Any, place: str) -> Raw:
    if not isinstance(value, dict) or "input" not in value:
        raise ConfigError(f'{place}: needs an "input" and an "output", lists of rows')
    after = value.get("output")
    return Raw(
        place,
        named_cells(value["input"], f"{place} input"),
        None if after is None else named_cells(after, f"{place} output"),
    )


def named_cells(rows: Any, place: str) -> NamedRows:
    """Check a grid: rows of equal length, of whole numbers from 0 to 15, or of texts.

    Several texts of one length are rows of one sign a cell, such as "..a.".
    """
    if isinstance(rows, list) and rows and not any(isinstance(row, list) for row in rows):
        lengths = {len(row) if isinstance(row, str) else 0 for row in rows}
        texts = len(lengths) == 1 and max(lengths) > 1
        rows = [list(row) for row in rows] if texts else [rows]  # a line
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) for row in rows):
        raise ConfigError(f"{place}: must be rows of symbols")
    if not rows[0]:
        raise ConfigError(f"{place}: row 0 has no cells: give rows of symbols")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            cells = counted(len(row), "cell")
            raise ConfigError(f"{place}: row {number} has {cells}, and row 0 has {len(rows[0])}")
        for column, symbol in enumerate(row):
            whole = isinstance(symbol, int) and not isinstance(symbol, bool)
            is_name = isinstance(symbol, str) and symbol and not _NO_NAME.fullmatch(symbol)
            fits = 0 <= symbol < MOST_SYMBOLS if whole else is_name
            if not fits or len(str(symbol)) > 40:
                raise ConfigError(
                    f"{place}: row {number}, column {column}: {symbol!r:.40} is no symbol: use "
                    "whole numbers from 0 to 15, or short names"
                )
    return [[str(symbol) for symbol in row] for row in rows]


def _from_csv(text: str, paired: bool) -> Iterator[Raw]:
    """Yield grids, an input and its output in turn."""
    grids = [(place, named_cells(rows, place)) for place, rows in csv_grids(text)]
    if not paired:
        yield from (Raw(place, cells, None) for place, cells in grids)
        return
    if len(grids) % 2:
        raise ConfigError(
            f"{grids[-1][0]}: {counted(len(grids), 'grid')} between blank lines, an odd number: "
            "each input needs its output after it"
        )
    for (place, before), (_, after) in zip(grids[::2], grids[1::2], strict=True):
        yield Raw(place, before, after)


def csv_grids(text: str) -> list[tuple[str, NamedRows]]:
    """Return the places and texts of grids: blocks of rows between rows without a text.

    Commas are between symbols, or else semicolons or tabs. Cells without a symbol at the ends of
    rows are left out: spreadsheets write as many in each row. Raises ConfigError.
    """
    between = next((sign for sign in ",;\t" if sign in text), ",")
    rows = csv.reader(io.StringIO(text, newline=None), delimiter=between, skipinitialspace=True)
    try:
        listed = [(rows.line_num, [cell.strip() for cell in row]) for row in rows]
    except csv.Error as error:
        raise ConfigError(f"is not CSV: {error}") from None
    together = all(len(cells) < 2 for _, cells in listed)
    for line, cells in listed:
        if len(cells) == 1 and re.search(r"^(?!1[0-5]$).." if together else r"[;\t ]", cells[0]):
            raise ConfigError(f"line {line}: has no comma: put commas between symbols, such as 0,1")
        while cells and not cells[-1]:
            cells.pop()
    blocks = [list(block) for filled, block in groupby(listed, lambda row: any(row[1])) if filled]
    return [(f"line {block[0][0]}", [row for _, row in block]) for block in blocks]


def _from_npz(path: Path) -> Iterator[Raw]:
    """Yield grids of `inputs` and `outputs`, (pairs, rows, columns) or (pairs, columns).

    Where `mask` is not 0, a cell belongs to its grid; the rest is padding on the right and below.
    """
    with NpzReader(path, MOST_EXAMPLE_BYTES, "examples") as reader:
        names = [name for name in ("inputs", "outputs", "mask") if name in reader.names]
        arrays = {name: reader.numbers(name, 4 * MOST_PAIR_CELLS) for name in names}
        before = arrays.get("inputs", np.zeros(0))
        mask = arrays.pop("mask", np.ones(before.shape))
        shapes = {each.shape for each in (mask, *arrays.values())}
        if before.ndim not in (2, 3) or shapes != {before.shape}:
            raise reader.error(
                "needs arrays inputs and outputs of one shape (pairs, rows, columns), and may have "
                "a mask of this shape"
            )
    for number, inside in enumerate(mask != 0):
        cells = np.atleast_2d(inside)
        rows = cells.any(axis=1).sum()
        columns = cells.any(axis=0).sum()
        place = f"pair {number + 1}"
        if not cells[:rows, :columns].all():
            raise ConfigError(f"{place}: the mask is no rectangle in the upper left corner")
        checked = []
        for array in arrays.values():
            grid = np.atleast_2d(array[number])[:rows, :columns].tolist()
            whole = [[int(x) if float(x).is_integer() else x for x in row] for row in grid]
            checked.append(named_cells(whole, place))
        yield Raw(place, checked[0], checked[1] if len(checked) > 1 else None)
