"""`dct simplify`: shrinks a circuit, proves the result equal, and saves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cli.errors import FAILURE, note
from cli.options import AsJson, Effort, Force, Output, Source, TimeLimit
from cli.progress import show_progress
from cli.terminal import output, proofs

if TYPE_CHECKING:
    from difflogic.circuit.circuit import Circuit
    from difflogic.library.simplifying import Simplified


def simplify(
    source: Source,
    to: Output = None,
    force: Force = False,
    effort: Effort = "normal",
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Simplify the circuit of a run, a model or a file, and prove the result equal.

    For every state, each remaining channel has the same next state as before. Exits 1 and saves
    nothing if that cannot be proved. If the time limit ends the search, the best result so far is
    used.
    """
    from difflogic.library.simplifying import simplify as run
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
    with show_progress(stop_at_once=True) as progress:
        found = run(source, effort, time_limit=time_limit, progress=progress)
    if found.simplification.stopped:
        note("the time limit cut the search short: the result depends on this machine")
    if found.proved and to is not None:
        found.save(to, force=force)
    if as_json:
        output.show_json(
            {
                "circuit": source,
                "effort": effort,
                "seconds": found.seconds,
                "stopped": found.simplification.stopped,
                "stages": [
                    {"name": stage.name, **measures(stage.circuit)}
                    for stage in found.simplification.stages
                ],
                "proof": found.proof,
                "output": to if found.proved else None,
            }
        )
    else:
        _show(found)
        if found.proved and to is not None:
            note(f"saved {to}")
    if not found.proved:
        if to is not None:
            note(f"{to} was not written: the simplified circuit could not be proved equal")
        raise typer.Exit(FAILURE)


def measures(circuit: Circuit) -> dict[str, Any]:
    """Return the size of a circuit: gates, active gates, depth, channels, inputs, gates by op."""
    return {
        "gates": circuit.gates,
        "active": circuit.active_gates,
        "depth": circuit.depth,
        "channels": circuit.channels,
        "inputs": len(circuit.read_inputs),
        "ops": {op.name: count for op, count in circuit.op_counts().items()},
    }


def _show(found: Simplified) -> None:
    rows = ((stage.name, *_cells(measures(stage.circuit))) for stage in found.simplification.stages)
    output.show_table("stage | gates | active | depth | channels | and | xor | other", rows)
    ops = ", ".join(
        f"{op.name} {count}" for op, count in found.automaton.circuit.op_counts().items()
    )
    typer.echo(f"\ngates by op: {ops or 'none'}")
    typer.echo(f"simplified in {found.seconds:.2f} s")
    proofs.show_equality(found.proof, ("the original circuit", "the simplified circuit"))


XORS = ("XOR", "XNOR")
OTHERS = ("FALSE", "A", "B", "NOT_A", "NOT_B", "TRUE")
"""Ops that read fewer than two inputs. All ops in neither list are like AND."""


def _cells(figures: dict[str, Any]) -> list[int]:
    ops = figures["ops"]
    xors, others = (sum(ops.get(op, 0) for op in kind) for kind in (XORS, OTHERS))
    ands = figures["gates"] - xors - others
    sizes = [figures[name] for name in ("gates", "active", "depth", "channels")]
    return [*sizes, ands, xors, others]
