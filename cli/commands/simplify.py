"""`dct simplify`: shrinks a circuit, proves the result equal, and saves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cli.failures import FAILURE, note
from cli.options import AsJson, Output, SourceOperand
from cli.progress import show_progress
from cli.terminal import output, proofs
from difflogic.system.declaration import EffortOption, Force, TimeLimit

if TYPE_CHECKING:
    from difflogic.library.simplifying import Simplified


def simplify(
    source: SourceOperand,
    effort: EffortOption = "normal",
    time_limit: TimeLimit = None,
    to: Output = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Simplify the circuit of a run, a model or a file, and prove the result equal.

    For every state, each remaining channel has the same next state as before. Exits 1 and saves
    nothing if that cannot be proved. If the time limit ends the search, the best result so far is
    used.
    """
    import difflogic

    with show_progress(stop_at_once=True):
        found = difflogic.simplify(source, effort, time_limit=time_limit)
    if found.simplification.stopped:
        note("the time limit cut the search short: the result depends on this machine")
    saved = to if found.proved else None
    if saved is not None:
        found.save(saved, force=force)
    if as_json:
        output.show_json({**found.as_dict(), "output": saved})
    else:
        _show(found)
        if saved is not None:
            note(f"saved {saved}")
    if not found.proved:
        if to is not None:
            note(f"{to} was not written: the simplified circuit could not be proved equal")
        raise typer.Exit(FAILURE)


def _show(found: Simplified) -> None:
    stages = ((stage.name, stage.circuit) for stage in found.simplification.stages)
    rows = ((name, c.gates, c.active_gates, c.depth, c.channels) for name, c in stages)
    output.show_table("stage | gates | active | depth | channels", rows)
    ops = ", ".join(
        f"{op.name} {count}" for op, count in found.automaton.circuit.op_counts().items()
    )
    typer.echo(f"\ngates by op: {ops or 'none'}")
    typer.echo(f"simplified in {found.seconds:.2f} s")
    names = "the original circuit", "the simplified circuit"
    typer.echo(proofs.equality(found.proof, names=names), nl=False)
