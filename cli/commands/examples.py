"""`dct train-examples` and `dct apply`: a rule from pairs of grids, and its use on other grids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cli.failures import FAILURE, in_one_line, note
from cli.interrupt import Interrupted, Interruption
from cli.options import AsJson, Shared, Source
from cli.terminal import output
from difflogic.library.declaration import Force, Operand, Opt
from difflogic.library.groups import ExampleOptions
from difflogic.system.callbacks import ignore
from difflogic.system.files import for_shell

Grids = Annotated[
    Path | None, Opt("Save the grids: .json, .csv or .npz", "FILE", names="--output -o")
]


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
    from difflogic.examples.pairs import named, right_in_words
    from difflogic.library import exemplifying

    workers = "auto" if shared.workers is None else shared.workers
    options = replace(options, directory=shared.directory, seed=shared.seed or 0, workers=workers)
    with Interruption("this step", patience=None) as interruption:
        found = exemplifying.train_examples(
            source,
            options,
            on_message=ignore if shared.quiet else note,
            should_stop=lambda: interruption.requested,
        )
    if shared.as_json:
        output.show_json(found.as_dict())
    else:
        right = right_in_words(found.summary["scores"]["right_pairs"])
        proof = found.summary["scores"]["assurance"]["text"]
        typer.echo(f"examples   {right}")
        if found.wrong:
            typer.echo(f"wrong      {named(found.wrong)}")
        if found.suspected:
            typer.echo(
                f"suspicion  {named(found.suspected)} may be wrong: a rule that was learned "
                "without is right on all other pairs"
            )
        longer = "" if found.padded is None else f"; {found.padded.text}"
        typer.echo(f"proof      {proof}{longer}; other grids are not proved")
        typer.echo(f"circuit    {in_one_line(found.words)}")
        typer.echo(f"run        {found.path}")
        path = for_shell(found.path)
        then = f"dct apply {path} FILE, or dct simplify {path} -o FILE"
        typer.echo(f"next       {found.hint or then}")
    if interruption.requested:
        raise Interrupted(interruption.exit_code - 128)
    if not found.right:
        raise typer.Exit(FAILURE)


def apply(
    source: Source,
    inputs: Annotated[Path, Operand("Grids: JSON, JSON lines, CSV or NPZ", "INPUT")],
    to: Grids = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Apply a rule that was learned from examples to other grids, of any size.

    If a JSON or NPZ file has outputs, too, exits 1 unless all are right; CSV holds inputs alone.
    """
    from difflogic.library import applying
    from difflogic.system.files import check_output

    if to is not None:
        check_output(Path(to), force)
    found = applying.apply(source, inputs)
    if to is not None:
        applying.save_grids(found, to, force)
        note(f"saved {to}")
    if as_json:
        output.show_json([vars(each) for each in found])
    else:
        for each in found:
            verdict = {None: "", True: ": right", False: ": wrong"}[each.right]
            typer.echo(f"{each.place}{verdict}")
            for row in each.after if to is None else ():
                typer.echo("  " + in_one_line(" ".join(row)))
    known = [each.right for each in found if each.right is not None]
    if known and not as_json:
        typer.echo(f"{sum(known)} of {len(known)} right")
    if not all(known):
        raise typer.Exit(FAILURE)
