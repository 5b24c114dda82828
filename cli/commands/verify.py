"""`dct verify equivalence`: compares all ways to compute a training step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import ranks as processes
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.options.common import AsJson, ConfigOption, Set, Small, choose_config, option
from cli.options.parsing import MOST_RANKS, numbers
from cli.terminal import output
from cli.terminal.counter import Counter
from cli.terminal.warming import compile_for
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.scale.verification import Finding
    from difflogic.system.ranks import Ranks

PRECISIONS = ("float32", "float64")


def equivalence(
    small: Small = False,
    config: ConfigOption = None,
    overrides: Set = None,
    as_json: AsJson = False,
    ranks: Annotated[
        str | None,
        option(
            "N,…",
            "Also compare numbers of MPI processes, such as 1,2,3; threads without MPI",
            shown=False,
            rare=True,
        ),
    ] = None,
) -> None:
    """Compare all ways to compute a training step with each other and with a NumPy oracle.

    Uses small edge cases, and the circuit of a configuration. Exits 1 if any comparison fails.
    """
    sizes = _sizes(ranks)
    with processes.joined() as world:
        if not world.leads:
            from difflogic.scale.verification import take_part

            with world.lockstep():
                take_part(sizes, world)
            world.receive()
            return
        with world.lockstep():
            findings = _findings(small, config, overrides, world, sizes)
    failures = [finding for finding in findings if not finding.passed]
    if as_json:
        output.show_json({"passed": not failures, "findings": findings})
    else:
        _show(findings, failures)
    if failures:
        raise typer.Exit(FAILURE)


def _sizes(ranks: str | None) -> tuple[int, ...]:
    """Return the numbers of ranks to compare; start them, if that can be done and is still to do.

    Without a way to start them they are threads.
    """
    from difflogic.system.ranks import started

    sizes = numbers("--ranks", ranks, MOST_RANKS)
    if started() > 1:
        return sizes or (1, started())
    if max(sizes, default=1) > 1:
        try:
            processes.launcher(max(sizes))
        except ConfigError as error:
            note(f"note: using threads instead of processes: {error}")
        else:
            processes.launch(max(sizes))
    return sizes


def _findings(
    small: bool, config: str | None, overrides: list[str] | None, world: Ranks, sizes: Sequence[int]
) -> list[Finding]:
    from difflogic.config import load_config
    from difflogic.scale import verification

    source = choose_config(config, small, "--config")
    given = overrides or []
    settings = load_config(source, given, allow_code=True)
    for precision in PRECISIONS:
        precise = [*given, f"training.precision={precision}"]
        compile_for(load_config(source, precise, allow_code=True))
    return _compare(
        lambda: verification.equivalence(settings),
        lambda: verification.ranks_change_nothing(settings, sizes, world) if sizes else (),
    )


def _compare(*parts: Callable[[], Iterable[Finding]]) -> list[Finding]:
    findings: list[Finding] = []
    # The workers of a comparison wait for each other: it is stopped after it, never in it.
    with Interruption("this comparison") as interruption, Counter("comparisons:") as counter:
        for compare in parts:
            for finding in compare():
                findings.append(finding)
                counter.update(len(findings), _title(finding))
                if interruption.requested:
                    failed = sum(not finding.passed for finding in findings)
                    note(f"stopped after {counted(len(findings), 'comparison')}, {failed} failed")
                interruption.check()
    return findings


def _show(findings: Sequence[Finding], failures: Sequence[Finding]) -> None:
    output.show_table(
        "what | against | cases | worst | tolerance | result", table(findings), texts=2
    )
    _show_tolerances(findings)
    for finding in failures:
        difference, tolerance = number(finding.difference), number(finding.tolerance)
        typer.echo(f"FAILED  {_title(finding)}: difference {difference}, tolerance {tolerance}")
    if failures:
        typer.echo(f"\n{len(failures)} of {counted(len(findings), 'comparison')} FAILED")
    else:
        typer.echo(f"all {counted(len(findings), 'comparison')} passed")


def table(findings: Sequence[Finding]) -> list[list[Any]]:
    """Return a row for all comparisons of one thing with another to one tolerance, in order."""
    from rich.text import Text

    groups: dict[tuple[str, str, float], list[Finding]] = {}
    for finding in findings:
        key = (finding.what, finding.against, finding.tolerance)
        groups.setdefault(key, []).append(finding)
    rows: list[list[Any]] = []
    for (what, against, tolerance), group in groups.items():
        # A maximum of NaN and a number depends on their order.
        differences = (
            math.inf if math.isnan(each.difference) else each.difference for each in group
        )
        passed = all(each.passed for each in group)
        verdict = Text("ok", "green") if passed else Text("FAILED", "bold red")
        worst = number(max(differences))
        rows.append([what, against, len(group), worst, number(tolerance), verdict])
    return rows


def _show_tolerances(findings: Sequence[Finding]) -> None:
    reasons = dict.fromkeys((finding.tolerance, finding.tolerance.reason) for finding in findings)
    typer.echo("\ntolerance")
    for tolerance, reason in sorted(reasons):
        typer.echo(f"{number(tolerance):>9}  {reason}")
    typer.echo()


def _title(finding: Finding) -> str:
    return f"{finding.what}, against {finding.against}, on {finding.where}"


def number(difference: float) -> str:
    """Format a difference or a tolerance, to two digits."""
    return f"{difference:.2g}"
