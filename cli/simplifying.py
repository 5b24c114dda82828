"""Simplifying at the terminal, for all commands that take a circuit: shown, and proved."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli import proving
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.terminal.counter import Counter
from cli.terminal.warming import announce_search

if TYPE_CHECKING:
    from difflogic.logic.automaton import Automaton
    from difflogic.logic.simplification import Simplification


class EffortName(StrEnum):
    """How long the search goes on."""

    low = "low"
    normal = "normal"
    high = "high"


def simplified(
    source: Path,
    automaton: Automaton,
    effort: EffortName = EffortName.normal,
    seconds: float = proving.SECONDS,
) -> Automaton:
    """Return what a command goes on with, given a source and the automaton that it holds.

    That of a run or a model is simplified, and proved to do the same. A circuit's own file is
    taken as it is, since its user chose what stands in it: `dct simplify` saves such files. Exits
    1 if the proof fails, or takes longer than `seconds`.
    """
    from difflogic.formats.loading import is_trained

    if not is_trained(source):
        return automaton
    small = simplify(automaton, effort)[0].automaton
    proof = proving.prove(automaton, small.circuit, seconds)
    if not proof.equal:
        for line in proving.lines(proof):
            note(line)
        note("stopped: the simplified circuit is not proved equal; --unsimplified goes without it")
        raise typer.Exit(FAILURE)
    return small


def simplify(
    automaton: Automaton, effort: EffortName = EffortName.normal
) -> tuple[Simplification, float]:
    """Simplify with a count of steps on stderr; return the result, unproved, and its seconds."""
    from difflogic.logic import simplification

    announce_search()
    began = time.perf_counter()
    steps = 0
    # Ctrl-C can get lost while a kernel is compiled: then the next step notices.
    with Interruption(at_once=True) as interruption, Counter("simplifying, steps done:") as counter:

        def progress() -> None:
            nonlocal steps
            steps += 1
            counter.update(steps)
            interruption.check()

        found = simplification.simplify(automaton, simplification.EFFORTS[effort.value], progress)
    return found, time.perf_counter() - began
