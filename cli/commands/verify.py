"""`dct verify`: compares training with an oracle, and proves equality and convergence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import ranks as processes
from cli.failures import FAILURE, note
from cli.interrupt import Interruption
from cli.options import TO, AsJson, ConfiguredByOption, SourceOperand
from cli.progress import show_progress
from cli.terminal import output, proofs, report
from cli.terminal.screen import Counter
from difflogic.library.groups import Claims
from difflogic.proof.verdict import Verdict
from difflogic.system.declaration import Advanced, AllowCode, Force, Opt, TimeLimit
from difflogic.system.errors import CircuitError, ConfigError, RunDirectoryError
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.system.ranks import Ranks
    from difflogic.verification import Deviation

PRECISIONS = ("float32", "float64")


def equivalence(chosen: ConfiguredByOption, as_json: AsJson = False) -> None:
    """Compare all ways to compute a training step, with each other and with plain NumPy.

    Uses small edge cases, and the circuit of a configuration. Started by mpiexec, it also compares
    these processes with one. Exits 1 if any comparison fails.
    """
    with processes.joined() as world:
        if not world.leads:
            from difflogic.experiment.following import follow_all

            follow_all(world)
            return
        with world.lockstep():
            findings = _findings(chosen, world)
    failures = [finding for finding in findings if not finding.passed]
    if as_json:
        output.show_json({"passed": not failures, "findings": findings})
    else:
        _show(findings, failures)
    if failures:
        raise typer.Exit(FAILURE)


def _findings(chosen: ConfiguredByOption, world: Ranks) -> list[Deviation]:
    from difflogic import verification
    from difflogic.config import load_config
    from difflogic.experiment.searching import compile_kernels

    source = chosen.source
    given = chosen.overrides
    settings = load_config(source, given, allow_code=True)
    for precision in PRECISIONS:
        precise = [*given, f"training.precision={precision}"]
        compile_kernels(load_config(source, precise, allow_code=True))
    findings: list[Deviation] = []
    ranked = verification.ranks_change_nothing(settings, world) if world.size > 1 else ()
    # The workers of a comparison wait for each other: stop only after a comparison.
    with Interruption("this comparison") as interruption, Counter("comparisons:") as counter:
        for finding in chain(verification.equivalence(settings), ranked):
            findings.append(finding)
            counter.update(len(findings), _title(finding))
            if interruption.requested:
                failed = sum(not finding.passed for finding in findings)
                note(f"stopped after {counted(len(findings), 'comparison')}, {failed} failed")
            interruption.check()
    return findings


def _show(findings: Sequence[Deviation], failures: Sequence[Deviation]) -> None:
    heads = "what | against | cases | worst | tolerance | result"
    output.show_table(heads, table(findings), texts=2)
    typer.echo("\ntolerance")
    for tolerance, reason in sorted({(each.tolerance, each.tolerance.reason) for each in findings}):
        typer.echo(f"{tolerance:>9.2g}  {reason}")
    typer.echo()
    for each in failures:
        values = f"difference {each.difference:.2g}, tolerance {each.tolerance:.2g}"
        typer.echo(f"FAILED  {_title(each)}: {values}")
    count = counted(len(findings), "comparison")
    typer.echo(f"\n{len(failures)} of {count} FAILED" if failures else f"all {count} passed")


def table(findings: Sequence[Deviation]) -> list[list[Any]]:
    """Return one row for all comparisons of the same two things to the same tolerance."""
    from rich.text import Text

    groups: dict[tuple[str, str, float], list[Deviation]] = {}
    for finding in findings:
        key = (finding.what, finding.against, finding.tolerance)
        groups.setdefault(key, []).append(finding)
    rows: list[list[Any]] = []
    for (what, against, tolerance), group in groups.items():
        # max() of NaN and a number depends on their order.
        worst = max(math.inf if math.isnan(each.difference) else each.difference for each in group)
        passed = all(each.passed for each in group)
        verdict = Text("ok", "green") if passed else Text("FAILED", "bold red")
        rows.append([what, against, len(group), f"{worst:.2g}", f"{tolerance:.2g}", verdict])
    return rows


def _title(finding: Deviation) -> str:
    return f"{finding.what}, against {finding.against}, on {finding.where}"


def circuit(
    source: SourceOperand,
    against: Annotated[
        Path | None,
        Opt(
            "Run, model or circuit to compare with, channel by channel",
            "FILE",
            shown="the simplified form",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    rule_only: Annotated[
        bool, Opt("Exit 0 if the next states are equal, whatever else differs")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Prove that a circuit equals its simplified form, or another circuit.

    The same rule gives each channel that both have the same next state, for every state of the nine
    cells. Equal circuits also have the same boundary, fire rate, grid, steps, start, palette,
    encoding, and visible channels in the same order. Exits 1 if they differ, or if time runs out.
    """
    import difflogic

    with show_progress(stop_at_once=True):
        found = difflogic.prove(source, against, time_limit=time_limit)
    circuits = [each.automaton.circuit for each in (found.one, found.other)]
    if as_json:
        gates = [each.gates for each in circuits]
        named = {"circuit": source, "against": against or "simplified", "gates": gates}
        facts = ("other_differences", "equal", "same_rule", "proof")
        output.show_json(named | {name: getattr(found, name) for name in facts})
    else:
        names = (str(source), "its simplified form" if against is None else str(against))
        sizes = (
            (name, each.gates, each.depth, each.channels)
            for name, each in zip(names, circuits, strict=True)
        )
        output.show_table("circuit | gates | depth | channels", sizes)
        typer.echo()
        text = proofs.equality(found.proof, found.other_differences, rule_only, names)
        typer.echo(text, nl=False)
    if not (found.same_rule if rule_only else found.equal):
        raise typer.Exit(FAILURE)


