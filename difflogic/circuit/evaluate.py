"""One function that evaluates a circuit over any algebra.

An algebra says what values are and what gates make of them. Over bits the circuit runs, 64 cells
to a word or a whole grid to an integer. Over real numbers it is the soft circuit, over text it is
printed, and over literals it becomes a graph or a solver's formula. This plain code is the
reference for every compiled kernel, and whatever need not be fast uses it.

Source: mockturtle's `simulate<T>` (Soeken et al. 2018, "The EPFL logic synthesis libraries").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from difflogic.system.array_types import Array
from difflogic.system.deadline import GATES_AT_ONCE

Value = TypeVar("Value")


class Graph(Protocol):
    """Gates in topological order: each reads earlier rows only."""

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """Each gate's kind and the two rows that it reads. Input rows come first.

        An ignored input is the row after the last.
        """


class Gates(NamedTuple):
    """A graph made of plain lists."""

    kinds: list[int]
    a: list[int]
    b: list[int]

    @property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        return self.kinds, self.a, self.b


class Algebra(Protocol[Value]):
    """What a gate of some kind makes of two values."""

    def gate(self, kind: int, x: Value, y: Value, /) -> Value: ...


def evaluate(
    graph: Graph,
    inputs: Iterable[Value],
    algebra: Algebra[Value],
    rows: Iterable[int] | None = None,
    check: Callable[[], object] = lambda: None,
    spent: Mapping[int, Sequence[int]] | None = None,
) -> list[Value]:
    """Return the value of each row: the `inputs`, then each gate's.

    `rows` limits the work to these rows, which must be ascending and include all that they read.
    Rows left out get the first input's value, which also stands for ignored inputs. `check` is
    called every GATES_AT_ONCE gates. `spent` saves memory: once row r has its value, the values of
    rows `spent[r]` are dropped.
    """
    values = list(inputs)
    (kinds, a, b) = graph.lists
    anything = values[0]
    first = len(values)
    size = len(values) + len(kinds)
    values += [anything] * (size - first + 1)
    for count, row in enumerate(range(first, size) if rows is None else rows, 1):
        if not count % GATES_AT_ONCE:
            check()
        if row >= first:
            gate = row - first
            values[row] = algebra.gate(kinds[gate], values[a[gate]], values[b[gate]])
        if spent is not None:
            for other in spent.get(row, ()):
                values[other] = anything
    return values[:size]


class Logic(ABC, Generic[Value]):
    """An algebra that makes all 16 ops of constants, inverters, ANDs and XORs."""

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
        """Return one of the 16 ops of two values. An ignored value may be anything."""
        value: Value = OP_FUNCTIONS[kind](self, x, y)
        return value


OP_FUNCTIONS: tuple[Callable[[Any, Any, Any], Any], ...] = (
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
"""The 16 ops in the order of `gates.Op`."""


class BitLogic(Logic[Any]):
    """Many bits at once: an integer, or an array of bool or unsigned integers.

    `ones` is such a value with all bits 1.
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
    """Real numbers: a gate is c0 + c1·x + c2·y + c3·xy, as mixtures of ops are.

    `coefficients[kind]` are these four numbers, for each parameter of a netlist or for each of the
    16 ops (`gates.COEFFICIENTS`).
    """

    def __init__(self, coefficients: Array) -> None:
        self._coefficients = coefficients

    def gate(self, kind: int, x: Any, y: Any) -> Any:
        c0, c1, c2, c3 = self._coefficients[kind]
        return c0 + c1 * x + c2 * y + c3 * x * y


class Text(Logic[str]):
    """Expressions that C, Python and Verilog share.

    `zero` and `one` are the language's constants. Operands must be names or constants.
    """

    def __init__(self, zero: str, one: str) -> None:
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
