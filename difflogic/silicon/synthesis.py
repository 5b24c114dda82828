"""From a grid's Verilog to a placed design: its size, its speed, and whether it is right."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.formats.notation import rendered
from difflogic.formats.write_blif import write_blif
from difflogic.silicon.tools import ToolError, run_program, run_tool, tool_file
from difflogic.silicon.write_top import site_names, write_sites, write_top
from difflogic.system.array_types import Array
from difflogic.system.deadline import Deadline
from difflogic.system.work import checking, tell

DESIGN = "grid.v"
MAPPED = "cells.v"
NETLIST = "grid.json"
PLACED = "placed.json"
"""Files in the private directory: the source, its cells as LUTs, the netlist, nextpnr's report."""
ROUTED = "routed.json"
PINS = "pins"
CONFIGURATION = "grid.config"
"""The placed design, the places of its pins, and the input for a bitstream."""

UNUSED = re.compile(
    r"^module (SB_(SPRAM|RAM|MAC)\w+|DPR16X4C)\b.*?^endmodule|^`include.*?$|^\s*\$error.*?$",
    re.M | re.S,
)
"""Models that no grid uses. Reading memories takes Yosys a minute, and Icarus fails on them."""


@dataclass(frozen=True)
class Device:
    """An FPGA, as Yosys and nextpnr know it."""

    name: str
    family: str
    """The end of the name of nextpnr's program."""
    synthesis: str
    """Yosys's command, with options."""
    options: tuple[str, ...]
    """nextpnr's options for the device and its package."""
    constraints: str
    """nextpnr's option for a file with the places of pins."""
    configuration: str
    """nextpnr's option for the file from which a bitstream is made."""
    logic: str
    """nextpnr's name of the cells that hold LUTs."""
    registers: str
    """nextpnr's name of the cells that hold flip-flops, perhaps the same."""
    models: str
    """Yosys's file of models of LUTs and flip-flops."""
    luts: int
    """Number of LUTs, and of flip-flops."""


DEVICES = {
    device.name: device
    for device in (
        Device(
            name="ice40-hx8k",
            family="ice40",
            # A clock enable for each cell that fires at random would be slow.
            synthesis="synth_ice40 -dffe_min_ce_use 16",
            options=("--hx8k", "--package", "ct256"),
            constraints="pcf",
            configuration="asc",
            logic="ICESTORM_LC",
            registers="ICESTORM_LC",
            models="cells_sim.v",
            luts=7680,
        ),
        Device(
            name="ecp5-85k",
            family="ecp5",
            # Wide LUTs join two LUTs of 4 inputs, but then cells need up to twice as many LUTs.
            synthesis="synth_ecp5 -nowidelut",
            # router1 did not finish routing a picture.
            options=("--85k", "--package", "CABGA381", "--router", "router2"),
            constraints="lpf",
            configuration="textcfg",
            logic="TRELLIS_COMB",
            registers="TRELLIS_FF",
            models="common_sim.vh",
            luts=83640,
        ),
    )
}


@dataclass(frozen=True)
class Synthesis:
    """A grid on a device, after synthesis and, if it fits, after placement and routing."""

    automaton: Automaton
    device: Device
    luts: int
    flip_flops: int
    share: float
    """Share of the device that is used, of the scarcest kind of cell."""
    mhz: float | None
    """The fastest clock, one step per cycle; None if the grid does not fit."""

    @property
    def cells(self) -> int:
        return self.automaton.height * self.automaton.width

    @property
    def fits(self) -> bool:
        return self.mhz is not None

    @property
    def largest(self) -> int:
        """Side of the largest square that should fit, if its cells need as much as here."""
        return math.isqrt(int(self.cells / self.share))

    @property
    def others(self) -> list[str]:
        """Names of other devices that probably have room for this grid."""
        needed = max(self.luts, self.flip_flops)
        others = DEVICES.values()
        return [each.name for each in others if each != self.device and each.luts > needed]


