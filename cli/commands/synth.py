"""`dct synth`: places a grid of cells on an FPGA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cli.failures import FAILURE, note
from cli.options import AsJson, SourceOperand
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.conditions import Conditions
from difflogic.library.groups import ChipOptions

if TYPE_CHECKING:
    from difflogic.library.synthesizing import Synthesized


def synth(
    source: SourceOperand, conditions: Conditions, options: ChipOptions, as_json: AsJson = False
) -> None:
    """Synthesise, place and route a grid of cells on an FPGA, and report its size and clock.

    The grid advances one step per clock. The generated Verilog documents its seven pins. A reset
    loads the start, and the damage input clears the rectangle of --damage. Exits 1 if the grid does
    not fit.

    Needs Yosys and nextpnr: pip install '.[fpga]'
    """
    from difflogic.library.synthesizing import synthesize

    with show_progress():
        found = synthesize(source, conditions, options)
    output.show(found, as_json, _show)
    made = found.synthesis
    if options.check and made.fits and not found.compared:
        note(
            "the cell is proved equal; the netlist was not compared with dct simulate: it draws "
            "other cells to fire"
        )
    if not made.fits:
        side = made.largest
        others = " or ".join(made.others)
        note(
            f"{made.automaton.height}×{made.automaton.width} cells do not fit on "
            f"{made.device.name}: about {side}×{side} would"
            + (f"; {others} may hold them" if others else "")
        )
        raise typer.Exit(FAILURE)


def _show(found: Synthesized) -> None:
    made = found.synthesis
    height = made.automaton.height
    width = made.automaton.width
    percent = 100 * made.share
    rows: list[tuple[str, Any, Any]] = [
        ("LUTs", f"{made.luts / made.cells:.2f}", made.luts),
        ("flip-flops", f"{made.flip_flops / made.cells:.2f}", made.flip_flops),
        (f"share of {made.device.name}", f"{percent / made.cells:.3f} %", f"{percent:.1f} %"),
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
