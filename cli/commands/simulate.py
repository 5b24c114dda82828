"""`dct simulate`: runs a trained circuit on a grid of any size, and shows what became of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.commands import config as config_command
from cli.errors import note
from cli.options.parsing import parse_damage, parse_size, parse_worker_count, whole_number
from cli.options.sources import Source
from cli.terminal import output
from cli.watching import watched

if TYPE_CHECKING:
    from difflogic.library.simulating import Simulated


class EngineChoice(StrEnum):
    """How steps are computed; the bits are the same."""

    auto = "auto"
    interpreter = "interpreter"
    compiled = "compiled"


class BoundaryChoice(StrEnum):
    """What lies beyond the grid's edge."""

    zero = "zero"
    periodic = "periodic"


def simulate(
    source: Source,
    size: Annotated[
        str | None, typer.Option(metavar="HxW", help="Rows and columns.", show_default="as trained")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(0), metavar="N", help="Steps to take.", show_default="as trained"
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="START",
            help="random, center, zeros, or a file: an image, a picture as text (.txt), a pattern "
            "(.rle), or a saved state (.npz).",
            show_default="as trained",
        ),
    ] = None,
    density: Annotated[
        float, typer.Option(min=0, max=1, help="Share of ones in a random start.")
    ] = 0.5,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, 2**63 - 1), metavar="N", help="Names starts and fire masks."
        ),
    ] = 0,
    fire_rate: Annotated[
        float | None,
        typer.Option(help="Share of cells that change in a step.", show_default="as trained"),
    ] = None,
    boundary: Annotated[BoundaryChoice | None, typer.Option(show_default="as trained")] = None,
    damage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP:Y,X,HxW",
            help="Zero the H rows and W columns from row Y and column X on after a step, or after "
            "several: 10,20:0,0,8x8; may be given again.",
        ),
    ] = None,
    engine: Annotated[
        EngineChoice,
        typer.Option(help="The interpreter compiles nothing; auto takes it for small work."),
    ] = EngineChoice.auto,
    workers: Annotated[str | None, config_command.WORKERS] = None,
    unsimplified: Annotated[
        bool,
        typer.Option("--unsimplified", help="Run the circuit as trained, with all its channels."),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the last state.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Save the last state, all channels.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results as one JSON object.")
    ] = False,
) -> None:
    """Simulate a trained circuit on a grid of any size.

    That of a run or a model is simplified first, quickly; to have it smaller, simulate the file
    that dct simplify saves.

    Prints how many cells of each visible channel are 1 in the end, and a hash of them, which is
    the same with any engine and any number of workers, simplified or not.
    """
    from difflogic.library.simulating import require_output
    from difflogic.library.simulating import simulate as run

    for path, suffix in ((picture, ".png"), (save, ".npz")):
        if path is not None:
            require_output(path, suffix, force)
    with watched() as progress:
        found = run(
            source,
            size=None if size is None else parse_size("--size", size),
            steps=steps,
            start=start,
            density=density,
            seed=seed,
            fire_rate=fire_rate,
            boundary=None if boundary is None else boundary.value,
            damage=[parse_damage(text) for text in damage or []],
            engine=engine.value,
            workers=parse_worker_count(workers),
            unsimplified=unsimplified,
            progress=progress,
            say=note,
        )
    result = _result(source, found, seed)
    # Before the files: a full disk shall not take the results along.
    if as_json:
        output.show_json(result)
    else:
        _show(result)
    if picture is not None:
        cells = found.save_picture(picture, force=force)
        scale = "" if cells == 1 else f", a pixel for {cells}×{cells} cells"
        note(f"saved {picture}{scale}")
    if save is not None:
        found.save(save, force=force)
        note(f"saved {save}")


def _result(source: Path, found: Simulated, seed: int) -> dict[str, Any]:
    automaton, geometry = found.automaton, found.geometry
    return {
        "source": str(source),
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
        "populations": {str(label): ones for label, ones in found.populations().items()},
        "sha256": found.digest(),
    }


def _show(result: dict[str, Any]) -> None:
    cells = result["height"] * result["width"]
    by = result["engine"]
    if by == "compiled":
        by += f", {result['workers']} worker{'' if result['workers'] == 1 else 's'}"
    typer.echo(
        f"{result['name']} · {result['gates']} gates, {result['channels']} "
        f"channel{'' if result['channels'] == 1 else 's'} · {result['height']}×{result['width']} "
        f"cells, {result['boundary']} boundary, fire rate {result['fire_rate']:g} · "
        f"start {result['start']}, seed {result['seed']}"
    )
    for label, ones in result["populations"].items():
        typer.echo(f"channel {label:<8}{ones} of {cells} cells are 1 after step {result['step']}")
    if result["steps"]:
        rate = result["updates_per_second"]
        typer.echo(
            f"{'speed':<16}{rate / 1e9:.3g} billion updates/s, {result['seconds']:.3f} s ({by})"
        )
    typer.echo(f"{'sha256':<16}{result['sha256']}")
