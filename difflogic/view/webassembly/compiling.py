"""From a circuit to a WebAssembly module with vectors of 128 bits."""

from __future__ import annotations

import llvmlite.binding as llvm

from difflogic.circuit.circuit import Circuit
from difflogic.simulation.emission import emit
from difflogic.simulation.schedule import schedule
from difflogic.view.webassembly.modules import export

VECTOR_WORDS = 2
"""Words of 64 cells in a vector of WebAssembly."""

EXPORTS = ("run", "fill")

_TRIPLE = "wasm32-unknown-unknown"
_FEATURES = "+simd128"


def compile_module(circuit: Circuit) -> bytes:
    """Return a module that simulates a circuit; equal circuits give equal bytes.

    It imports a memory and a table, `env.__linear_memory` and `env.__indirect_function_table`. All
    addresses and numbers that it is given are of 64 bits, as in `simulation.fields`. The function
    at `Field.YIELD` is only called where several threads share the work.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(
        cpu="generic", features=_FEATURES, opt=3, reloc="static", codemodel="default"
    )
    module = emit(schedule(circuit), VECTOR_WORDS)
    module.triple = _TRIPLE
    module.data_layout = str(machine.target_data)
    checked = llvm.parse_assembly(str(module))
    checked.verify()
    return export(machine.emit_object(checked), EXPORTS)
