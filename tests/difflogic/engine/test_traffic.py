"""The traffic of programs, compared with a count instruction by instruction."""

import pytest

from difflogic.engine.kernels import structures as k
from difflogic.engine.program import compile_program
from difflogic.engine.traffic import Traffic, training, values, walk_back
from tests.difflogic.engine.test_program import ARCHITECTURES, netlist_of


def moved(code):
    """Count loads and stores of each instruction, as the kernels are written."""
    found = {"forward": [0, 0], "back": [0, 0]}
    for gate in code.gates:
        flags = gate[k.FLAGS]
        found["forward"][0] += 1 if flags & k.LINKED else 2
        found["forward"][1] += 1
        loads = ["grad_out", "a"]
        loads += [] if flags & k.LINKED else ["b"]
        loads += ["grad_b"] if flags & k.ADD_B else []
        stores = ["grad_b"]
        if not flags & k.LINK:
            loads += ["grad_a"] if flags & k.ADD_A else []
            stores += ["grad_a"]
        found["back"][0] += len(loads)
        found["back"][1] += len(stores)
    for run in code.runs:
        found["forward"][0] += 2 * run[k.WIDTH]
        found["forward"][1] += run[k.WIDTH]
        adds = bool(run[k.FLAGS] & k.ADD_A) + bool(run[k.FLAGS] & k.ADD_B)
        found["back"][0] += (3 + adds) * run[k.WIDTH]
        found["back"][1] += 2 * run[k.WIDTH]
    for star in code.stars:
        found["forward"][0] += 5 * star[k.STAR_WIDTH]
        found["forward"][1] += star[k.STAR_WIDTH]
        adds = sum(bool(star[k.STAR_ADDS] & 1 << read) for read in range(5))
        found["back"][0] += (5 + 1 + adds) * star[k.STAR_WIDTH]
        found["back"][1] += 5 * star[k.STAR_WIDTH]
    return {way: Traffic(*map(int, rows)) for way, rows in found.items()}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_traffic_is_what_the_instructions_move(name):
    program = compile_program(netlist_of(ARCHITECTURES[name]))
    backward = moved(program.backward)
    assert values(program.forward) == moved(program.forward)["forward"]
    assert values(program.backward) == backward["forward"]
    assert walk_back(program.backward) == backward["back"]
    total = training(program)
    assert total.rows == total.loads + total.stores
    # Each gate alone: 3 rows, twice, and at most 7 on the way back.
    assert 0 < total.rows <= 13 * program.gates
