"""Gates cut into parts for workers that share a tile."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.grid import Grid
from difflogic.engine.kernels import primitives
from difflogic.engine.kernels import structures as k
from difflogic.engine.soft.layout import make_layout, stride
from difflogic.engine.soft.program import live_runs
from difflogic.engine.soft.split import split_program
from difflogic.system.arrays import aligned
from difflogic.system.jit import JIT
from difflogic.system.jit.intrinsics import alone
from tests.difflogic.engine.comparison import COPIES, MOVING, SMALL, netlist_of, netlists
from tests.difflogic.engine.footprints import faults, footprint, stages
from tests.difflogic.engine.plain import plain_kernels


@pytest.mark.thorough
@pytest.mark.parametrize("examples", [200, pytest.param(5000, marks=pytest.mark.exhaustive)])
def test_no_part_writes_what_another_uses_and_every_row_is_written_once(examples):
    @settings(max_examples=examples)
    @given(netlists(), st.integers(1, 5))
    def check(netlist, parts):
        split = split_program(netlist, parts)
        live = live_runs(netlist)
        gates = {run.out + w for run in live for w in range(run.width)}
        values = {("values", row) for row in (*range(netlist.inputs), *gates)}
        forward, back = (written_once(split, stages(split, way)) for way in (False, True))
        assert forward == values | {("new", c) for c in range(netlist.channels)}
        assert back >= values | {("downstream", row) for row in range(netlist.inputs)}
        assert {row for array, row in back if array == "sums"} == {r.params[0] for r in live}

    check()


def written_once(split, way):
    """Check a step's stages; return the rows that they write, once but for tiles of gradients."""
    assert faults(split, way) == []
    duties = [duty for stage in way for part in stage for duty in part]
    times = Counter(row for duty in duties for row in footprint(split, [duty])[1])
    assert {row[0] for row, count in times.items() if count > 1} <= {"gradients"}
    return set(times)


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_tables_where_the_part_of_a_channel_passes_its_gradient_on_are_refused(parts):
    """As they were before, when another part could still use the row."""
    split = split_program(MOVING, parts)
    way = stages(split, True)
    for part in way[-1]:
        part[:] = [duty for duty in part if duty[k.DUTY_KIND] != k.PASS_ON]
    for part in way[0]:
        for kind, first, end in part[:]:
            if kind == k.RECEIVE:
                copied = [int(row) for row in split.outputs[first:end] if row < MOVING.inputs]
                part += [[k.PASS_ON, row, row + 1] for row in copied]
    assert "stage 0: one part writes ('gradients', 1), another one uses it" in faults(split, way)


def test_a_missing_meeting_is_noticed_wherever_it_is():
    """But for one: nobody pulls with the values of the last layer, so nobody need wait for them."""
    split = split_program(netlist_of(SMALL), 3)
    for back in (False, True):
        way = stages(split, back)
        assert faults(split, way) == []
        for at in range(len(way) - 1):
            joined = [one + other for one, other in zip(way[at], way[at + 1], strict=True)]
            kinds = {part[0][k.DUTY_KIND] for part in way[at + 1] if part}
            needed = not back or kinds != {k.PULL} or joined[0][0][0] == k.PULL
            assert bool(faults(split, [*way[:at], joined, *way[at + 2 :]])) == needed


@pytest.mark.once
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("architecture", "masked"),
    [(COPIES, False), (replace(SMALL, held=(0,), moving=((2, 3, 1),)), True)],
)
def test_duties_touch_no_more_than_their_footprints(architecture, masked):
    """Everything else is NaN before a duty, and stays as it is."""
    moves = ("seen", "added", "left")
    gates = ("runs_forward", "pulls_backward", "sums_backward")
    names = [*(f"rows_{name}" for name in moves), *gates]
    given = {name: getattr(primitives, name) for name in names}
    if JIT:
        given = {name: alone(made, name) for name, made in given.items()}
    training = plain_kernels({"primitives": given}).training
    netlist = netlist_of(architecture)
    grid = Grid(9, 11, "periodic")
    split = split_program(netlist, 2)
    layout = make_layout(grid)
    tile = training.tile_at(layout, 1)
    rng = np.random.default_rng(0)
    channels = netlist.channels
    shapes = dict.fromkeys(("state", "new", "loss"), (channels, stride(grid)))
    shapes |= dict.fromkeys(("upstream", "downstream"), (netlist.inputs, stride(grid)))
    shapes |= dict.fromkeys(("values", "gradients"), (netlist.rows, tile.lanes))
    shapes |= {"kept": (channels, tile.lanes), "sums": (netlist.parameters, 4)}
    mask = rng.integers(0, 2, layout.cells * masked).astype(np.uint8)
    coefficients = rng.random(4 * netlist.parameters).astype(np.float32)
    own = {name: slice(tile.place, tile.place + tile.count) for name in ("new", "downstream")}
    for back in (False, True):
        for duty in (duty for stage in stages(split, back) for part in stage for duty in part):
            reads, writes = footprint(split, [duty])
            arrays = {name: aligned(shape, np.float32) for name, shape in shapes.items()}
            for array in arrays.values():
                array[:] = np.nan
            for name, row in reads:
                arrays[name][row] = rng.random(shapes[name][1])
            before = {name: array.copy() for name, array in arrays.items()}
            tiles = (arrays[name].reshape(-1) for name in ("values", "gradients", "kept"))
            seat = k.Seat(0, split, k.Workspace(*tiles, None, None), None, 0)
            if back:
                step = k.StepBack(
                    coefficients,
                    arrays["state"],
                    mask,
                    False,
                    True,
                    *(arrays[name] for name in ("loss", "upstream", "downstream")),
                )
                inputs = np.arange(netlist.inputs)
                training.duty_back(duty, inputs, tile, step, arrays["sums"].reshape(-1), seat)
            else:
                step = k.StepForward(coefficients, arrays["state"], mask, arrays["new"])
                training.duty_forward(duty, tile, step, seat)
            for name, array in arrays.items():
                for row in range(len(array)):
                    same = np.array_equal(array[row], before[name][row], equal_nan=True)
                    assert same or (name, row) in writes
                    assert same or not np.isnan(array[row, own.get(name, slice(None))]).any()


def test_one_part_has_one_stage_of_gates_and_zero_parts_are_refused():
    netlist = netlist_of(SMALL)
    split = split_program(netlist, 1)
    assert (len(split.forward_bounds), len(split.backward_bounds)) == (3, 4)
    with pytest.raises(ValueError, match="one worker or more, not 0"):
        split_program(netlist, 0)
