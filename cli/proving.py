"""Proofs at the terminal, in words and as a picture."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import typer

from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.proof import Counterexample, Proof

UNREAD = "·"
CELLS = 9


def lines(proof: Proof) -> list[str]:
    """Say what was proved, how, and in what time."""
    from difflogic.proof import Verdict

    undecided = sum(output.verdict is Verdict.unknown for output in proof.outputs)
    done = len(proof.outputs) - undecided
    most = max(output.inputs for output in proof.outputs)
    how = []
    if proof.count("exhaustive"):
        every = "up to" if proof.verdict is Verdict.different else "all"
        outputs, cases = proof.count("exhaustive"), counted(proof.cases, "case")
        how.append(f"{counted(outputs, 'output')} in {every} {cases}")
    if proof.count("sat"):
        outputs, conflicts = proof.count("sat"), counted(proof.conflicts, "conflict")
        how.append(f"{counted(outputs, 'output')} by SAT, {conflicts}")
    where = f"of up to {counted(most, 'input')}, {proof.seconds:.2f} s"
    match proof.verdict:
        case Verdict.equal:
            head = f"proved equal: {counted(done, 'next state')} {where}"
        case Verdict.different:
            head = f"NOT EQUAL, found after {counted(done, 'next state')} {where}"
        case _:
            head = f"UNKNOWN: {undecided} of {counted(len(proof.outputs), 'next state')} undecided"
            head += f" after {proof.seconds:.2f} s: give it more with --time-limit"
    return [head, *(f"  {part}" for part in how)]


def show(proof: Proof, names: tuple[str, str]) -> None:
    """Print what was proved, and the counterexample; `names` are the circuits' names."""
    for line in lines(proof):
        typer.echo(line)
    if proof.counterexample is not None:
        typer.echo()
        for line in picture(proof.counterexample, names, shutil.get_terminal_size().columns):
            typer.echo(line)


def picture(found: Counterexample, names: tuple[str, str], width: int) -> list[str]:
    """Return the nine cells of a counterexample, a board of bits for each channel that has a 1.

    As many boards stand side by side as `width` columns hold.
    """
    labels = sorted({label for _, label in found.bits})
    ones = [label for label in labels if any(found.bits.get((n, label)) for n in range(CELLS))]
    boards = [_board(found, label) for label in ones]
    columns = max((len(line) for board in boards for line in board), default=1)
    abreast = max(1, (width + 2) // (columns + 2))
    text = []
    if boards:
        text += [f"in this neighbourhood, where {UNREAD} is a bit that neither of them reads:", ""]
    for first in range(0, len(boards), abreast):
        row = boards[first : first + abreast]
        for each in zip(*row, strict=True):
            text.append("  ".join(line.ljust(columns) for line in each).rstrip())
        text.append("")
    zeros = [label for label in labels if label not in ones]
    if zeros:
        s = "" if len(zeros) == 1 else "s"
        also = ", all bits that are read are 0" if boards else ", if all bits that are read are 0,"
        text += textwrap.wrap(f"In channel{s} {', '.join(map(str, zeros))}{also}", max(width, 20))
    elif not boards:
        text.append("Always, for no bit is read,")
    text.append(f"the next state of channel {found.channel} is")
    for name, bit in zip(names, (found.before, found.after), strict=True):
        text.append(f"  {int(bit)}  in {name}")
    return text


def _board(found: Counterexample, label: int) -> list[str]:
    def bit(neighbor: int) -> str:
        value = found.bits.get((neighbor, label))
        return UNREAD if value is None else str(int(value))

    cells = [" ".join(bit(3 * row + column) for column in range(3)) for row in range(3)]
    return [f"channel {label}", *(f"  {line}" for line in cells)]
