"""A shared circuit as lines to be read: one for each plane, and one for each next state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import READS, Op, bitwise
from difflogic.simplification.sharing.circuit import SharedCircuit


class _Text(str):
    """An expression, built by the operators of ops."""

    __slots__ = ()

    def __and__(self, other: str) -> _Text:
        return _Text(f"{self} ∧ {other}")

    def __or__(self, other: str) -> _Text:
        return _Text(f"{self} ∨ {other}")

    def __xor__(self, other: str) -> _Text:
        return _Text(f"{self} ⊕ {other}")

    def __invert__(self) -> _Text:
        return _Text(f"¬({self})" if " " in self else f"¬{self}")


def place(dy: int, dx: int) -> str:
    """Return the way to another cell, as in SE or NNW; C is none."""
    return ("S" * dy + "N" * -dy + "E" * dx + "W" * -dx) or "C"


def lines(circuit: SharedCircuit) -> Iterator[str]:
    """Yield what each plane is at a cell, as in p2 = p1 ∧ ¬p1[E], and then each next state.

    c0 is channel 0, and what stands in brackets says at which other cell a plane is read.
    """

    def seen(plane: int, offset: npt.NDArray[np.int32]) -> _Text:
        of_channel = plane < circuit.channels
        name = f"c{circuit.labels[plane]}" if of_channel else f"p{plane - circuit.channels + 1}"
        return _Text(f"{name}[{place(*offset.tolist())}]" if offset.any() else name)

    for gate in range(circuit.operations):
        op = Op(circuit.op[gate])
        if any(READS[op]):
            a = seen(int(circuit.a[gate]), circuit.a_offset[gate])
            b = seen(int(circuit.b[gate]), circuit.b_offset[gate])
            yield f"p{gate + 1} = {bitwise(op, a, b)}"
        else:
            yield f"p{gate + 1} = {1 if op is Op.TRUE else 0}"
    outputs = zip(circuit.labels, circuit.outputs.tolist(), circuit.output_offset, strict=True)
    for label, plane, offset in outputs:
        yield f"n{label}' = {seen(plane, offset)}"
