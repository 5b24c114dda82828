"""BLIF, read by a few lines of our own: no tool needs to be there.

What is read is compared with the circuit's plain interpreter on all inputs, or on many.
"""

import re

import numpy as np
from hypothesis import given, settings

from difflogic.formats.interface import used_interface
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


@settings(max_examples=3)
@given(automata=examples.automata())
def test_files_compute_their_circuits(automata):
    for automaton in [*examples.wicked(), examples.life(), *automata]:
        circuit = automaton.circuit
        names = [circuit.input_name(row) for row in range(circuit.inputs)]
        bits = examples.cases(automaton, 2000)
        interface = used_interface(circuit)
        inputs, outputs, found = read_blif(automaton, bits[[*map(names.index, interface.inputs)]])
        assert inputs == [*interface.inputs]
        assert outputs == [f"next{label}" for label in interface.outputs]
        np.testing.assert_array_equal(found, circuit.next_state(bits), automaton.name)
