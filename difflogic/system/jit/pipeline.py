"""How kernels are compiled: each once, with all of its parts, at the end.

Numba optimises a function twice and makes machine code of it, and does so again in every function
that calls it. Here a part of kernels becomes no more than LLVM's code, which the kernels that call
it are optimised with. Numba's search for expressions of whole arrays is left out: kernels have
none.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites


class _KernelLibrary(JITCodeLibrary):
    """Code that is optimised when all of it is together."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class _PartLibrary(_KernelLibrary):
    """Code that is only linked with other code: neither optimised nor run."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


def _begin(state: Any, kind: type[JITCodeLibrary]) -> None:
    state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerKernel(NativeLowering):
    _name = "lower_kernel"

    def run_pass(self, state: Any) -> bool:
        _begin(state, _KernelLibrary)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:
        _begin(state, _PartLibrary)
        state.flags.no_compile = True
        super().run_pass(state)
        # Callers are to find it by something: others have the function that Python calls.
        made = state["cr"]._replace(cfunc=object())
        state.targetctx.insert_user_function(made.cfunc, made.fndesc, [state.library])
        state["cr"] = made
        return True


class KernelPipeline(CompilerBase):
    """Numba's steps from a function to machine code, as a kernel takes them."""

    lowering: type[NativeLowering] = _LowerKernel

    def define_pipelines(self) -> list[Any]:
        """Return the only one, which numba asks for."""
        made = PassManager("kernel")
        for step, what in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            if step is not NopythonRewrites:
                made.add_pass(self.lowering if step is NativeLowering else step, what)
        made.finalize()
        return [made]


class PartPipeline(KernelPipeline):
    """The same for a part of kernels."""

    lowering = _LowerPart