@dataclass(frozen=True)
class Flow:
    """The tools' work on one grid. All files stay in `folder`, which may hold PINS.

    Its methods raise ToolError if a tool fails or takes too long.
    """

    automaton: Automaton
    device: Device
    folder: Path
    deadline: Deadline

    def synthesize(self, start: Array, damaged: Array, seed: int = 0) -> Synthesis:
        """Synthesise a grid, then place and route it.

        A reset sets the bits `start` (C, H, W); the damage input clears the cells `damaged` (H, W).
        """
        automaton = self.automaton
        device = self.device
        self._write(DESIGN, write_top(automaton, start, damaged, seed))
        self._yosys("synthesize", "synthesis")
        luts, flip_flops = _sizes(
            json.loads((self.folder / "stat.json").read_text(encoding="utf-8"))
        )
        share = max(luts, flip_flops) / device.luts
        mhz = None
        if share <= 1:
            share, mhz = self._place()
        return Synthesis(automaton, device, luts, flip_flops, share, mhz)

    def _place(self) -> tuple[float, float | None]:
        """Place and route the netlist; return the share of the device, and the clock if it fits."""
        device = self.device
        files = {
            "json": NETLIST,
            "report": PLACED,
            "write": ROUTED,
            device.configuration: CONFIGURATION,
            **({device.constraints: PINS} if (self.folder / PINS).exists() else {}),
        }
        arguments = [f"--{name}=/design/{file}" for name, file in files.items()]
        arguments += [*device.options, f"--{device.constraints}-allow-unconstrained", "--seed", "1"]
        try:
            self._run(f"nextpnr-{device.family}", arguments, "place and route")
        except ToolError as error:
            used = _logged_use(error.log, device)
            if used is None or used <= device.luts:
                raise
            return used / device.luts, None
        placed = json.loads((self.folder / PLACED).read_text(encoding="utf-8"))
        kinds = [placed["utilization"][kind] for kind in (device.logic, device.registers)]
        (clock,) = placed["fmax"].values()
        return max(kind["used"] / kind["available"] for kind in kinds), clock["achieved"]

    def prove_cells(self, mutate: Callable[[str], str] = str) -> bool:
        """Return whether Yosys proves that the cells mapped by `synthesize` equal the circuit.

        The circuit comes as BLIF, from another writer than the Verilog that was mapped. Tests give
        `mutate`, which changes the mapped Verilog, to check that wrong cells are not proved.
        """
        automaton = self.automaton
        self._write("cell.blif", write_blif(automaton))
        self._write("sites.v", write_sites(automaton))
        self._write("mutated.v", mutate((self.folder / MAPPED).read_text(encoding="utf-8")))
        self._write_models()
        try:
            self._yosys("prove_cells", "proof of the cells")
        except ToolError as error:
            if "model found: FAIL!" in error.log:
                return False
            raise
        return True

    def read_out(self, moments: Sequence[int], damage: Sequence[int]) -> Iterator[Array]:
        """Yield the visible channels (V, H, W) after each of the steps `moments`, ascending.

        Icarus Verilog simulates the synthesised netlist from a reset, with damage after the steps
        `damage`. Pictures are read from serial_out, which is fed back so that the run continues.
        """
        automaton = self.automaton
        folder = self.folder
        shown = (len(automaton.visible), automaton.height, automaton.width)
        bits = int(np.prod(shown))
        acts = ["reset"]
        starts = []
        for step in range(max(moments) + 1):
            acts += ["run"] * (step > 0) + ["damage"] * (step in damage)
            if step in moments:
                starts.append(len(acts))
                acts += ["shift"] * bits
        self._write("bench.v", _bench(automaton, acts))
        self._yosys("write_netlist", "simulation")
        self._write_models()
        options = "-g2012 -DNO_ICE40_DEFAULT_ASSIGNMENTS -s bench -o bench"
        compiler = ["iverilog", *options.split(), "bench.v", "netlist.v", "models.v"]
        with _timed("simulation"):
            run_program(compiler, folder, self.deadline)
            log = run_program(["vvp", "-n", "bench"], folder, self.deadline)
        # Bits before the first reset are undefined.
        values = np.array([sign == "1" for sign in log.split()[-1]], np.uint8)
        for first in starts:
            yield values[first : first + bits].reshape(shown)

    def _write_models(self) -> None:
        """Save Yosys's models of LUTs and flip-flops."""
        text = tool_file("yosys", f"{self.device.family}/{self.device.models}")
        self._write("models.v", re.sub(UNUSED, "", text))

    def _yosys(self, script: str, step: str) -> None:
        """Run a script of this package, a template."""
        sites = site_names(self.automaton)
        text = rendered(f"silicon/{script}", self.automaton, device=self.device, sites=sites)
        self._write("script.ys", text)
        self._run("yosys", ["-s", "/design/script.ys"], step)

    def _run(self, tool: str, arguments: Sequence[str], step: str) -> None:
        with _timed(step):
            run_tool(tool, arguments, self.folder, self.deadline)

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


def _timed(step: str) -> AbstractContextManager[None]:
    """Within this context, tell how long a step has taken."""
    began = time.monotonic()
    return checking(lambda: tell(f"seconds of {step}:", int(time.monotonic() - began)))


def _sizes(stat: dict[str, Any]) -> tuple[int, int]:
    """Return the numbers of LUTs and flip-flops, from Yosys's statistics."""
    kinds = stat["design"]["num_cells_by_type"]
    luts = sum(count for kind, count in kinds.items() if "LUT4" in kind)
    return luts, sum(count for kind, count in kinds.items() if "FF" in kind)


def _logged_use(log: str, device: Device) -> int | None:
    """Return the logic cells that nextpnr counted before it failed, if it got that far."""
    for line in log.splitlines():
        _, _, numbers = line.partition(f"{device.logic}:")
        if numbers:
            return int(numbers.partition("/")[0])
    return None


ACTS = {"run": 0, "damage": 1, "shift": 10, "reset": 11}
"""What a clock cycle of the simulation does, and its code of two binary digits."""


def _bench(automaton: Automaton, acts: Sequence[str]) -> str:
    """Return a test bench that does `acts` in turn and prints serial_out before each."""
    return rendered("silicon/bench", automaton, acts=acts, codes=ACTS)
