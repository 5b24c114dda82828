"""BLIF and AIGER, read by abc and Yosys, and by a reader of AIGER from its definition."""

from __future__ import annotations

import re

import pytest

from difflogic.formats.interface import Interface, common_interface
from difflogic.formats.write_aiger import write_aiger
from difflogic.formats.write_blif import write_blif
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.errors import CircuitError
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import ABC, call, needs

WRITERS = {".blif": write_blif, ".aig": write_aiger}


def write(path, automaton, interface=None):
    text = WRITERS[path.suffix](automaton, interface)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def verdicts(pairs, suffix, folder):
    """Whether abc's `cec` finds pairs of automata equal, each given with an interface."""
    commands = []
    for number, (one, other, interface) in enumerate(pairs):
        for side, automaton in enumerate((one, other)):
            write(folder / f"{number}-{side}{suffix}", automaton, interface)
        commands.append(f"cec {number}-0{suffix} {number}-1{suffix}")
    log = call(ABC, "-c", "; ".join(commands), cwd=folder)
    found = re.findall(r"Networks are (equivalent|NOT EQUIVALENT)", log)
    assert len(found) == len(pairs), log
    return [verdict == "equivalent" for verdict in found]


def against_simplified(automaton):
    """An automaton's simplification, the automaton, and their common interface."""
    small = simplify(automaton, EFFORTS["low"]).automaton
    return small, automaton, common_interface(automaton.circuit, small.circuit.labels)


@pytest.mark.exhaustive
@needs(ABC)
@pytest.mark.parametrize("suffix", WRITERS)
def test_abc_tells_broken_circuits_apart(suffix, tmp_path):
    """Of all circuits with one changed op, abc finds exactly the equal ones equal."""
    small, whole, interface = against_simplified(examples.life())
    bits = examples.cases(whole, 512)
    expected = whole.circuit.next_state(bits)
    mutants = list(examples.mutants(small))
    equal = [bool((one.circuit.next_state(bits) == expected).all()) for one in mutants]
    assert equal.count(False) > 20
    assert verdicts([(one, whole, interface) for one in mutants], suffix, tmp_path) == equal


def test_interfaces_that_do_not_fit_are_refused():
    life = examples.life()
    with pytest.raises(CircuitError, match="reads NW0, which are not inputs"):
        write_blif(life, Interface(("N0", "NE0", "W0", "C0", "E0", "SW0", "S0", "SE0"), (0,)))
    with pytest.raises(CircuitError, match=r"no channels \[7\]"):
        write_aiger(life, Interface(("N0",), (7,)))
