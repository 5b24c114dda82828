"""BLIF, read by abc and Yosys."""

import re
from dataclasses import replace

import pytest

from difflogic.formats.interface import common_interface
from difflogic.formats.write_blif import write_blif
from difflogic.simplification import EFFORTS, simplify
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import ABC, call
from tests.marks import needs


@pytest.mark.thorough
@needs(ABC)
def test_abc_tells_a_broken_circuit_from_a_smaller_one(tmp_path):
    whole = examples.life()
    small = simplify(whole, EFFORTS["low"]).automaton
    interface = common_interface(whole.circuit, small.circuit.labels)
    ops = small.circuit.op.copy()
    ops[-1] ^= 15
    broken = small.with_circuit(replace(small.circuit, op=ops))
    for number, automaton in enumerate((whole, small, broken)):
        (tmp_path / f"{number}.blif").write_text(write_blif(automaton, interface))
    log = call(ABC, "-c", "cec 0.blif 1.blif; cec 0.blif 2.blif", cwd=tmp_path)
    found = re.findall(r"Networks are (equivalent|NOT EQUIVALENT)", log)
    assert found == ["equivalent", "NOT EQUIVALENT"]
