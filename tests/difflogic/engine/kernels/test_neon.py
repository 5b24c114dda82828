"""The kernels' code for AArch64: compiled here and inspected, not run."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numba
import pytest
from numba import types

from difflogic.system.jit import JIT

if not JIT:
    pytest.skip("nothing is compiled", allow_module_level=True)

from difflogic.engine.kernels.llvm import rows, vectors
from difflogic.system.jit.processor import AVX512, NEON

TRIPLE = "aarch64-unknown-linux-gnu"
LANES = 32
"""Fewest lanes of a tile on NEON: 16 would be only four vectors."""

PRIMITIVES = {
    "stars_forward": 3,
    "runs_forward": 3,
    "gates_forward": 3,
    "gates_backward": 5,
    "runs_backward": 5,
    "stars_backward": 6,
}
"""The vector kernels, and the number of arrays that each takes."""

LABEL = re.compile(r"^(\.?LBB\d+_\d+):")
BRANCH = re.compile(r"^\s+(?:b|b\.\w+|cbn?z|tbn?z)\s.*?(\.?LBB\d+_\d+)")
SPILL = re.compile(r"^\s+(?:str|stp|stur|ldr|ldp|ldur)\s+q\d+.*\[(?:sp|x29)")
VECTOR = re.compile(r"^\s+fml[as]\s+v\d+\.4s")


@pytest.fixture(scope="module")
def machine():
    """An AArch64 target machine of this llvmlite."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(TRIPLE)
    except RuntimeError as error:
        pytest.skip(f"this llvmlite has no aarch64 target: {error}")
    return target.create_target_machine(cpu="generic", features="+neon", opt=3)


def assembly(machine, name, registers, monkeypatch):
    """Compile a primitive for vectors that fill such registers; return its assembly."""
    monkeypatch.setattr(rows, "registers", lambda: registers)
    names = ", ".join("abcdef"[: PRIMITIVES[name]])
    made = {"primitive": getattr(vectors, name)}
    exec(f"def kernel({names}):\n    primitive(({names}), {LANES})", made)
    kernel = numba.njit(nogil=True, error_model="numpy", _nrt=False)(made["kernel"])
    numbers, codes = types.Array(types.float32, 1, "C"), types.Array(types.int32, 2, "C")
    kernel.compile((numbers, codes, *[numbers] * (PRIMITIVES[name] - 2)))
    (text,) = kernel.inspect_llvm().values()
    text = re.sub("target triple = .*", f'target triple = "{TRIPLE}"', text)
    text = re.sub("target datalayout = .*", f'target datalayout = "{machine.target_data}"', text)
    return machine.emit_assembly(llvm.parse_assembly(text)).splitlines()


def inner_loops(lines):
    """Return the lines of each innermost loop, from its label to the branch back."""
    labels: dict[str, int] = {}
    loops = []
    for number, line in enumerate(lines):
        if found := LABEL.match(line):
            labels[found[1]] = number
        elif (found := BRANCH.match(line)) and found[1] in labels:
            loops.append((labels[found[1]], number))
    inner = [
        (first, last)
        for first, last in loops
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in loops)
    ]
    return [lines[first : last + 1] for first, last in inner]


def spills(lines):
    """Return the lines of inner arithmetic loops that access spilled vectors, and these loops."""
    loops = [loop for loop in inner_loops(lines) if any(map(VECTOR.match, loop))]
    return [line for loop in loops for line in loop if SPILL.match(line)], loops


FEW = {"gates_backward": 9, "runs_backward": 3, "stars_backward": 22}
"""Most stores and loads of spilled vectors in inner loops, beside 40, 48 and 432 multiply-adds: a
chain holds values and gradients of all its lanes, and a star has 28 coefficients. Other kernels
spill none."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRIMITIVES)
def test_inner_loops_keep_their_vectors_in_registers(name, machine, monkeypatch):
    found, loops = spills(assembly(machine, name, NEON, monkeypatch))
    assert loops
    assert len(found) <= FEW.get(name, 0)


@pytest.mark.thorough
def test_vectors_of_four_registers_would_spill(machine, monkeypatch):
    found, loops = spills(assembly(machine, "stars_backward", AVX512, monkeypatch))
    assert loops
    assert len(found) > 2 * FEW["stars_backward"]
