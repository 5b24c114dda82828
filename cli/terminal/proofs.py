"""Proofs of equality and of convergence, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.terminal import output
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.certifying import Certified
    from difflogic.proof import Proof
    from difflogic.proof.convergence import Finding
    from difflogic.proof.convergence.sizes import EverySize


def equality(
    proof: Proof,
    differences: Sequence[str] = (),
    rule_only: bool = False,
    names: Sequence[str] = (),
) -> str:
    """Say what was proved, how, and in what time, and for circuits with `names` what differs.

    `differences` are those outside the circuits; with `rule_only` nobody asked for them.
    """
    given: dict[str, Any] = {"differences": differences, "rule_only": rule_only, "names": names}
    return output.page("equality", proof=proof, **given)


def show_convergence(findings: Sequence[Finding], gates: int) -> None:
    """Print a table of all grids, its meaning, and more about each grid that is not proved."""
    rows = (
        (
            _size(found),
            found.verdict.value,
            found.method,
            _first(found),
            found.unknown_cells,
            found.question.circuit.gates,
            f"{found.seconds * 1e3:.1f} ms",
        )
        for found in findings
    )
    output.show_table("grid | verdict | by | from | unknown cells | gates | time", rows, texts=3)
    lines = ["", *(f"asked: {found.question.asked}" for found in findings)]
    lines += [f"Of {gates} gates, only those that the visible channels depend on are used."]
    proved = [found for found in findings if found.verdict.value == "proved"]
    if any(found.any_schedule for found in proved):
        lines += [
            "Proved by sets: every start shows the target from that step or round on, and shows it",
            "again after any damage. In a round, every cell fires at least once, in any order.",
        ]
    if any(not found.any_schedule for found in proved):
        lines.append(
            "Proved by another method: every start reaches it if all cells fire at every step."
        )
    for found in findings:
        lines += _more(found)
    typer.echo("\n".join(lines))


SIDES = (4, 8, 16, 32, 64, 128)
"""Sides of the square grids whose steps are shown."""


def show_every_size(found: EverySize, assumed: str) -> None:
    """Print the verdict on all heights and widths, and the steps proved for some squares."""
    condition = f", {assumed}" if assumed else ""
    typer.echo(f"\nAll sizes: {found.text}{condition}.")
    steps = [f"{side}×{side}: {step}" for side, step in _steps(found).items()]
    if steps:
        typer.echo(f"from {found.asked.unit}: " + ", ".join(steps))


def _steps(found: EverySize) -> dict[int, int]:
    """Return the step that a proof for every size gives for squares, by side."""
    return {} if found.table is None else {n: found.table.from_step(n, n) for n in SIDES}


def _size(found: Finding) -> str:
    return f"{found.question.height}×{found.question.width}"


def _first(found: Finding) -> str | None:
    unit = "step" if found.question.synchronous else "round"
    return None if found.from_step is None else f"{unit} {found.from_step}"


def _more(found: Finding) -> list[str]:
    """Say what else is known about a grid that is not proved; --json has all cells."""
    if found.verdict.value == "open":
        tried = "; ".join(f"{each.method}: {each.outcome}" for each in found.attempts)
        return [f"\n{_size(found)}: not decided ({tried})"]
    if found.counterexample is None:
        return []
    period, places = found.counterexample.period, list(found.question.visible_places)
    again = "at every step" if period == 1 else f"every {period} steps"
    differ = (found.counterexample.start[places] != found.question.target).any(axis=0)
    return [f"\n{_size(found)}: a state with {int(differ.sum())} wrong cells repeats {again}"]


def show_healing(found: Sequence[Mapping[str, Any]]) -> None:
    """Print how all damages heal, by size."""
    if not found:
        return
    rows = (
        (
            f"{each['side']}×{each['side']}",
            each["damages"],
            each["states"],
            f"{each['damages'] - each['lasting'] - each['unknown']} of {each['damages']}",
            counted(each["within"], "step"),
        )
        for each in found
    )
    typer.echo()
    output.show_table("zeroed | places | states | heal | within", rows)


def show_convergence_json(found: Certified, certificate: Path | None) -> None:
    """Print all findings, and the file of the certificate."""
    from difflogic.system.json_values import fields_of

    everywhere = found.every_size and {
        "verdict": found.every_size.verdict,
        "text": found.every_size.text,
        "assumed": found.assumed,
        "from_step": _steps(found.every_size),
    }
    output.show_json(
        {
            "source": found.source.name,
            "certificate": certificate,
            **{name: getattr(found, name) for name in ("proved", "assurance")},
            "findings": [_data(finding) for finding in found.findings],
            "every_size": everywhere,
            "damage": found.confinement and fields_of(found.confinement, "text"),
        }
    )


def _data(found: Finding) -> dict[str, Any]:
    from difflogic.system.json_values import chosen

    question, rows = found.question, (row for channel in found.known.tolist() for row in channel)
    names = "verdict method from_step any_schedule unknown_cells attempts counterexample seconds"
    return {
        **chosen(question, "asked", "height", "width", "boundary"),
        **chosen(found, *names.split()),
        "gates": question.circuit.gates,
        "channels": question.circuit.labels,
        "known": ["".join("01?"[bit] for bit in row) for row in rows],
    }
