"""Gates cut into parts for workers that share a tile."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.engine.kernels import structures as k
from difflogic.engine.program import live_runs
from difflogic.engine.split import split_program
from tests.difflogic.engine.comparison import SMALL, netlist_of, netlists

PARTS = st.integers(1, 5)


def pieces(bounds):
    """Stage, part and indices of each piece of work."""
    for stage, row in enumerate(bounds):
        for part in range(len(row) - 1):
            yield stage, part, range(row[part], row[part + 1])


@settings(max_examples=40)
@given(netlists(), PARTS)
def test_every_gate_is_evaluated_once_and_after_what_it_reads(netlist, parts):
    split = split_program(netlist, parts)
    when = {row: (-1, None) for row in range(netlist.inputs)}
    for stage, part, indices in pieces(split.gate_bounds):
        for index in indices:
            gate = split.gates[index]
            for row in (gate[k.A], gate[k.B]):
                for each in range(row, row + gate[k.WIDTH]):
                    at, by = when[each]
                    # Another part must have written it before the last meeting.
                    assert at < stage or by == part
            rows = range(gate[k.OUT], gate[k.OUT] + gate[k.WIDTH])
            assert not when.keys() & set(rows)
            when.update(dict.fromkeys(rows, (stage, part)))
    live = [row for run in live_runs(netlist) for row in range(run.out, run.out + run.width)]
    assert when.keys() == set(range(netlist.inputs)) | set(live)


@settings(max_examples=40)
@given(netlists(), PARTS)
def test_every_gradient_is_written_once_and_after_what_it_pulls(netlist, parts):
    split = split_program(netlist, parts)
    outputs = set(netlist.outputs.tolist())
    when = dict.fromkeys(outputs, (-1, None))
    for stage, part, indices in pieces(split.target_bounds):
        for index in indices:
            row, first, count, filled = split.targets[index]
            assert filled == (row in outputs)
            for pull in split.pulls[first : first + count]:
                at, by = when[pull[k.PULL_GRAD]]
                assert at < stage or by == part
            assert when.get(row, (-1, None)) == (-1, None)
            when[row] = stage, part
    last = {row for row, (stage, _) in when.items() if stage == len(split.target_bounds) - 1}
    assert last == set(range(netlist.inputs))


def test_one_part_has_one_stage_and_zero_parts_are_refused():
    netlist = netlist_of(SMALL)
    assert len(split_program(netlist, 1).gate_bounds) == 1
    assert len(split_program(netlist, 1).target_bounds) == 2
    with pytest.raises(ValueError, match="one worker or more, not 0"):
        split_program(netlist, 0)
