"""`dct train-examples` and `dct apply`: a rule from pairs of grids, and its use on other grids."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import cli
from cli.failures import FAILURE, in_one_line, note
from cli.interrupt import Interruption
from cli.options import TO, AsJson, Shared, SourceOperand
from cli.terminal import output
from difflogic.experiment.example_options import ExampleOptions
from difflogic.system.declaration import Force, Operand, Opt
from difflogic.system.work import ignore, working

if TYPE_CHECKING:
    from difflogic.library.applying import Applied

GridsFile = Annotated[Path | None, TO, Opt("Save the grids: .json or .csv")]


def train_examples(
    source: Annotated[
        Sequence[Path], Operand("Pairs of grids: JSON as in ARC, JSON lines, CSV or NPZ", "FILE")
    ],
    options: ExampleOptions,
    shared: Shared,
) -> None:
    """Learn a rule from examples: pairs of grids, before and after.

    What was read and what is tried is printed. A grid's output is as large as its input. Pairs in a
    test part of the file, or those that --hold-out keeps aside, test the rule, and choose nothing.
    Ctrl-C saves the best circuit so far. Exits 1 if not all training pairs are right.
    """
    import difflogic
    from cli.terminal.report import beyond_examples
    from difflogic.examples.pairs import named
    from difflogic.run.story import advise, answer, story

    workers = "auto" if shared.workers is None else shared.workers
    options = replace(options, directory=shared.directory, seed=shared.seed or 0, workers=workers)
    quiet = working(say=ignore) if shared.quiet else nullcontext()
    with Interruption("this step", patience=None) as interruption, quiet:
        found = difflogic.train_examples(source, options, began=cli.began)
    if shared.as_json:
        output.show_json(found.as_dict())
    else:
        scores = found.summary.scores
        proof = beyond_examples(scores.assurance.text, scores)
        told = {"circuit": in_one_line(found.words), **story(found.summary, proof)}
        if found.wrong:
            told["wrong"] = "\n".join(found.differences) or named(found.wrong)
        output.show_lines(told)
        typer.echo(f"\n{answer(found.summary)}")
        then = found.hint or ", or ".join(advise(found.summary, str(found.path)).commands)
        output.show_lines({"run": str(found.path), "next": then})
    interruption.check()
    if not found.right:
        raise typer.Exit(FAILURE)


def apply(
    source: SourceOperand,
    inputs: Annotated[Path, Operand("Grids: JSON, JSON lines, CSV or NPZ", "INPUT")],
    to: GridsFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Apply a rule that was learned from examples to other grids, of any size.

    If a JSON or NPZ file has outputs, too, exits 1 unless all are right; CSV holds inputs alone.
    """
    import difflogic
    from difflogic.examples.encoding import CLASH_NAME
    from difflogic.library.applying import save_grids

    found = difflogic.apply(source, inputs)
    if to is not None:
        save_grids(found, to, force)
        note(f"saved {to}")
    if as_json:
        output.show_json([vars(each) for each in found])
    else:
        for each in found:
            verdict = {None: "", True: ": right", False: ": wrong where *; the file's is the last"}
            typer.echo(f"{each.place}{verdict[each.right]}")
            for line in _beside(each) if to is None else ():
                typer.echo("  " + in_one_line(line))
        if any(CLASH_NAME in row for each in found for row in each.after):
            note(f"{CLASH_NAME}: a cell for which the rule gives two symbols")
    known = [each.right for each in found if each.right is not None]
    if known and not as_json:
        typer.echo(f"{sum(known)} of {len(known)} right")
    if not all(known):
        raise typer.Exit(FAILURE)


def _beside(found: Applied) -> list[str]:
    """Return the rows of the grid before and of the rule's; of the file's, too, if it is another.

    A mark follows each cell of the rule's grid that the file has otherwise.
    """
    grids = [found.before, found.after]
    known = found.expected
    if known and not found.right and [*map(len, known)] == [*map(len, found.after)]:
        grids.append(known)
    rows = (row for grid in grids for row in grid)
    width = max((len(name) for row in rows for name in row), default=0)
    lines = []
    for before, after, *others in zip(*grids, strict=True):
        other = others[0] if others else after
        marked = (f"{a:>{width}}{' *'[a != b]}" for a, b in zip(after, other, strict=True))
        first, *rest = (" ".join(f"{name:>{width}}" for name in row) for row in (before, *others))
        lines.append("  ".join([f"{first}  →  {''.join(marked)}", *rest]).rstrip())
    return lines
