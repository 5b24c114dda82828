"""`dct simulate`: runs a trained circuit on a grid of any size, and shows what became of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.commands import config as config_command
from cli.errors import note
from cli.interrupt import Interruption
from cli.options.parsing import parse_size, worker_count
from cli.options.sources import Source
from cli.simplifying import EffortName, simplified
from cli.terminal import output
from cli.terminal.counter import Counter

if TYPE_CHECKING:
    from difflogic.logic.automaton import Automaton
    from difflogic.simulation.damage import Damage
    from difflogic.simulation.simulator import Simulator


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
        str | None,
        typer.Option(metavar="HxW", help="Rows and columns.", show_default="as trained"),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Steps to take.", show_default="as trained"),
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
        typer.Option(min=0, max=2**63 - 1, metavar="N", help="Names starts and fire masks."),
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
    from difflogic.simulation import simulator as module
    from difflogic.simulation.bit_grid import Geometry
    from difflogic.simulation.memory import require_memory

    _require_new(picture, ".png", force)
    _require_new(save, ".npz", force)
    asked = worker_count(workers)
    plan = _plan(source, unsimplified, size, fire_rate, boundary)
    automaton = plan.automaton
    circuit = automaton.circuit
    geometry = Geometry(circuit.channels, plan.height, plan.width, automaton.boundary)
    require_memory(geometry)
    todo = automaton.steps if steps is None else steps
    harm = [_parse_damage(text, plan.height, plan.width, todo) for text in damage or []]
    conditions = module.Conditions(geometry, automaton.fire_rate, seed)
    chosen: module.Engine = "interpreter"
    if engine is EngineChoice.auto:
        chosen = module.choose_engine(circuit, conditions, todo)
    elif engine is EngineChoice.compiled:
        chosen = "compiled"
    count = asked if chosen == "compiled" else 1
    if chosen == "compiled":
        if workers in (None, "auto"):
            count = module.useful_workers(circuit, conditions, count)
        _announce_compilation(circuit)
    elif todo:
        _explain_interpreter(circuit, engine)
    begun = automaton.start if start is None else start
    with module.Simulator(circuit, conditions, chosen, count) as simulator:
        from difflogic.simulation import picture as pictures
        from difflogic.simulation import starts, state_file

        starts.prepare(simulator, automaton, begun, density)
        seconds = _run(simulator, todo, harm)
        rows = automaton.visible_rows
        populations = simulator.grid.populations()
        result = {
            "source": str(source), "name": automaton.name, "channels": circuit.channels,
            "gates": circuit.gates, "height": plan.height, "width": plan.width,
            "boundary": automaton.boundary, "fire_rate": automaton.fire_rate, "start": begun,
            "seed": seed, "step": simulator.step, "steps": todo, "engine": chosen,
            "workers": count, "seconds": seconds,
            "updates_per_second": geometry.cells * todo / seconds if seconds else None,
            "populations": {
                str(label): populations[row]
                for label, row in zip(automaton.visible, rows, strict=True)
            },
            "sha256": simulator.grid.digest(rows),
        }  # fmt: skip
        # Before the files: a full disk shall not take the results along.
        if as_json:
            output.show_json(result)
        else:
            _show(result)
        if picture is not None:
            cells = pictures.save_picture(picture, simulator.grid, rows)
            scale = "" if cells == 1 else f", a pixel for {cells}×{cells} cells"
            note(f"saved {picture}{scale}")
        if save is not None:
            state_file.save(save, simulator)
            note(f"saved {save}")


@dataclass(frozen=True)
class _Plan:
    automaton: Automaton
    height: int
    width: int


def _plan(
    source: Path, unsimplified: bool, size: str | None, fire_rate: float | None,
    boundary: BoundaryChoice | None,
) -> _Plan:  # fmt: skip
    """Return what is to be run: the source's automaton with what was asked to be different."""
    from dataclasses import replace

    from difflogic.errors import ConfigError
    from difflogic.formats.loading import load

    automaton = load(source)
    if not unsimplified:
        # To search longer takes longer than most simulations.
        automaton = simplified(source, automaton, EffortName.low)
    height, width = (
        (automaton.height, automaton.width) if size is None else parse_size("--size", size)
    )
    if fire_rate is not None:
        if not 0 < fire_rate <= 1:
            raise ConfigError(f"a fire rate of {fire_rate:g}: give one above 0 and at most 1")
        automaton = replace(automaton, fire_rate=fire_rate)
    if boundary is not None:
        automaton = replace(automaton, boundary=boundary.value)
    return _Plan(automaton, height, width)


def _require_new(path: Path | None, suffix: str, force: bool) -> None:
    from difflogic.errors import ConfigError
    from difflogic.files import check_output

    if path is None:
        return
    if path.suffix != suffix:
        raise ConfigError(f"{path}: what is written is {suffix}: give the file that name")
    check_output(path, force)


def _parse_damage(text: str, height: int, width: int, last: int) -> Damage:
    from difflogic.errors import ConfigError
    from difflogic.simulation.damage import rectangle

    number = r"([0-9]{1,9})"
    found = re.fullmatch(
        rf"([0-9]{{1,9}}(?:,[0-9]{{1,9}})*):{number},{number},{number}[x×]{number}", text
    )
    if found is None:
        raise ConfigError(f'"{text}" is no damage: give STEP:Y,X,HxW, such as 10:4,4,8x8')
    steps = [int(step) for step in found[1].split(",")]
    y, x, rows, columns = (int(found[group]) for group in range(2, 6))
    if rows < 1 or columns < 1 or y + rows > height or x + columns > width:
        raise ConfigError(f'damage "{text}" is not within the {height}×{width} cells')
    if min(steps) < 1 or max(steps) > last:
        raise ConfigError(f'damage "{text}" is not after one of the steps 1 to {last}')
    return rectangle(steps, (y, y + rows), (x, x + columns), width)


def _announce_compilation(circuit: Any) -> None:
    from difflogic.simulation import code_cache, native

    if native.is_cached(circuit):
        return
    note(f"compiling {circuit.gates} gates, once …")
    problem = code_cache.problem()
    if problem is not None:
        note(problem)


def _explain_interpreter(circuit: Any, engine: EngineChoice) -> None:
    from difflogic.simulation import native
    from difflogic.simulation.schedule import schedule

    if engine is not EngineChoice.interpreter and schedule(circuit).gates > native.MOST_GATES:
        note(
            f"interpreted, as compiling more than {native.MOST_GATES} gates takes minutes: "
            "dct simplify may leave fewer"
        )


def _run(simulator: Simulator, steps: int, damage: list[Damage]) -> float:
    """Take the steps with a progress line; return the seconds they took."""
    started = time.perf_counter()
    with Interruption() as interruption, Counter("steps:", steps) as counter:

        def progress(done: int) -> None:
            counter.update(done)
            interruption.check()

        simulator.run(steps, damage, progress)
    return time.perf_counter() - started


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
