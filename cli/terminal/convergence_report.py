"""Verdicts on all starts, in words and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from cli.terminal import output
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    import numpy as np

    from difflogic.library.certifying import Certified
    from difflogic.proof.convergence import Finding
    from difflogic.proof.convergence.sizes import Base, Size, Theorem

MOST_ROWS, MOST_COLUMNS = 64, 128
"""Of a picture, whose rest is left out."""

ABREAST = 16
"""Sides in a row of the table."""

STEPS = "0123456789abcdefghijklmnopqrstuvwxyz"
LATE = "+"
"""Signs for numbers of steps, and for more than these."""

SIGNS = ".#?"
WRONG = "xX"
"""Of cells that should show the other bit: 0 where 1 is wanted, 1 where 0 is."""


def show(findings: Sequence[Finding], gates: int) -> None:
    """Print a table of all grids, what it means, and pictures of what is not proved."""
    rows = []
    for found in findings:
        asked = found.question
        unit = "step" if asked.synchronous else "round"
        rows.append(
            (
                f"{asked.height}×{asked.width}",
                found.verdict.value,
                found.method,
                None if found.from_step is None else f"{unit} {found.from_step}",
                found.unknown_cells,
                asked.circuit.gates,
                f"{found.seconds * 1e3:.1f} ms",
            )
        )
    output.show_table("grid | verdict | by | from | unknown cells | gates | time", rows, texts=3)
    typer.echo(f"\nOf {gates} gates, only those that the visible channels depend on are used.")
    for line in _meaning(findings):
        typer.echo(line)
    for found in findings:
        for line in _pictures(found):
            typer.echo(line)


def _meaning(findings: Sequence[Finding]) -> list[str]:
    proved = [found for found in findings if found.verdict.value == "proved"]
    lines = []
    if any(found.any_schedule for found in proved):
        lines += [
            "Proved by sets: from every start, after that many rounds, in which every cell fires",
            "at least once in any order; and again after any damage.",
        ]
    if any(not found.any_schedule for found in proved):
        lines += ["Proved by another method: from every start, if all cells fire at every step."]
    return lines


def show_sizes(squares: Sequence[Size], theorem: Theorem | None) -> None:
    """Print from which step squares are certified, and what holds of all larger grids."""
    typer.echo("\nsquare grids: certified by sets from this step on (- if not certified):")
    of_side = {size.height: size.from_step for size in squares}
    rows: list[list[object]] = []
    for first in range(0, max(of_side, default=0) + 1, ABREAST):
        rows.append([first, *(of_side.get(first + n, "") for n in range(ABREAST))])
    output.show_table(" | ".join(["side", *(f"+{n}" for n in range(ABREAST))]), rows)
    typer.echo()
    if theorem is None:
        typer.echo("All larger grids: no proof found; ask for each size.")
        return
    period = theorem.period
    typer.echo(
        f"All larger grids: proved for these heights and widths, plus any multiple of {period}. "
        f"\nThe first right step grows with each {period} rows and each {period} columns:"
    )
    output.show_table(
        "height | width | from step | rows | columns",
        (
            (height, width, step, f"+{rows}", f"+{columns}")
            for height, width, step, rows, columns in map(_base, theorem.bases.values())
        ),
    )


BASE = ("height", "width", "from_step", "steps_per_rows", "steps_per_columns")


def _base(base: Base) -> tuple[int, int, int, int, int]:
    """Return what is known of a grid that proves larger ones, in the order of BASE."""
    step = base.from_step(base.height, base.width)
    return base.height, base.width, step, abs(base.rows.delay), abs(base.columns.delay)


def _pictures(found: Finding) -> list[str]:
    asked = found.question
    size = f"{asked.height}×{asked.width}"
    if found.verdict.value == "open":
        tried = "; ".join(f"{each.method}: {each.outcome}" for each in found.attempts)
        head = f"\n{size}: what every start ends in, with ? where starts may differ ({tried}):"
        return [head, *_boards(found, found.known)]
    if found.counterexample is None:
        return []
    period = found.counterexample.period
    again = "at every step" if period == 1 else f"every {period} steps"
    head = f"\n{size}: a state that repeats {again}, with x and X where it is wrong:"
    return [head, *_boards(found, found.counterexample.start[list(asked.shown)])]


def _boards(found: Finding, shown: np.ndarray) -> list[str]:
    lines = []
    for label, bits, wanted in zip(
        found.question.visible, shown, found.question.target, strict=True
    ):
        if len(shown) > 1:
            lines.append(f"channel {label}")
        lines += ["  " + line for line in picture(bits, wanted)]
    return lines


def picture(bits: np.ndarray, wanted: np.ndarray) -> list[str]:
    """Draw what is known of a channel, 0, 1 or 2 for unknown, a sign for each cell."""
    lines = []
    for row, targets in zip(bits.tolist()[:MOST_ROWS], wanted.tolist(), strict=False):
        signs = [
            WRONG[bit] if bit < len(WRONG) and bit != target else SIGNS[bit]
            for bit, target in zip(row[:MOST_COLUMNS], targets, strict=False)
        ]
        lines.append("".join(signs))
    if bits.shape > (MOST_ROWS, MOST_COLUMNS) or bits.shape[1] > MOST_COLUMNS:
        lines.append(f"(part of {bits.shape[0]}×{bits.shape[1]} cells)")
    return lines


def show_healing(found: Sequence[Mapping[str, Any]]) -> None:
    """Print what becomes of all damages: a table, and a picture of all places for each size."""
    if not found:
        return
    rows = (
        (
            f"{each['side']}×{each['side']}",
            each["damages"],
            each["states"],
            f"{each['damages'] - each['lasting']} of {each['damages']}",
            counted(each["within"], "step"),
        )
        for each in found
    )
    typer.echo()
    output.show_table("zeroed | places | states | heal | within", rows)
    for each in found:
        if each["columns"]:
            typer.echo(
                f"\nsteps until a {each['side']}×{each['side']} patch heals, by its upper left "
                "cell (a is 10, b 11, …; X for never):"
            )
            for line in healing_picture(each["steps"], each["columns"]):
                typer.echo("  " + line)


def healing_picture(steps: Sequence[int], columns: int) -> list[str]:
    """Return rows of signs, one for each place: how many steps it takes there, X for never."""
    signs = [
        "X" if step < 0 else LATE if step >= len(STEPS) else STEPS[step]
        for step in steps[: MOST_ROWS * columns]
    ]
    rows = ["".join(signs[first : first + columns]) for first in range(0, len(signs), columns)]
    return [row[:MOST_COLUMNS] for row in rows]


def show_json(found: Certified, certificate: str | None) -> None:
    """Print all findings, and where the certificate was saved."""
    theorem = found.theorem
    output.show_json(
        {
            "source": found.source.name,
            "proved": found.proved,
            "certificate": certificate,
            "findings": [_data(finding) for finding in found.findings],
            "assurance": found.assurance,
            "squares": found.squares,
            "larger": theorem
            and {
                "period": theorem.period,
                "bases": [
                    dict(zip(BASE, _base(each), strict=True)) for each in theorem.bases.values()
                ],
            },
        }
    )


def _data(found: Finding) -> dict[str, Any]:
    asked = found.question
    return {
        "height": asked.height,
        "width": asked.width,
        "boundary": asked.boundary,
        "verdict": found.verdict,
        "method": found.method,
        "from_step": found.from_step,
        "any_schedule": found.any_schedule,
        "gates": asked.circuit.gates,
        "channels": asked.circuit.labels,
        "unknown_cells": found.unknown_cells,
        "known": [
            "".join("01?"[bit] for bit in row)
            for channel in found.known.tolist()
            for row in channel
        ],
        "attempts": found.attempts,
        "counterexample": found.counterexample,
        "seconds": found.seconds,
    }
