"""From a grid's Verilog to a placed design: how large it is, how fast, and whether it is right."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.formats.common import identifier, used_interface
from difflogic.formats.write_blif import write_blif
from difflogic.model.automaton import Automaton
from difflogic.silicon.devices import DEVICES, Device
from difflogic.silicon.tools import ToolError, run_program, run_tool, tool_file
from difflogic.silicon.write_top import site_names, write_sites, write_top
from difflogic.system.deadline import Deadline

DESIGN, MAPPED, NETLIST, PLACED = "grid.v", "cells.v", "grid.json", "placed.json"
"""Files in the private directory: what is synthesised, its cells in LUTs, all of it so, and
nextpnr's report."""
ROUTED, PINS, CONFIGURATION = "routed.json", "pins", "grid.config"
"""The placed design, where its pins have to be, and what a bitstream is made of."""

UNUSED = re.compile(
    r"^module (SB_(SPRAM|RAM|MAC)\w+|DPR16X4C)\b.*?^endmodule|^`include.*?$|^\s*\$error.*?$",
    re.M | re.S,
)
"""What no grid uses; reading a memory takes Yosys a minute, and Icarus stumbles."""

CLOCK_BUFFER = "module DCCA (input CLKI, CE, output CLKO); assign CLKO = CLKI; endmodule\n"
"""Of the ECP5; the models have none. Nothing is at CE."""

Pause = Callable[[str], None]
"""Is told, again and again, which step is going on; may raise to stop it."""


@dataclass(frozen=True)
class Synthesis:
    """A grid on a device, after synthesis and, if it fits, after placement and routing."""

    automaton: Automaton
    device: Device
    luts: int
    flip_flops: int
    share: float
    """Of the device's cells, those of the kind that there are least of."""
    mhz: float | None
    """The fastest clock, one step each; None if the grid does not fit."""

    @property
    def cells(self) -> int:
        return self.automaton.height * self.automaton.width

    @property
    def fits(self) -> bool:
        return self.mhz is not None

    @property
    def largest(self) -> int:
        """The side of the largest square that fits, by what a cell needs here."""
        return math.isqrt(int(self.cells / self.share))

    @property
    def others(self) -> list[str]:
        """Names of the other devices that have room for this grid, as far as can be told."""
        needed, others = max(self.luts, self.flip_flops), DEVICES.values()
        return [each.name for each in others if each != self.device and each.luts > needed]


def synthesize(
    automaton: Automaton,
    device: Device,
    start: npt.NDArray,
    damaged: npt.NDArray,
    folder: Path,
    deadline: Deadline,
    seed: int = 0,
    pause: Pause = lambda step: None,
) -> Synthesis:
    """Synthesise a grid, then place and route it; all files stay in `folder`, as PINS may before.

    `start` are the bits (C, H, W) after a reset, `damaged` the cells (H, W) that the damage input
    clears. Raises ToolError if a tool fails or takes too long.
    """
    (folder / DESIGN).write_text(write_top(automaton, start, damaged, seed))
    top, sites = f"{identifier(automaton)}_top", " ".join(site_names(automaton))
    script = [
        # Yosys is slow on large flat modules, so each kind of cell is mapped once, by itself.
        f"read_verilog /design/{DESIGN}; setattr -mod -set keep_hierarchy 1 {sites}",
        f"{device.synthesis} -top {top} -run :check",
        f"select {sites}; write_verilog -noattr -selected /design/{MAPPED}; select -clear",
        f"setattr -mod -unset keep_hierarchy {sites}; flatten; opt_clean",
        f"blackbox =A:whitebox; write_json /design/{NETLIST}",
        "tee -q -o /design/stat.json stat -json",
    ]
    _yosys(script, "synthesis", folder, deadline, pause)
    luts, flip_flops = _sizes(json.loads((folder / "stat.json").read_text()))
    share = max(luts, flip_flops) / device.luts
    if share > 1:
        return Synthesis(automaton, device, luts, flip_flops, share, None)
    files = {
        "json": NETLIST,
        "report": PLACED,
        "write": ROUTED,
        device.configuration: CONFIGURATION,
        **({device.constraints: PINS} if (folder / PINS).exists() else {}),
    }
    arguments = [f"--{name}=/design/{file}" for name, file in files.items()]
    arguments += [*device.options, f"--{device.constraints}-allow-unconstrained"]
    try:
        run_tool(
            f"nextpnr-{device.family}",
            [*arguments, "--seed", "1"],
            folder,
            deadline,
            lambda: pause("place and route"),
        )
    except ToolError as error:
        used = _said_used(error.log, device)
        if used is None or used <= device.luts:
            raise
        return Synthesis(automaton, device, luts, flip_flops, used / device.luts, None)
    placed = json.loads((folder / PLACED).read_text())
    kinds = [placed["utilization"][kind] for kind in (device.logic, device.registers)]
    share = max(kind["used"] / kind["available"] for kind in kinds)
    (clock,) = placed["fmax"].values()
    return Synthesis(automaton, device, luts, flip_flops, share, clock["achieved"])


def _yosys(script: Sequence[str], step: str, folder: Path, deadline: Deadline, pause: Pause) -> str:
    """Run Yosys on a script, in the private directory; return what it said."""
    (folder / "script.ys").write_text("\n".join([*script, ""]))
    return run_tool("yosys", ["-s", "/design/script.ys"], folder, deadline, lambda: pause(step))


