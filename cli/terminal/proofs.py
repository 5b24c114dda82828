"""Proofs of equality and of convergence, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.terminal import output
from difflogic.proof.verdict import Verdict
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.proving import Certified
    from difflogic.proof import Proof
    from difflogic.proof.convergence.every_size import EverySize
    from difflogic.proof.convergence.findings import Finding


def equality(
    proof: Proof,
    differences: Sequence[str] = (),
    rule_only: bool = False,
    names: Sequence[str] = (),
) -> str:
    """Say what was proved, how, and in what time, and for circuits with `names` what differs.

    `differences` are those outside the circuits; with `rule_only` nobody asked for them.
    """
    outputs = proof.outputs
    seconds = f"{proof.seconds:.2f} s"
    undecided = sum(each.verdict is Verdict.open for each in outputs)
    decided = counted(len(outputs) - undecided, "next state")
    inputs = counted(max(each.inputs for each in outputs), "input")
    read = proof.counterexample.inputs if proof.counterexample else {}
    ones = [name for name, bit in read.items() if bit]  # as in equations
    return output.page(
        "equality",
        proof=proof,
        done=f"{decided} with up to {inputs}, {seconds}",
        undecided=f"{undecided} of {counted(len(outputs), 'next state')} undecided after {seconds}",
        differences=differences,
        rule_only=rule_only,
        names=names,
        ones=ones,
        rest=len(read) > len(ones),
    )


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
    schedules = [each.any_schedule for each in findings if each.verdict is Verdict.proved]
    text = output.page(
        "convergence",
        findings=[(found, _wrong_cells(found)) for found in findings],
        gates=gates,
        by_sets=any(schedules),
        otherwise=not all(schedules),
    )
    typer.echo(text, nl=False)


def _wrong_cells(found: Finding) -> int | None:
    """Return how many cells of the state that repeats are wrong."""
    if found.counterexample is None:
        return None
    shown = found.counterexample.start[list(found.question.visible_places)]
    return int((shown != found.question.target).any(axis=0).sum())


SHOWN_SIDES = (4, 8, 16, 32, 64, 128)
"""Sides of the square grids whose steps are shown."""


def show_every_size(found: EverySize, assumed: str) -> None:
    """Print the verdict on all heights and widths, and the steps proved for some squares."""
    condition = f", {assumed}" if assumed else ""
    output.say()
    output.say(f"All sizes: {found.text}{condition}.")
    steps = [f"{side}×{side}: {step}" for side, step in _steps(found).items()]
    if steps:
        output.say(f"from {found.asked.unit}: " + ", ".join(steps))


def _steps(found: EverySize) -> dict[int, int]:
    """Return the step that a proof for every size gives for squares, by side."""
    return {} if found.proof is None else {n: found.proof.from_step(n, n) for n in SHOWN_SIDES}


def _size(found: Finding) -> str:
    return f"{found.question.height}×{found.question.width}"


def _first(found: Finding) -> str | None:
    unit = "step" if found.question.synchronous else "round"
    return None if found.from_step is None else f"{unit} {found.from_step}"


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
            **{name: getattr(found, name) for name in ("proved", "verdicts", "assurance")},
            "findings": [_data(finding) for finding in found.findings],
            "every_size": everywhere,
            "damage": found.confinement and fields_of(found.confinement, "text"),
        }
    )


def _data(found: Finding) -> dict[str, Any]:
    from difflogic.system.json_values import chosen

    question = found.question
    rows = (row for channel in found.known.tolist() for row in channel)
    names = "verdict method from_step any_schedule unknown_cells attempts counterexample seconds"
    return {
        **chosen(question, "asked", "height", "width", "boundary"),
        **chosen(found, *names.split()),
        "gates": question.circuit.gates,
        "channels": question.circuit.labels,
        "known": ["".join("01?"[bit] for bit in row) for row in rows],
    }
