"""BLIF and AIGER, read by a few lines of our own: no tool needs to be there.

What is read is compared with the circuit's plain interpreter on all inputs, or on many.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.formats.interface import used_interface
from difflogic.formats.write_aiger import write_aiger
from difflogic.formats.write_blif import write_blif
from tests.difflogic.formats import examples


def read_blif(automaton, bits):
    """Run the tables of a model: a row of a table is one where a case has the inputs' values."""
    text = write_blif(automaton).replace("\\\n", " ")
    known = {}
    inputs = []
    outputs = []
    for head, *cases in (line.split("\n") for line in re.split(r"\n(?=\.)", text)):
        match head.split():
            case [".inputs", *inputs]:
                known = dict(zip(inputs, bits, strict=True))
            case [".outputs", *outputs]:
                pass
            case [".names", *names, out]:
                value = np.zeros(bits.shape[1:], bool)
                for case in filter(None, cases):
                    *given, one = case.split()
                    assert one == "1"
                    pairs = zip(names, *(given or [""]), strict=True)
                    value |= np.all([known[name] == (bit == "1") for name, bit in pairs], axis=0)
                known[out] = value
    return inputs, outputs, [known[name] for name in outputs]


def read_aiger(automaton, bits):
    """Run a binary file: each AND is two differences of literals, seven bits a byte."""
    data = write_aiger(automaton)
    head, _, rest = data.partition(b"\n")
    kind, largest, inputs, latches, outputs, gates = head.split()
    assert (kind, int(inputs), int(latches)) == (b"aig", len(bits), 0)
    assert int(largest) == int(inputs) + int(gates)
    lines, rest = rest.split(b"\n")[: int(outputs)], rest.split(b"\n", int(outputs))[-1]
    values = [np.zeros(bits.shape[1], bool), *bits]
    stream = iter(rest)

    def literal(number):
        return values[number >> 1] ^ bool(number & 1)

    def difference():
        found = place = 0
        while (byte := next(stream)) & 0x80:
            found, place = found | (byte & 0x7F) << place, place + 7
        return found | byte << place

    for number in range(2 * len(values), 2 * (int(largest) + 1), 2):
        x = number - difference()
        values.append(literal(x) & literal(x - difference()))
    table = bytes(stream).decode().splitlines()[: len(bits) + len(lines)]
    names = dict(line.split() for line in table)
    found = [
        [names[f"{way}{n}"] for n in range(many)]
        for way, many in zip("io", (len(bits), len(lines)), strict=True)
    ]
    return *found, [literal(int(line)) for line in lines]


@pytest.mark.parametrize("read", [read_blif, read_aiger])
@settings(max_examples=3)
@given(automata=examples.automata())
def test_files_compute_their_circuits(read, automata):
    for automaton in [*examples.wicked(), examples.life(), *automata]:
        circuit = automaton.circuit
        names = [circuit.input_name(row) for row in range(circuit.inputs)]
        bits = examples.cases(automaton, 2000)
        interface = used_interface(circuit)
        inputs, outputs, found = read(automaton, bits[[*map(names.index, interface.inputs)]])
        assert inputs == [*interface.inputs]
        assert outputs == [f"next{label}" for label in interface.outputs]
        np.testing.assert_array_equal(found, circuit.next_state(bits), automaton.name)
