"""`dct synth`: places a grid of cells on an FPGA."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.errors import FAILURE, note
from cli.options import AsJson, ConditionOptions, Source, flag, option, time_option, with_options
from cli.progress import show_progress
from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.library.synthesizing import Synthesized


@with_options
def synth(
    source: Source,
    options: ConditionOptions,
    device: Annotated[
        Literal["ice40-hx8k", "ecp5-85k"], option(None, "FPGA to place the grid on")
    ] = "ecp5-85k",
    check: Annotated[
        bool,
        flag(
            "--check",
            "Prove the mapped cell equal to the circuit, and simulate the netlist for --steps",
        ),
    ] = False,
    timeout: Annotated[
        float, time_option("Time limit for all tools together", least=1, most=1e6)
    ] = 600,
    report: Annotated[
        Path | None, option("DIR", "New directory for the Verilog and the tools' logs")
    ] = None,
    pins: Annotated[
        Path | None, option("FILE", "Pin assignments, as PCF (iCE40) or LPF (ECP5)")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Synthesise, place and route a grid of cells on an FPGA, and report its size and clock.

    The grid advances one step per clock. The generated Verilog documents its seven pins. A reset
    loads the start, and the damage input clears the rectangle of --damage. Exits 1 if the grid does
    not fit.

    Needs Yosys and nextpnr: pip install '.[fpga]'
    """
    from difflogic.library.synthesizing import synthesize

    with show_progress() as progress:
        found = synthesize(
            source,
            device,
            options.conditions,
            check=check,
            timeout=timeout,
            report=report,
            pins=pins,
            progress=progress,
        )
    result = _result(found)
    if as_json:
        output.show_json(result)
    else:
        _show(found)
    if check and found.synthesis.fits and not found.compared:
        note(
            "the cell is proved equal; the netlist was not compared with dct simulate: it draws "
            "other cells to fire"
        )
    if not found.synthesis.fits:
        made = found.synthesis
        side, others = made.largest, " or ".join(made.others)
        note(
            f"{made.automaton.height}×{made.automaton.width} cells do not fit on "
            f"{made.device.name}: about {side}×{side} would"
            + (f"; {others} may hold them" if others else "")
        )
        raise typer.Exit(FAILURE)


def _result(found: Synthesized) -> dict[str, Any]:
    made = found.synthesis
    hertz = None if made.mhz is None else made.mhz * 1e6
    return {
        "name": made.automaton.name,
        "device": made.device.name,
        "height": made.automaton.height,
        "width": made.automaton.width,
        "fits": made.fits,
        "luts": made.luts,
        "flip_flops": made.flip_flops,
        "share": made.share,
        "mhz": made.mhz,
        "grid_updates_per_second": hertz,
        "cell_updates_per_second": None if hertz is None else hertz * made.cells,
        "largest_square": made.largest,
        "compared_steps": list(found.compared),
    }


def _show(found: Synthesized) -> None:
    made = found.synthesis
    height, width = made.automaton.height, made.automaton.width
    rows: list[tuple[str, Any, Any]] = [
        ("LUTs", f"{made.luts / made.cells:.2f}", made.luts),
        ("flip-flops", f"{made.flip_flops / made.cells:.2f}", made.flip_flops),
        (f"share of {made.device.name}", f"{made.share / made.cells:.3%}", f"{made.share:.1%}"),
    ]
    if made.mhz is not None:
        rows += [
            ("longest path, ns", None, f"{1000 / made.mhz:.2f}"),
            ("clock, MHz", None, f"{made.mhz:.1f}"),
            ("updates per second", f"{made.mhz * 1e6:.3g}", f"{made.mhz * 1e6 * made.cells:.3g}"),
        ]
    typer.echo(f"{made.automaton.name} · {height}×{width} cells on {made.device.name}")
    output.show_table(" | per cell | in all", rows)
    if found.compared:
        steps = ", ".join(map(str, found.compared))
        typer.echo(f"cell proved equal; netlist shows what dct simulate shows after steps {steps}")
