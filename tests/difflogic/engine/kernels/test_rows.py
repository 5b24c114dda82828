"""Rows as vectors: what is only seen where a kernel is made."""

import pytest
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target

from difflogic.engine.kernels.llvm import rows
from difflogic.engine.kernels.structures import MAX_LANES, SCRATCH_SUMS


@pytest.mark.parametrize("bits", [512, 1024])
def test_the_sums_of_a_stars_seven_gates_fit_their_scratch(monkeypatch, bits):
    monkeypatch.setattr(rows, "PARTS_BITS", bits)
    scratch = ir.FunctionType(ir.VoidType(), [ir.FloatType().as_pointer()])
    function = ir.Function(ir.Module(), scratch, "sums")
    builder = ir.IRBuilder(function.append_basic_block())
    v = rows.Emitter(cpu_target.target_context, builder, types.float32, MAX_LANES)
    if 28 * bits // 32 > SCRATCH_SUMS:
        with pytest.raises(AssertionError, match="SCRATCH_SUMS has less room"):
            v.sums_in(function.args[0], 6)
    else:
        assert len(v.sums_in(function.args[0], 6)) == bits // 32 // v.width
