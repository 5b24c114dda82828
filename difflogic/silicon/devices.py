"""The devices that a grid can be placed on, and how their tools are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """An FPGA, by the words of Yosys and nextpnr."""

    name: str
    family: str
    """nextpnr's program has it in its name, …"""
    synthesis: str
    """… and Yosys's command, here with options."""
    options: tuple[str, ...]
    """That tell nextpnr the device and its package."""
    constraints: str
    """nextpnr's option for a file that says where pins are; others may be anywhere."""
    configuration: str
    """Its option for the file that a bitstream is made of."""
    logic: str
    """What nextpnr calls the cells that LUTs take, …"""
    registers: str
    """… and those that flip-flops take: the same where a cell holds one of each."""
    models: str
    """The file of Yosys that says what its LUTs and flip-flops do."""
    luts: int
    """How many of them there are."""


DEVICES = {
    device.name: device
    for device in (
        Device(
            "ice40-hx8k",
            "ice40",
            # An enable for each cell that fires at random would be slow.
            "synth_ice40 -dffe_min_ce_use 16",
            ("--hx8k", "--package", "ct256"),
            "pcf",
            "asc",
            "ICESTORM_LC",
            "ICESTORM_LC",
            "cells_sim.v",
            7680,
        ),
        Device(
            "ecp5-85k",
            "ecp5",
            # Two LUTs of 4 inputs make one of 5, but cells need up to twice as many LUTs then.
            "synth_ecp5 -nowidelut",
            # With router1, a picture's routing did not end.
            ("--85k", "--package", "CABGA381", "--router", "router2"),
            "lpf",
            "textcfg",
            "TRELLIS_COMB",
            "TRELLIS_FF",
            "common_sim.vh",
            83640,
        ),
    )
}
