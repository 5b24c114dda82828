"""Decorators that compile kernels, with the same flags for all.

Numba normally optimises a function and makes machine code of it, and again in every function that
calls it. Here a *part* only becomes LLVM code, and each kernel is optimised once, together with
the parts that it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

from difflogic.system.jit.cache import keep_code, stamp
from difflogic.system.jit.numba_settings import numba

_FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
JIT = not getattr(numba.config, "DISABLE_JIT", False)
"""Whether kernels are compiled. With NUMBA_DISABLE_JIT=1 they run as plain Python."""


def kernel(function: Callable[..., Any]) -> Any:
    """Make a kernel: compiled at its first call, kept on disk, and run without the GIL.

    No fastmath: the vectors fuse multiply-adds themselves, and sums keep their order.
    """
    return make_kernel(function, stamp)


def borrowing_kernel(function: Callable[..., Any]) -> Any:
    """Make a kernel that allocates and returns no array, and therefore counts no references.

    Numba counts references by an atomic addition whenever an array is taken out of a tuple. In a
    kernel of many short loops, that took nine tenths of the time.
    """
    return make_kernel(function, stamp, _nrt=False)


def part(function: Callable[..., Any]) -> Any:
    """Make a part of kernels: only kernels call it, and it allocates and returns no array.

    It is compiled with each kernel that calls it, and not kept by itself. Calling it from Python
    raises TypeError.
    """
    return _make_part(function, _nrt=False)


def make_kernel(function: Callable[..., Any], stamp: Callable[[], str], **options: Any) -> Any:
    """Do what `kernel` does with another stamp, which is called when code is looked up."""
    made = numba.njit(pipeline_class=KernelPipeline, **_FLAGS, **options)(function)
    if JIT:
        keep_code(made, stamp)
        # Other kernels call the same function as a part.
        inner = _make_part(function, **options)
        made.get_call_template = inner.get_call_template
        made.get_overload = inner.get_overload
    return made


def _make_part(function: Callable[..., Any], **options: Any) -> Any:
    flags = {**_FLAGS, "no_cpython_wrapper": True, **options}
    made = numba.njit(pipeline_class=PartPipeline, **flags)(function)
    if JIT:
        made.add_overload = lambda compiled: _keep_for_kernels(made, compiled)
        _take_few_types(made)
    return made


def _keep_for_kernels(dispatcher: Any, compiled: Any) -> None:
    """Do what numba's `add_overload` does, without machine code that Python could run."""
    dispatcher.overloads[tuple(compiled.signature.args)] = compiled


def _take_few_types(dispatcher: Any) -> None:
    """Make a dispatcher compile once for all signed integers.

    Numba would compile for each integer type of a caller, and for each literal number in a call.
    """
    ask = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return ask(tuple(map(_widen, args)), {name: _widen(arg) for name, arg in kws.items()})

    dispatcher.get_call_template = get_call_template


def _widen(kind: Any) -> Any:
    kind = numba.types.unliteral(kind)
    narrow = isinstance(kind, numba.types.Integer) and kind.signed
    return numba.int64 if narrow else kind


class _KernelLibrary(JITCodeLibrary):
    """Code that is optimised once, after all parts are linked."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class _PartLibrary(_KernelLibrary):
    """Code that is only linked into kernels: neither optimised nor run."""

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
        # Callers find the code by this key. Numba's own key, the function for Python, is missing.
        made = state["cr"]._replace(cfunc=object())
        state.targetctx.insert_user_function(made.cfunc, made.fndesc, [state.library])
        state["cr"] = made
        return True


class KernelPipeline(CompilerBase):
    """Numba's compiler passes for a kernel."""

    lowering: type[NativeLowering] = _LowerKernel

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline, for numba."""
        made = PassManager("kernel")
        for step, what in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            made.add_pass(self.lowering if step is NativeLowering else step, what)
        made.finalize()
        return [made]


class PartPipeline(KernelPipeline):
    """Numba's compiler passes for a part."""

    lowering = _LowerPart
