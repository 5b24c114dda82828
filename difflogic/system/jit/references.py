"""Named tuples that kernels receive as one pointer.

Numba passes them by value. An array is eight numbers, so a tuple of twenty arrays is some 160, and
the compiler copies them wherever the tuple is mentioned. Kernels took several times as long to
compile.
"""

from __future__ import annotations

from typing import Any, TypeVar

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

K = TypeVar("K", bound=type)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


class Reference(types.Type):
    """The type of a pointer to the fields of a named tuple."""

    def __init__(self, kind: Any, fields: tuple[Any, ...]) -> None:
        self.held = types.Tuple(fields)
        self.fields: dict[str, Any] = dict(zip(kind._fields, fields, strict=True))
        super().__init__(f"{kind.__name__}{self.held}")


def by_reference(kind: K) -> K:
    """Make kernels receive instances of this named tuple as pointers.

    Kernels cannot create or return such a tuple, nor return one of its arrays, since references to
    these are not counted.
    """

    @typeof_impl.register(kind)
    def type_of(value: Any, context: Any) -> Reference:
        return Reference(kind, tuple(typeof_impl(field, context) for field in value))

    return kind


@register_model(Reference)
class _Pointer(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Reference) -> None:
        held = [manager[field].get_value_type() for field in kind.fields.values()]
        super().__init__(manager, kind, ir.LiteralStructType(held).as_pointer())


@unbox(Reference)
def _unbox(kind: Reference, value: Any, c: Any) -> Any:
    """Put the fields on the stack of the wrapper that Python calls, which outlives the kernel."""
    found = c.unbox(kind.held, value)
    place = cgutils.alloca_once(c.builder, c.context.get_value_type(kind).pointee)
    for k, field in enumerate(cgutils.unpack_tuple(c.builder, found.value)):
        c.builder.store(field, c.builder.gep(place, [_I32(0), _I32(k)]))
    return NativeValue(place, is_error=found.is_error, cleanup=found.cleanup)


@infer_getattr
class _Fields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind: Reference, name: str) -> Any:  # type: ignore[override]
        return kind.fields.get(name)


@lower_getattr_generic(Reference)
def _field(context: Any, builder: Any, kind: Reference, value: Any, name: str) -> Any:
    found = kind.fields[name]
    place = list(kind.fields).index(name)

    def load(*path: int) -> Any:
        pointer = builder.gep(value, [_I32(0), _I32(place), *map(_I32, path)], inbounds=True)
        loaded = builder.load(pointer)
        # The fields themselves do not change during a call, only the arrays' elements.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(found, types.Array):
        return load()
    model = context.data_model_manager[found]
    held = model.get_value_type()
    places = {field: k for k, field in enumerate(model._fields)}
    parts = [ir.Constant(part, None) for part in held.elements]
    if found.layout != "C":
        # A kernel that counts references would give back one that it never took.
        array = load()
        for field in ("meminfo", "parent"):
            array = builder.insert_value(array, parts[places[field]], places[field])
        return array
    # Load only what cannot be computed from the rest. References are not counted.
    size = context.get_abi_sizeof(context.get_data_type(found.dtype))
    shape = [load(places["shape"], k) for k in range(found.ndim)]
    strides = [_I64(size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(length, strides[0]))
    items = shape[0] if found.ndim == 1 else load(places["nitems"])
    parts[places["itemsize"]] = _I64(size)
    array = ir.Constant(held, parts)
    array = builder.insert_value(array, items, places["nitems"])
    array = builder.insert_value(array, load(places["data"]), places["data"])
    for field, numbers in (("shape", shape), ("strides", strides)):
        for k, number in enumerate(numbers):
            array = builder.insert_value(array, number, [places[field], k])
    return array
