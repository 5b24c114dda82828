"""`dct simulate`: runs a circuit on a grid of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.errors import note
from cli.options import AsJson, ConditionOptions, Force, Source, Workers, option, with_options
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.simulating import Simulated


@with_options
def simulate(
    source: Source,
    options: ConditionOptions,
    picture: Annotated[Path | None, option("FILE.png", "Draw the last state")] = None,
    save: Annotated[Path | None, option("FILE.npz", "Save all channels of the last state")] = None,
    force: Force = False,
    as_json: AsJson = False,
    engine: Annotated[
        Literal["auto", "interpreter", "compiled"],
        option(
            None, "How to compute: all give the same bits; interpreter compiles nothing", rare=True
        ),
    ] = "auto",
    workers: Workers = None,
) -> None:
    """Simulate a trained circuit on a grid of any size.

    The circuit of a run or a model is first simplified briefly. For a smaller circuit, simulate the
    output of dct simplify.

    Prints how many cells of each visible channel are 1 at the end, and a hash of the visible
    channels. The hash is the same for every engine and every number of workers, with or without
    simplification.
    """
    from difflogic.library.common import require_output
    from difflogic.library.simulating import simulate as run

    for path, suffix in ((picture, ".png"), (save, ".npz")):
        if path is not None:
            require_output(path, suffix, force)
    with show_progress() as progress:
        found = run(
            source,
            options.conditions,
            engine=engine,
            workers=workers or "auto",
            progress=progress,
            on_message=note,
        )
    result = _result(source, found, options.seed)
    # Before the files, so that results are not lost on a full disk.
    if as_json:
        output.show_json(result)
    else:
        _show(result)
    if picture is not None:
        cells = found.save_picture(picture, force=force)
        scale = "" if cells == 1 else f", one pixel for {cells}×{cells} cells"
        note(f"saved {picture}{scale}")
    if save is not None:
        found.save(save, force=force)
        note(f"saved {save}")


def _result(source: Path, found: Simulated, seed: int) -> dict[str, Any]:
    automaton, geometry = found.automaton, found.geometry
    return {
        "source": source,
        "name": automaton.name,
        "channels": geometry.channels,
        "gates": automaton.circuit.gates,
        "height": geometry.height,
        "width": geometry.width,
        "boundary": automaton.boundary,
        "fire_rate": automaton.fire_rate,
        "start": found.start,
        "seed": seed,
        "step": found.step,
        "steps": found.steps,
        "engine": found.engine,
        "workers": found.workers,
        "seconds": found.seconds,
        "updates_per_second": found.updates_per_second,
        "populations": found.populations(),
        "sha256": found.digest(),
    }


def _show(result: dict[str, Any]) -> None:
    cells = result["height"] * result["width"]
    by = result["engine"]
    if by == "compiled":
        by += f", {counted(result['workers'], 'worker')}"
    typer.echo(
        f"{result['name']} · {result['gates']} gates, {counted(result['channels'], 'channel')} · "
        f"{result['height']}×{result['width']} cells, {result['boundary']} boundary, "
        f"fire rate {result['fire_rate']:g} · start {result['start']}, seed {result['seed']}"
    )
    for label, ones in result["populations"].items():
        typer.echo(f"channel {label:<8}{ones} of {cells} cells are 1 after step {result['step']}")
    if result["steps"]:
        rate = result["updates_per_second"]
        typer.echo(
            f"{'speed':<16}{rate / 1e9:.3g} billion updates/s, {result['seconds']:.3f} s ({by})"
        )
    typer.echo(f"{'sha256':<16}{result['sha256']}")
