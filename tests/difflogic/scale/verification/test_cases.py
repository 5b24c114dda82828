import numpy as np

from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.engine.kernels.structures import WORDS
from difflogic.engine.layout import Grid, make_layout, samples_per_group
from difflogic.engine.program import compile_program
from difflogic.scale.verification.cases import SMALL, Case, awkward_cases, hard_cases


def test_a_case_is_determined_by_its_seed():
    one, same = (Case("x", SMALL, Grid(3, 4, "zero"), 2, 3, 0.5, seed=1) for _ in range(2))
    other = Case("x", SMALL, Grid(3, 4, "zero"), 2, 3, 0.5, seed=2)
    for name in ("logits", "starts", "masks", "loss_gradients"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
        assert (getattr(one, name) != getattr(other, name)).any()
    assert (one.netlist.a != other.netlist.a).any()


def test_the_awkward_cases_cover_what_they_should():
    cases = awkward_cases()
    assert len({case.name for case in cases}) == len(cases)
    assert {case.grid.boundary for case in cases} == {"zero", "periodic"}
    assert any(case.grid.cells == 1 for case in cases)
    assert any(case.masks is not None for case in cases)
    assert any(case.netlist.channels == 1 for case in cases)
    assert any(case.architecture.distinct_wiring for case in cases)
    assert any(case.batch > samples_per_group(case.grid) > 1 for case in cases)
    layouts = [make_layout(case.grid, 64, None) for case in cases]
    assert any(sum(layout.tile_lanes) > layout.cells for layout in layouts)
    assert any(len(layout.chunk_start) > 2 for layout in layouts)
    # Every kind of instruction is there.
    codes = [compile_program(case.netlist).backward for case in cases]
    for kind in ("stars", "runs", "gates"):
        assert any(len(getattr(code, kind)) for code in codes)


def test_the_hard_cases_depend_on_every_neighbour():
    cases = hard_cases()
    assert {(case.grid.boundary, case.grid.width) for case in cases} == {
        (boundary, width) for boundary in ("zero", "periodic") for width in (9, 63, 64, 65)
    }
    assert all(case.batch * case.grid.cells > 64 * WORDS for case in cases)
    assert len({case.masks is None for case in cases}) == 2
    for case in cases:
        netlist, coefficients = case.netlist, gates.one_hot(case.mixing_ops)
        inputs = np.random.default_rng(0).integers(0, 2, (netlist.inputs, 500)).astype(float)

        def next_states(inputs, netlist=netlist, coefficients=coefficients):
            return oracle.row_values(netlist, coefficients, inputs)[netlist.outputs]

        dependent = np.zeros((9, netlist.channels), bool)
        for row in range(netlist.inputs):
            flipped = inputs.copy()
            flipped[row] = 1 - inputs[row]
            share = (next_states(flipped) != next_states(inputs)).mean(axis=1)
            dependent[row // netlist.channels] |= share > 0.02
        assert dependent.all(), case.name
