"""One cell's circuit as JSON for digitaljs, a viewer and simulator of circuits in browsers.

The file holds devices and the connectors between their ports; digitaljs lays them out itself. An
input that no gate and no output reads is left out. Labels: inputs by neighbour and channel, as in
NW0; outputs next0; gate g is g followed by its number.

Source: the README of tilk/digitaljs, "Input format" and "Device types". Button and Lamp are the
inputs and outputs of a circuit's top level.
"""

from __future__ import annotations

import json

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import Op
from difflogic.formats.common import used_rows
from difflogic.model.automaton import Automaton

_TYPES = {
    Op.AND: "And",
    Op.A_AND_NOT_B: "And",
    Op.NOT_A_AND_B: "And",
    Op.XOR: "Xor",
    Op.OR: "Or",
    Op.NOR: "Nor",
    Op.XNOR: "Xnor",
    Op.A_OR_NOT_B: "Or",
    Op.NOT_A_OR_B: "Or",
    Op.NAND: "Nand",
    Op.A: "Repeater",
    Op.B: "Repeater",
    Op.NOT_A: "Not",
    Op.NOT_B: "Not",
}
"""The device of each op, its inputs inverted as _INVERTED says."""

_INVERTED = {
    Op.A_AND_NOT_B: (False, True),
    Op.NOT_A_AND_B: (True, False),
    Op.A_OR_NOT_B: (False, True),
    Op.NOT_A_OR_B: (True, False),
}


def write_digitaljs(automaton: Automaton) -> str:
    """Return one cell's circuit as JSON, one device or connector a line."""
    drawing = _Drawing(automaton.circuit)
    devices = ",\n".join(
        f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in drawing.devices.items()
    )
    connectors = ",\n".join(f"    {json.dumps(wire)}" for wire in drawing.connectors)
    return (
        '{\n  "devices": {\n'
        + devices
        + '\n  },\n  "connectors": [\n'
        + connectors
        + '\n  ],\n  "subcircuits": {}\n}\n'
    )


class _Drawing:
    """Devices by their names, and connectors."""

    def __init__(self, circuit: LogicCircuit) -> None:
        self.circuit = circuit
        self.devices: dict[str, dict[str, str | int]] = {}
        self.connectors: list[dict[str, dict[str, str]]] = []
        for order, row in enumerate(used_rows(circuit)):
            self._add_port("Button", circuit.input_name(row), order)
        for gate in range(circuit.gates):
            self._add_gate(gate)
        for order, (label, row) in enumerate(zip(circuit.labels, circuit.outputs, strict=True)):
            name = f"next{label}"
            self._add_port("Lamp", name, order)
            self._connect(self._name(int(row)), name, "in")

    def _add_port(self, kind: str, name: str, order: int) -> None:
        self.devices[name] = {"type": kind, "label": name, "net": name, "order": order, "bits": 1}

    def _add_gate(self, gate: int) -> None:
        circuit = self.circuit
        op, name = Op(circuit.op[gate]), f"g{gate}"
        if op in (Op.FALSE, Op.TRUE):
            constant = "1" if op is Op.TRUE else "0"
            self.devices[name] = {"type": "Constant", "label": name, "constant": constant}
            return
        sources = [
            self._inverter(row) if inverted else self._name(row)
            for row, inverted in zip(
                circuit.reads(gate), _INVERTED.get(op, (False, False)), strict=False
            )
        ]
        self.devices[name] = {"type": _TYPES[op], "label": name, "bits": 1}
        ports = ("in",) if len(sources) == 1 else ("in1", "in2")
        for source, port in zip(sources, ports, strict=True):
            self._connect(source, name, port)

    def _inverter(self, row: int) -> str:
        """Return the device that inverts a row; all that read it so share it."""
        name = f"not-{self._name(row)}"
        if name not in self.devices:
            self.devices[name] = {"type": "Not", "label": name, "bits": 1}
            self._connect(self._name(row), name, "in")
        return name

    def _name(self, row: int) -> str:
        inputs = self.circuit.inputs
        return self.circuit.input_name(row) if row < inputs else f"g{row - inputs}"

    def _connect(self, source: str, target: str, port: str) -> None:
        wire = {"from": {"id": source, "port": "out"}, "to": {"id": target, "port": port}}
        self.connectors.append(wire)
