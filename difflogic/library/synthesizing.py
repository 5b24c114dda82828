"""Grids on FPGAs: `synthesize`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.library.conditions import AS_TRAINED, Conditions, Rectangle
from difflogic.library.groups import ChipOptions
from difflogic.library.loaded import Source, load
from difflogic.library.simulating import simulate
from difflogic.silicon.synthesis import DEVICES, PINS, Flow, Synthesis
from difflogic.silicon.tools import require_tools
from difflogic.simulation.bit_grid import Geometry
from difflogic.system.array_types import Bits
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.system.files import read_named, refused
from difflogic.system.json_values import chosen
from difflogic.system.quantities import counted
from difflogic.system.work import ignore, undoing, working

MOST_FLIP_FLOPS = 2**20
"""Bits of a grid's state; no device has as many flip-flops."""

MOST_PINS_BYTES = 10**6
"""Size of a file of pins, with a line for each."""

PICTURES = 8
"""Steps at which the netlist's simulation is compared, besides those with damage."""

LOGS = (
    *("*.log", "grid.v", "grid.json", "grid.config", "placed.json", "stat.json"),
    *("bench.v", "models.v", "netlist.v"),
)
"""Files that `report` keeps."""


@dataclass(frozen=True)
class Synthesized:
    """A grid on a device, and the results of the checks."""

    synthesis: Synthesis
    compared: tuple[int, ...] = ()
    """Steps after which the netlist's simulation showed the same as `simulate`."""

    def as_dict(self) -> dict[str, Any]:
        """Return the results as values for JSON."""
        made = self.synthesis
        hertz = None if made.mhz is None else made.mhz * 1e6
        return {
            "name": made.automaton.name,
            "device": made.device.name,
            **chosen(made.automaton, "height", "width"),
            **chosen(made, "fits", "luts", "flip_flops", "share", "mhz"),
            "grid_updates_per_second": hertz,
            "cell_updates_per_second": None if hertz is None else hertz * made.cells,
            "largest_square": made.largest,
            "compared_steps": list(self.compared),
        }


DEFAULT_CHIP = ChipOptions()


def synthesize(
    source: Source, conditions: Conditions = AS_TRAINED, options: ChipOptions = DEFAULT_CHIP
) -> Synthesized:
    """Synthesise, place and route a grid of a circuit for a device.

    A reset sets the conditions' start. The damage input clears the cells of their damage, by
    default the middle of the grid. The check simulates the netlist for the conditions' steps.

    Raises what `simulate` raises, ConfigError for an unknown device or a missing tool, ToolError
    if a tool fails or takes too long, and CircuitError if a check fails.
    """
    fpga = DEVICES[options.device]
    check = options.check
    pins = options.pins
    report = options.report
    require_tools("yosys", f"nextpnr-{fpga.family}")
    constraints = None if pins is None else read_named(Path(pins), MOST_PINS_BYTES, "a pin file")
    logs = None if report is None else _new_directory(Path(report))
    loaded = load(source)
    conditions = conditions.begun(loaded.automaton)
    automaton = conditions.automaton(loaded)
    # A netlist draws other cells to fire than `simulate`: there is nothing to compare.
    compares = check and automaton.fire_rate == 1
    if compares and not shutil.which("iverilog"):
        raise ConfigError(
            "--check simulates the netlist with Icarus Verilog, which is missing: install "
            "iverilog, or leave --check out"
        )
    _require_fit(conditions, automaton)

    def state(steps: int) -> Bits:
        """Return all channels after `steps` steps of `simulate`."""
        damage = [
            replace(each, steps=earlier)
            for each in conditions.damage
            if (earlier := tuple(step for step in each.steps if step <= steps))
        ]
        at = replace(conditions, steps=steps, damage=damage)
        with working(say=ignore, tell=ignore):
            return simulate(loaded, at, engine="interpreter").grid.bits()

    compared: tuple[int, ...] = ()
    with (
        TemporaryDirectory(prefix="dct-synth-") as directory,
        undoing(partial(shutil.rmtree, directory)),
    ):
        folder = Path(directory)
        flow = Flow(automaton, fpga, folder, Deadline.after(options.timeout))
        if constraints is not None:
            (folder / PINS).write_bytes(constraints)
        try:
            damaged = _damaged_cells(conditions, automaton)
            found = flow.synthesize(state(0), damaged, conditions.seed)
            if check and found.fits:
                if not flow.prove_cells():
                    raise CircuitError("the mapped cells are not proved equal to the circuit")
                if compares:
                    compared = _compare(flow, conditions, state)
        finally:
            if logs is not None:
                for pattern in LOGS:
                    for file in folder.glob(pattern):
                        shutil.copy(file, logs)
    return Synthesized(found, compared)


def _require_fit(conditions: Conditions, automaton: Automaton) -> None:
    """Raise ConfigError if no device holds the grid, or a netlist cannot do what is asked."""
    circuit = automaton.circuit
    height = automaton.height
    width = automaton.width
    if circuit.channels * height * width > MOST_FLIP_FLOPS:
        raise ConfigError(
            f"{height}×{width} cells with {counted(circuit.channels, 'channel')} need more "
            f"than {MOST_FLIP_FLOPS} flip-flops, more than any device has: choose a smaller --size"
        )
    if conditions.noise:
        raise ConfigError("a netlist flips no bits at random: leave --noise out")
    if len(conditions.damage) > 1:
        raise ConfigError("the damage input clears one rectangle: give --damage once")
    geometry = Geometry(circuit.channels, height, width, automaton.boundary)
    for each in conditions.damage:
        each.place(geometry, automaton.steps)


def _new_directory(path: Path) -> Path:
    try:
        path.mkdir()
    except OSError as error:
        raise refused(path, "created", error) from None
    return path


def _damaged_cells(conditions: Conditions, automaton: Automaton) -> Bits:
    """Return the cells (H, W) that the damage input clears."""
    height = automaton.height
    width = automaton.width
    middle = Rectangle((), height // 4, width // 4, (height + 1) // 2, (width + 1) // 2)
    area = conditions.damage[0] if conditions.damage else middle
    cells = np.zeros((height, width), np.uint8)
    cells[area.y : area.y + area.height, area.x : area.x + area.width] = 1
    return cells


def _compare(flow: Flow, conditions: Conditions, state: Callable[[int], Bits]) -> tuple[int, ...]:
    """Compare the simulated netlist with `simulate`; return the steps that were compared."""
    automaton = flow.automaton
    hurt = [step for each in conditions.damage for step in each.steps]
    spread = np.unique(np.geomspace(1, max(automaton.steps, 1), PICTURES).astype(int)).tolist()
    moments = sorted({step for step in (*spread, *hurt) if step <= automaton.steps})
    for step, picture in zip(moments, flow.read_out(moments, hurt), strict=True):
        if not np.array_equal(picture, state(step)[list(automaton.visible_rows)]):
            raise CircuitError(f"the simulated netlist differs from dct simulate at step {step}")
    return tuple(moments)
