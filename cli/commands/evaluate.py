"""`dct eval`: puts a trained circuit through tests, and shows the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.errors import FAILURE
from cli.options.parsing import whole_number
from cli.options.sources import ALLOW_CODE
from cli.terminal import convergence_report, display, output, report
from cli.terminal.warming import announce_hard
from cli.watching import watched

SCOPES = {"all": "all", "next_state": "next state", "loss_channels": "loss channels"}


def evaluate(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|MODEL", help='A run\'s directory, the "last" one, or a model file.'
        ),
    ],
    tests: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            metavar="NAME",
            help="exactness, generalisation, fault, healing, asynchronous, robustness or gates; "
            "may be given again.",
            show_default="all that apply",
        ),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1, 65536),
            metavar="N",
            help="Start states of each test.",
            show_default="64; 16 on large grids, 8 for robustness",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0, 2**63 - 1),
            metavar="N",
            help="Names the streams that starts, masks and damage are drawn from.",
            show_default="the training's",
        ),
    ] = None,
    require_exact: Annotated[
        bool, typer.Option("--require-exact", help="Exit 1 unless the circuit is exact.")
    ] = False,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as one JSON object.")
    ] = False,
) -> None:
    """Measure the hard circuit of a trained model, on starts that training never draws.

    Exact means that no cell is wrong: for checkerboards at the training step T and at T + 1, 2T
    and 2T + 1, for life on all 512 neighbourhoods, for pictures at step T.
    """
    from difflogic import evaluation
    from difflogic.library.loading import load
    from difflogic.library.measuring import evaluate as measure

    loaded = load(run, allow_code=allow_code)
    evaluation.choose(loaded.require_model().config, tests or [])
    announce_hard()
    with watched() as progress:
        results = measure(loaded, tests or [], starts=starts, seed=seed, progress=progress).results
    if as_json:
        output.show_json({"model": str(run), **results})
    else:
        _show(results)
    if require_exact and not results["exact"]:
        raise typer.Exit(FAILURE)


def _show(results: Mapping[str, Any]) -> None:
    published = results["published"]
    typer.echo(
        f"{results['experiment']} · trained with seed {results['training_seed']} · "
        f"evaluated with seed {results['seed']}"
    )
    if "learned_by" in published:
        typer.echo(
            f"published: hard loss 0 from epoch {published['learned_by']}, with one seed, on the "
            "starts it trained on"
        )
    for name, test in results["tests"].items():
        typer.echo(f"\n{name}: {test['about']}")
        if "counts" in test:
            _show_counts(test["counts"])
        if name == "robustness":
            _show_robustness(test)
        if name == "gates":
            _show_gates(test)
        for line in (*_remarks(test), *test["notes"]):
            typer.echo(f"  {line}")
    typer.echo()
    for name, reason in results["not_applicable"].items():
        typer.echo(f"{name}: does not apply: {reason}")
    typer.echo(report.assurance(results["assurance"], results["exact"]))
    typer.echo(_verdict(results))
    convergence_report.show_healing(results["assurance"]["healing"])


def _verdict(results: Mapping[str, Any]) -> str:
    counts = [c for c in results["tests"]["exactness"]["counts"] if c.get("decisive")]
    wrong, cells = (sum(count[key] for count in counts) for key in ("wrong_cells", "cells"))
    if results["exact"]:
        return f"exact: none of {cells} cells is wrong"
    if not wrong:
        return f"not exact: none of {cells} cells is wrong, but that is not all that is asked"
    return f"not exact: {wrong} of {cells} cells {'is' if wrong == 1 else 'are'} wrong"


def _remarks(test: Mapping[str, Any]) -> list[str]:
    remarks = []
    if "wrong_neighborhoods" in test:
        remarks.append(f"{test['wrong_neighborhoods']} of 512 neighbourhoods are wrong.")
    if test.get("first_wrong_step") is not None:
        remarks.append(f"The soup first departs from the rule at step {test['first_wrong_step']}.")
    return remarks


def _show_counts(counts: Sequence[Mapping[str, Any]]) -> None:
    table = output.new_table(
        "test",
        "grid",
        "fire rate",
        "step",
        "wrong cells",
        "of",
        "right",
        "wrong starts",
        "of",
        "decides",
    )
    for count in counts:
        decisive = count.get("decisive")
        table.add_row(
            count["what"],
            f"{count['height']}×{count['width']}",
            f"{count['fire_rate']:g}",
            str(count["step"]),
            str(count["wrong_cells"]),
            str(count["cells"]),
            display.percent(1 - count["wrong_cells"] / count["cells"]),
            str(count["wrong_starts"]),
            str(count["starts"]),
            "-" if decisive is None else "yes" if decisive else "no",
        )
    output.show_table(table)


def _show_robustness(test: Mapping[str, Any]) -> None:
    table = output.new_table("mean wrong cells", "ours", "lowest", "highest", "published", "of")
    trained, published = test["trained"], test["published"]
    table.add_row(
        trained,
        f"{test['mean_wrong_cells']:.1f}",
        f"{test['best_start']:.1f}",
        f"{test['worst_start']:.1f}",
        str(published[trained]),
        str(test["cells"]),
    )
    for name, mean in published.items():
        if name != trained:
            table.add_row(name, "-", "-", "-", str(mean), str(test["cells"]))
    output.show_table(table)
    typer.echo(
        f"  Steps {test['first_step']} to {test['steps']} at fire rate {test['fire_rate']:g} on "
        f"{test['height']}×{test['width']} cells; lowest and highest of {test['starts']} starts."
    )


def _show_gates(test: Mapping[str, Any]) -> None:
    scopes, published = test["scopes"], test["published_active_gates"]
    table = output.new_table("active gates", "perception", "update", "both", "published")
    for scope, name in SCOPES.items():
        parts = scopes[scope]
        table.add_row(
            name,
            *(str(parts[part]["active"]) for part in ("perception", "update", "both")),
            str(published) if scope == "all" and published is not None else "-",
        )
    output.show_table(table)
    typer.echo()
    columns = [(part, scope) for part in ("perception", "update") for scope in SCOPES]
    heads = [
        f"{part}: {name}" if name == SCOPES["all"] else name
        for part in ("perception", "update")
        for name in SCOPES.values()
    ]
    table = output.new_table("op", *heads)
    for op in scopes["all"]["both"]["ops"]:
        row = [scopes[scope][part]["ops"][op] for part, scope in columns]
        if any(row):
            table.add_row(op, *map(str, row))
    output.show_table(table)