def convergence(
    source: SourceOperand,
    claims: Claims,
    task: Annotated[
        str | None,
        Advanced(
            "For a circuit file: the experiment that defines the target",
            "NAME|FILE",
            shown="the state that zeros end in",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    allow_code: AllowCode = False,
    to: Annotated[Path | None, TO, Opt("Save the certificate")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Prove that every start reaches the target and stays there, or find a counterexample.

    The first method runs the circuit on sets of values, from all states at once, until the sets
    repeat. Such a proof holds under every fair schedule, and after any damage. If the sets are too
    coarse, other methods follow until the time limit. Exits 1 unless all that was asked is proved.
    """
    import difflogic
    from difflogic.config import load_config

    if to is not None and len(claims.sizes) > 1:
        raise ConfigError("-o saves the certificate of one grid: give --size at most once")
    # Naming an experiment's file allows its code to run, but not the code of the source.
    experiment = None if task is None else load_config(task, allow_code=True)
    with show_progress(stop_at_once=True):
        found = difflogic.certify(
            source, claims, task=experiment, time_limit=time_limit, allow_code=allow_code
        )
    if task is None and not found.source.trained:
        tell = note if as_json else typer.echo  # part of what is proved
        tell("the target is the state that a start of zeros ends in; --task chooses another")
    problem = "" if found.proved else "there is no proof"
    beside = None
    if to is not None and found.proved:
        try:
            beside = found.save(to, force=force)
        except (CircuitError, RunDirectoryError) as error:  # the verdict is shown all the same
            problem = str(error)
    if as_json:
        proofs.show_convergence_json(found, None if problem else to)
    elif found.assurance is not None:
        output.say(report.going_on(found.assurance.text, source, task))
        if found.assurance.asked is not None:
            output.say(f"asked: {found.assurance.asked}")
        proofs.show_healing([each.as_dict() for each in found.assurance.healing])
    else:
        proofs.show_convergence(found.findings, found.source.automaton.circuit.gates)
        if found.every_size is not None:
            proofs.show_every_size(found.every_size, found.assumed)
    if found.confinement is not None and not as_json:
        output.say(f"Damage: {found.confinement.text}.")
    still_open = [what for what, each in found.verdicts.items() if each is Verdict.open]
    if still_open and not as_json:
        typer.echo(f"open: {', '.join(still_open)}")
    if to is not None and problem:
        note(f"{to} was not written: {problem}")
    elif to is not None and not as_json:
        note(f"saved {to}")
        if beside is not None:
            note(f"It is of the circuit's gates that matter alone: compare it with {beside}.")
    if not found.proved or (to is not None and problem):
        raise typer.Exit(FAILURE)