def _sizes(stat: dict[str, Any]) -> tuple[int, int]:
    """Return the LUTs and the flip-flops of a netlist, by Yosys's table of kinds of cells."""
    kinds = stat["design"]["num_cells_by_type"]
    luts = sum(count for kind, count in kinds.items() if "LUT4" in kind)
    return luts, sum(count for kind, count in kinds.items() if "FF" in kind)


def _said_used(log: str, device: Device) -> int | None:
    """Return how many cells of logic nextpnr counted before it gave up, if it came so far."""
    for line in log.splitlines():
        _, _, numbers = line.partition(f"{device.logic}:")
        if numbers:
            return int(numbers.partition("/")[0])
    return None


def _models(device: Device, folder: Path) -> str:
    """Return the command that reads Yosys's own models of a device's LUTs and flip-flops."""
    text = tool_file("yosys", f"{device.family}/{device.models}")
    (folder / "models.v").write_text(re.sub(UNUSED, "", text))
    return "read_verilog -overwrite /design/models.v"


def prove_cells(
    automaton: Automaton,
    device: Device,
    folder: Path,
    deadline: Deadline,
    pause: Pause = lambda step: None,
    mutate: Callable[[str], str] = str,
) -> bool:
    """Return whether Yosys proves the cells that `synthesize` mapped equal to the circuit.

    The circuit is given as BLIF, by another writer than the Verilog that was mapped. `mutate` may
    change the mapped cells (Verilog), to see that wrong ones are not proved.
    """
    interface = used_interface(automaton.circuit)
    cell, names = f"{identifier(automaton)}_cell", site_names(automaton)
    (folder / "cell.blif").write_text(write_blif(automaton, interface))
    (folder / "sites.v").write_text("\n".join(write_sites(automaton)))
    (folder / "mutated.v").write_text(mutate((folder / MAPPED).read_text()))
    script = [
        f"read_verilog /design/mutated.v; {_models(device, folder)}",
        *(f"rename {name} mapped_{name}" for name in names),
        f"read_blif /design/cell.blif; rename {identifier(automaton)} {cell}",
        "read_verilog /design/sites.v; hierarchy; proc; flatten; opt_clean",
    ]
    for name in names:
        script += [
            f"miter -equiv -flatten {name} mapped_{name} both_{name}",
            f"sat -verify -prove trigger 0 both_{name}",
        ]
    try:
        _yosys(script, "proof of the cells", folder, deadline, pause)
    except ToolError as error:
        if "model found: FAIL!" in error.log:
            return False
        raise
    return True


def read_out(
    automaton: Automaton,
    device: Device,
    moments: Sequence[int],
    damage: Sequence[int],
    folder: Path,
    deadline: Deadline,
    pause: Pause = lambda step: None,
) -> Iterator[npt.NDArray]:
    """Yield the visible channels (V, H, W) after each of the steps `moments`, ascending.

    Icarus Verilog simulates the netlist after synthesis, from a reset on, with damage after the
    steps `damage`; pictures are what leaves serial_out, which is fed back so that the run goes on.
    """

    def tick() -> None:
        pause("simulation")

    shown = (len(automaton.visible), automaton.height, automaton.width)
    bits = int(np.prod(shown))
    acts, starts = ["reset"], []
    for step in range(max(moments) + 1):
        acts += ["run"] * (step > 0) + ["damage"] * (step in damage)
        if step in moments:
            starts.append(len(acts))
            acts += ["shift"] * bits
    (folder / "bench.v").write_text(_bench(identifier(automaton), acts))
    script = [
        f"read_json /design/{ROUTED}; rename top {identifier(automaton)}_top",
        "write_verilog -noattr /design/netlist.v",
    ]
    _yosys(script, "simulation", folder, deadline, pause)
    _models(device, folder)
    options = "-g2012 -DNO_ICE40_DEFAULT_ASSIGNMENTS -s bench -o bench"
    compiler = ["iverilog", *options.split(), "bench.v", "netlist.v", "models.v"]
    run_program(compiler, folder, deadline, tick)
    said = run_program(["vvp", "-n", "bench"], folder, deadline, tick)
    # Before the first reset nothing is known.
    values = np.array([sign == "1" for sign in said.split()[-1]], np.uint8)
    for first in starts:
        yield values[first : first + bits].reshape(shown)


ACTS = ("run", "damage", "shift", "reset")
"""What a clock of the simulation does, by its number."""


def _bench(name: str, acts: Sequence[str]) -> str:
    """Return a module that does one thing after the other, and prints serial_out before each."""
    numbers = "".join(f"{ACTS.index(act):02b}" for act in reversed(acts))
    # A placed design's pins are nets that only another net can be joined to.
    pins = "\n    ".join(f"wire {act} = act == {number};" for number, act in enumerate(ACTS))
    return f"""\
{CLOCK_BUFFER}
module bench;
    reg now = 0;
    wire clock = now;
    integer t = 0;
    localparam [{2 * len(acts) - 1}:0] ACTS = {2 * len(acts)}'b{numbers};
    wire [1:0] act = ACTS[2 * t +: 2];
    {pins}
    wire serial;
    {name}_top top (
        .clock(clock), .run(run), .damage(damage), .shift(shift), .reset(reset),
        .serial_in(serial), .serial_out(serial)
    );
    initial for (t = 0; t < {len(acts)}; t = t + 1) begin
        #1 $write("%b", serial);
        now = 1;
        #1 now = 0;
    end
endmodule
"""
