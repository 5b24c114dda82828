"""`dct eval`: tests a trained circuit on starts that training did not use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.failures import FAILURE
from cli.options import AsJson, SourceOperand
from cli.progress import show_progress
from cli.terminal import output, proofs, report
from difflogic.evaluation.scores import Counted, Evaluation, Tested
from difflogic.run.story import percent
from difflogic.system.declaration import AllowCode, Opt, Seed, Starts


def evaluate(
    source: SourceOperand,
    tests: Annotated[
        Sequence[str],
        Opt(
            "exactness, generalisation, fault, healing, asynchronous, robustness, noise or "
            "gates; repeatable",
            "NAME",
            names="--test",
            shown="all that apply",
        ),
    ] = (),
    task: Annotated[
        str | None,
        Opt("For a circuit file: the experiment to test it on", "NAME|FILE", shown="none"),
    ] = None,
    starts: Starts = None,
    seed: Annotated[Seed | None, Opt(shown="the run's")] = None,
    allow_code: AllowCode = False,
    require_exact: Annotated[bool, Opt("Exit 1 unless the circuit is exact")] = False,
    as_json: AsJson = False,
) -> None:
    """Test a circuit on fresh starts, on larger grids, with damage, and in the other mode.

    A circuit is exact if it gets no cell wrong: checkerboards at the trained step T and at T + 1,
    2T and 2T + 1; life on all 512 neighbourhoods; pictures at step T, and if they should stay or
    heal, by proof at every later step and after all damage.
    """
    import difflogic
    from difflogic.config import load_config

    experiment = None if task is None else load_config(task, allow_code=True)
    with show_progress():
        results = difflogic.evaluate(
            source, tests, task=experiment, starts=starts, seed=seed, allow_code=allow_code
        )
    if as_json:
        output.show_json({"model": str(source), **results.as_dict()})
    else:
        _show(results, source, task, reasons=not tests)
    if require_exact and not results.exact:
        raise typer.Exit(FAILURE)


DECIDING = ("exactness", "gates")
"""Tests that are about the task itself, or judge nothing."""


def _show(results: Evaluation, source: Path, task: str | None, reasons: bool) -> None:
    """Print the results, with reasons why other tests do not apply; the verdict stands last."""
    published = results.published
    seed = results.training_seed
    trained = "a circuit" if seed is None else f"trained with seed {seed}"
    output.say(f"{results.experiment} · {trained} · evaluated with seed {results.seed}")
    if "learned_by" in published:
        output.say(
            f"published: hard loss 0 from epoch {published['learned_by']:g}, with one seed, on "
            "training starts"
        )
    for name, test in results.tests.items():
        output.say()
        output.say(f"{name}: {test.about}")
        if test.counts:
            _show_counts(test.counts)
        if name == "robustness":
            _show_robustness(test.as_dict())
        if "scopes" in (found := test.as_dict()):
            _show_gates(found)
        for line in (*_remarks(test), *test.notes):
            output.say(f"  {line}")
    # All that heals, where healing from any start fails.
    healing = results.assurance.as_dict()["healing"]
    proofs.show_healing(healing)
    useless: dict[str, list[str]] = {}
    for name, reason in results.not_applicable.items() if reasons else ():
        if name != "healing" or not healing:
            useless.setdefault(reason, []).append(name)
    if useless:
        output.say()
    for reason, names in useless.items():
        output.say(f"not applicable: {', '.join(names)}: {reason}")
    output.say()
    if any(name not in DECIDING for name in results.tests):
        output.say("tests that do not decide ask for more than the task does")
    output.say(report.assurance(results.assurance, results.exact, source, task))
    typer.echo(_verdict(results))


def _verdict(results: Evaluation) -> str:
    counts = [count for count in results.tests["exactness"].counts if count.decisive]
    wrong = sum(count.wrong_cells for count in counts)
    cells = sum(count.cells for count in counts)
    if results.exact:
        return f"exact: all {cells} cells are right"
    if not wrong:
        return f"not exact: all {cells} cells are right here, but the task asks for more"
    return f"not exact: {wrong} of {cells} cells {'is' if wrong == 1 else 'are'} wrong"


def _remarks(test: Tested) -> list[str]:
    remarks = []
    if test.wrong_neighborhoods is not None:
        remarks.append(f"{test.wrong_neighborhoods} of 512 neighbourhoods are wrong")
    if test.first_wrong_step is not None:
        remarks.append(f"the soup first deviates from the rule at step {test.first_wrong_step}")
    return remarks


def _show_counts(counts: Sequence[Counted]) -> None:
    output.show_table(
        "test | grid | fire rate | step | wrong cells | of | right | wrong starts | all | decides",
        (
            (
                count.name,
                f"{count.height}×{count.width}",
                f"{count.fire_rate:g}",
                count.step,
                count.wrong_cells,
                count.cells,
                percent(1 - count.wrong_cells / count.cells),
                count.wrong_starts,
                count.starts,
                {None: None, True: "yes", False: "no"}[count.decisive],
            )
            for count in counts
        ),
        spare="all | wrong starts | fire rate | of | decides | grid",
    )


def _show_robustness(test: Mapping[str, Any]) -> None:
    published = dict(test["published"])
    ours = [f"{test[key]:.1f}" for key in ("mean_wrong_cells", "best_start", "worst_start")]
    rows = [(test["trained"], *ours, published.pop(test["trained"], None), test["cells"])]
    rows += [(name, None, None, None, mean, test["cells"]) for name, mean in published.items()]
    heads = "mean wrong cells | ours | lowest | highest | published | of"
    output.show_table(heads, rows, spare="of | lowest | highest")
    output.say(
        f"  steps {test['first_step']} to {test['steps']} at fire rate {test['fire_rate']:g} on "
        f"{test['height']}×{test['width']} cells; lowest and highest of {test['starts']} starts"
    )


def _show_gates(test: Mapping[str, Any]) -> None:
    scopes = test["scopes"]
    published = test["published_active_gates"]
    parts = ("perception", "update", "both")
    rows = [
        [scope.replace("_", " "), *(scopes[scope][part]["active"] for part in parts)]
        for scope in scopes
    ]
    rows[0].append(published)
    output.show_table("active gates | perception | update | both | published", rows)
