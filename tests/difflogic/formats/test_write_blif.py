"""BLIF and AIGER, read by abc and Yosys, and by a reader of AIGER from its definition."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from difflogic.formats.interface import Interface, common_interface
from difflogic.formats.write_aiger import write_aiger
from difflogic.formats.write_blif import write_blif
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.errors import CircuitError
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import ABC, call, needs

WRITERS = {".blif": write_blif, ".aig": write_aiger}


@pytest.mark.thorough
@needs(ABC)
@pytest.mark.parametrize("suffix", WRITERS)
def test_abc_tells_a_broken_circuit_from_a_smaller_one(suffix, tmp_path):
    whole = examples.life()
    small = simplify(whole, EFFORTS["low"]).automaton
    interface = common_interface(whole.circuit, small.circuit.labels)
    ops = small.circuit.op.copy()
    ops[-1] ^= 15
    broken = small.with_circuit(replace(small.circuit, op=ops))
    for number, automaton in enumerate((whole, small, broken)):
        text = WRITERS[suffix](automaton, interface)
        path = tmp_path / f"{number}{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    log = call(ABC, "-c", f"cec 0{suffix} 1{suffix}; cec 0{suffix} 2{suffix}", cwd=tmp_path)
    found = re.findall(r"Networks are (equivalent|NOT EQUIVALENT)", log)
    assert found == ["equivalent", "NOT EQUIVALENT"]


def test_interfaces_that_do_not_fit_are_refused():
    life = examples.life()
    with pytest.raises(CircuitError, match="reads NW0, which are not inputs"):
        write_blif(life, Interface(("N0", "NE0", "W0", "C0", "E0", "SW0", "S0", "SE0"), (0,)))
    with pytest.raises(CircuitError, match=r"no channels \[7\]"):
        write_aiger(life, Interface(("N0",), (7,)))
