"""One function that evaluates a circuit, over any algebra: what values are, and what gates make.

Over bits it runs the circuit, 64 cells to a word or a whole grid to an integer; over reals it is
the soft circuit; over text it prints, and over the literals of a graph or a solver it builds. It
is written to be read: every compiled kernel is compared with it, and all that need not be fast
uses it.

Source: mockturtle's `simulate<T>` (Soeken et al. 2018, "The EPFL logic synthesis libraries").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy.typing as npt

from difflogic.system.deadline import GATES_AT_ONCE

Value = TypeVar("Value")


class Graph(Protocol):
    """Gates in an order in which each reads rows before its own."""

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """The kind of each gate, and the two rows that it reads; rows that are given come first.

        One row beyond the last stands for what a gate ignores.
        """


class Gates(NamedTuple):
    """A graph that is no more than its gates."""

    kinds: list[int]
    a: list[int]
    b: list[int]

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        return self.kinds, self.a, self.b


class Algebra(Protocol[Value]):
    """What the values of rows are: what a gate of some kind makes of two of them."""

    def gate(self, kind: int, x: Value, y: Value, /) -> Value: ...


def evaluate(
    graph: Graph,
    inputs: Iterable[Value],
    algebra: Algebra[Value],
    rows: Iterable[int] | None = None,
    pause: Callable[[], object] = lambda: None,
    spent: Mapping[int, Sequence[int]] | None = None,
) -> list[Value]:
    """Return the value of each row: those that are given, `inputs`, then each gate's.

    `rows` may name those that are wanted, ascending and with all that they read: other gates then
    have the value of the first input, which also stands for whatever a gate ignores. `pause` is
    called again and again. To save memory `spent` may name, for some rows, those that nothing
    reads any more once they are known: these get the first input's value as well.
    """
    values, (kinds, a, b) = list(inputs), graph.lists
    anything, first, size = values[0], len(values), len(values) + len(kinds)
    values += [anything] * (size - first + 1)
    for count, row in enumerate(range(first, size) if rows is None else rows, 1):
        if not count % GATES_AT_ONCE:
            pause()
        if row >= first:
            gate = row - first
            values[row] = algebra.gate(kinds[gate], values[a[gate]], values[b[gate]])
        if spent is not None:
            for other in spent.get(row, ()):
                values[other] = anything
    return values[:size]


class Logic(ABC, Generic[Value]):
    """An algebra in which all 16 ops are made of constants, inverters, ANDs and XORs."""

    @abstractmethod
    def constant(self, bit: int) -> Value: ...

    @abstractmethod
    def not_(self, x: Value) -> Value: ...

    @abstractmethod
    def and_(self, x: Value, y: Value) -> Value: ...

    @abstractmethod
    def xor_(self, x: Value, y: Value) -> Value: ...

    def or_(self, x: Value, y: Value) -> Value:
        return self.not_(self.and_(self.not_(x), self.not_(y)))

    def gate(self, kind: int, x: Value, y: Value) -> Value:
        """Return one of the 16 ops of two values; one that an op ignores may be anything."""
        return OPS[kind](self, x, y)


OPS: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda v, x, y: v.constant(0),
    lambda v, x, y: v.and_(x, y),
    lambda v, x, y: v.and_(x, v.not_(y)),
    lambda v, x, y: x,
    lambda v, x, y: v.and_(v.not_(x), y),
    lambda v, x, y: y,
    lambda v, x, y: v.xor_(x, y),
    lambda v, x, y: v.or_(x, y),
    lambda v, x, y: v.not_(v.or_(x, y)),
    lambda v, x, y: v.not_(v.xor_(x, y)),
    lambda v, x, y: v.not_(y),
    lambda v, x, y: v.or_(x, v.not_(y)),
    lambda v, x, y: v.not_(x),
    lambda v, x, y: v.or_(v.not_(x), y),
    lambda v, x, y: v.not_(v.and_(x, y)),
    lambda v, x, y: v.constant(1),
)
"""The 16 ops in the order of `gates.Op`, spelled out."""


class Bits(Logic[Any]):
    """Bits, many side by side: an integer, or an array of unsigned integers or of bool.

    `ones` is one such value with all its bits 1.
    """

    def __init__(self, ones: Any) -> None:
        self._constants = (ones ^ ones, ones)

    def constant(self, bit: int) -> Any:
        return self._constants[bit]

    def not_(self, x: Any) -> Any:
        return x ^ self._constants[1]

    def and_(self, x: Any, y: Any) -> Any:
        return x & y

    def xor_(self, x: Any, y: Any) -> Any:
        return x ^ y

    def or_(self, x: Any, y: Any) -> Any:
        return x | y


class Soft:
    """Real numbers: a gate makes c0 + c1·x + c2·y + c3·xy, as mixtures of ops do.

    `coefficients[kind]` are the four numbers of each kind of gate: of the parameters of a netlist,
    or of the 16 ops (`gates.COEFFICIENTS`).
    """

    def __init__(self, coefficients: npt.NDArray[Any]) -> None:
        self._coefficients = coefficients

    def gate(self, kind: int, x: Any, y: Any) -> Any:
        c0, c1, c2, c3 = self._coefficients[kind]
        return c0 + c1 * x + c2 * y + c3 * x * y


class Text(Logic[str]):
    """Expressions in C, Python and Verilog alike, with parentheses around what is inverted.

    `zero` and `one` are the language's constants. Only names and constants may be put in.
    """

    def __init__(self, zero: str = "0", one: str = "1") -> None:
        self._constants = (zero, one)

    def constant(self, bit: int) -> str:
        return self._constants[bit]

    def not_(self, x: str) -> str:
        return f"~({x})" if " " in x else f"~{x}"

    def and_(self, x: str, y: str) -> str:
        return f"{x} & {y}"

    def xor_(self, x: str, y: str) -> str:
        return f"{x} ^ {y}"

    def or_(self, x: str, y: str) -> str:
        return f"{x} | {y}"
