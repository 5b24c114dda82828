"""`dct simulate`: runs a circuit on a grid of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failures import note
from cli.options import AsJson, SourceOperand
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.conditions import Conditions
from difflogic.system.declaration import BackwardsOption, EngineOption, Force, Opt, WorkersOption
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.simulating import Simulated


def simulate(
    source: SourceOperand,
    conditions: Conditions,
    engine: EngineOption = "auto",
    workers: WorkersOption = "auto",
    backwards: BackwardsOption = False,
    picture: Annotated[Path | None, Opt("Draw the last state", "FILE.png")] = None,
    save: Annotated[Path | None, Opt("Save all channels of the last state", "FILE.npz")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a trained circuit on a grid of any size.

    The circuit of a run or a model is first simplified briefly. For a smaller circuit, simulate the
    output of dct simplify.

    Prints how many cells of each visible channel are 1 at the end, and a hash of the visible
    channels. The hash is the same for every engine and every number of workers, with or without
    simplification.
    """
    import difflogic
    from difflogic.system.files import require_output

    for path, suffix in ((picture, ".png"), (save, ".npz")):
        if path is not None:
            require_output(path, suffix, force)
    with show_progress():
        found = difflogic.simulate(
            source, conditions, engine=engine, workers=workers, backwards=backwards
        )
    # Before the files, so that results are not lost on a full disk.
    output.show(found, as_json, _show)
    if picture is not None:
        cells = found.save_picture(picture, force=force)
        scale = "" if cells == 1 else f", one pixel for {cells}×{cells} cells"
        note(f"saved {picture}{scale}")
    if save is not None:
        found.save(save, force=force)
        note(f"saved {save}")


def _show(found: Simulated) -> None:
    g = found.geometry
    automaton = found.automaton
    circuit = automaton.circuit
    typer.echo(
        f"{automaton.name} · {counted(circuit.gates, 'gate')}, "
        f"{counted(circuit.channels, 'channel')} · {g.height}×{g.width} cells, {g.boundary} "
        f"boundary, fire rate {automaton.fire_rate:g} · start {found.start}, seed {found.seed}"
    )
    when = f"{found.steps} steps earlier" if found.backwards else f"after step {found.step}"
    for label, ones in found.populations().items():
        typer.echo(f"channel {label:<8}{ones} of {g.cells} cells are 1 {when}")
    if found.updates_per_second is not None:
        by = f", {counted(found.workers, 'worker')}" if found.engine == "compiled" else ""
        rate = f"{found.updates_per_second / 1e9:.3g} billion updates/s, {found.seconds:.3f} s"
        typer.echo(f"{'speed':<16}{rate} ({found.engine}{by})")
    typer.echo(f"{'sha256':<16}{found.digest()}")
