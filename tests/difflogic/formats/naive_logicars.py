"""logicars' own evaluation of its files, one neighbourhood at a time, and its own writer."""

from __future__ import annotations

import json

from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.config import load_config
from difflogic.model.model import Model


def execute_layers(layers, bits):
    for layer in layers:
        bits = [
            TRUTH_TABLES[gate["op"]][2 * bits[gate["wire_a"]] + bits[gate["wire_b"]]]
            for gate in layer["gates"]
        ]
    return bits


def execute(data, neighborhood):
    """The next state, C bits, from 9·C bits, cell by cell, as `HardCircuit::execute`."""
    channels = data["channels"]
    kernels = data["perception"]["kernels"]
    outputs = [
        [
            execute_layers(kernel["layers"], [neighborhood[n * channels + c] for n in range(9)])
            for c in range(channels)
        ]
        for kernel in kernels
    ]
    bits = [neighborhood[4 * channels + c] for c in range(channels)]
    for c in range(channels):
        for s in range(len(outputs[0][0])):
            for kernel in outputs:
                bits.append(kernel[c][s])
    return execute_layers(data["update"]["layers"], bits)


def from_model(model):
    """The file that logicars would write for one of our models."""
    architecture = model.layers.architecture
    ops = iter(model.ops.tolist())

    def layers(wirings):
        return [
            {
                "gates": [
                    {"op": next(ops), "wire_a": int(a), "wire_b": int(b)}
                    for a, b in zip(layer.a, layer.b, strict=True)
                ]
            }
            for layer in wirings
        ]

    kernels = [
        {"layers": layers(model.layers.kernel(kernel)), "input_size": 9}
        for kernel in range(architecture.kernels)
    ]
    update = {
        "layers": layers(model.layers.update),
        "input_size": architecture.update_inputs,
        "output_size": architecture.channels,
    }
    channels = architecture.channels
    return {
        "perception": {"kernels": kernels, "channels": channels},
        "update": update,
        "channels": channels,
    }


def text_of(channels=2):
    """The text of a small file of logicars, of a circuit with some channels."""
    gates = [4 * channels, 2 * channels, channels]
    overrides = [f"automaton.channels={channels}", "perception.kernels=2", "task.loss_channels=[0]"]
    config = load_config("checkerboard-small", [*overrides, f"update.gates={gates}"])
    return json.dumps(from_model(Model.create(config)))
