"""`dct verify equivalence`: compares all ways to compute a training step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

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
    verbose: Annotated[bool, option(None, "List every comparison", "--verbose", "-v")] = False,
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
        listed = [finding.as_dict() for finding in findings]
        output.show_json({"passed": not failures, "findings": listed})
    else:
        _show(findings, failures, verbose)
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


@dataclass
class Group:
    """All comparisons of one thing with another."""

    what: str
    against: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def worst(self) -> float:
        """Largest difference; NaN counts as infinite."""
        differences = [finding.difference for finding in self.findings]
        return math.inf if any(map(math.isnan, differences)) else max(differences)

    @property
    def passed(self) -> bool:
        return all(finding.passed for finding in self.findings)


def group(findings: Sequence[Finding]) -> list[Group]:
    """Gather what was compared with the same thing to the same tolerance, in order of checking."""
    groups: dict[tuple[str, str, float], Group] = {}
    for finding in findings:
        key = (finding.what, finding.against, finding.tolerance)
        groups.setdefault(key, Group(finding.what, finding.against)).findings.append(finding)
    return list(groups.values())


def _show(findings: Sequence[Finding], failures: Sequence[Finding], verbose: bool) -> None:
    groups = group(findings)
    if verbose:
        for each in groups:
            typer.echo(f"{each.what}, against {each.against}")
            for finding in each.findings:
                typer.echo(f"  {_line(finding)}")
            typer.echo()
    _show_groups(groups)
    _show_tolerances(findings)
    for finding in failures:
        typer.echo(f"FAILED  {_title(finding)}: {_differences(finding)}")
    if failures:
        typer.echo(f"\n{len(failures)} of {counted(len(findings), 'comparison')} FAILED")
    else:
        typer.echo(f"all {counted(len(findings), 'comparison')} passed")


def _show_groups(groups: Sequence[Group]) -> None:
    from rich.text import Text

    rows = (
        (
            each.what,
            each.against,
            len(each.findings),
            number(each.worst),
            number(each.findings[0].tolerance),
            Text("ok", "green") if each.passed else Text("FAILED", "bold red"),
        )
        for each in groups
    )
    output.show_table("what | against | cases | worst | tolerance | result", rows, texts=2)


def _show_tolerances(findings: Sequence[Finding]) -> None:
    reasons = dict.fromkeys((finding.tolerance, finding.tolerance.reason) for finding in findings)
    typer.echo("\ntolerance")
    for tolerance, reason in sorted(reasons):
        typer.echo(f"{number(tolerance):>9}  {reason}")
    typer.echo()


def _title(finding: Finding) -> str:
    return f"{finding.what}, against {finding.against}, on {finding.where}"


def _differences(finding: Finding) -> str:
    return f"difference {number(finding.difference)}, tolerance {number(finding.tolerance)}"


def _line(finding: Finding) -> str:
    verdict = "ok" if finding.passed else "FAILED"
    return f"{finding.where:<44} {_differences(finding):<40} {verdict}"


def number(difference: float) -> str:
    """Format a difference or a tolerance, to two digits."""
    return f"{difference:.2g}"
