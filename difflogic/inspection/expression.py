"""Logic expressions: built short, printed with parentheses only where two ops meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What an expression is: a leaf, an inverted one, or a chain of one op."""

    CONSTANT = "constant"
    INPUT = "input"
    NAME = "name"
    OUTPUT = "output"
    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"


CHAINS = (Kind.AND, Kind.OR, Kind.XOR)
LEAVES = (Kind.INPUT, Kind.NAME, Kind.OUTPUT)

_NAME_LENGTH = 3
"""Characters that a name is taken to have before it is numbered."""


@dataclass(frozen=True)
class Expression:
    """A leaf has a `value`: a constant's bit, an input's row, a name's or an output's number."""

    kind: Kind
    length: int
    """Characters of its text."""
    value: int = 0
    terms: tuple[Expression, ...] = ()

    @property
    def is_chain(self) -> bool:
        return self.kind in CHAINS

    def leaves(self) -> Iterator[Expression]:
        """Yield the leaves from left to right, constants too."""
        if not self.terms:
            yield self
        for term in self.terms:
            yield from term.leaves()


def constant(bit: int) -> Expression:
    return Expression(Kind.CONSTANT, 1, bit)


def leaf(kind: Kind, value: int, length: int = _NAME_LENGTH) -> Expression:
    return Expression(kind, length, value)


def invert(expression: Expression) -> Expression:
    """Return ¬expression; two inversions cancel out."""
    if expression.kind is Kind.NOT:
        return expression.terms[0]
    if expression.kind is Kind.CONSTANT:
        return constant(1 - expression.value)
    parentheses = 2 if expression.is_chain else 0
    return Expression(Kind.NOT, 1 + parentheses + expression.length, 0, (expression,))


def chain(kind: Kind, terms: Sequence[Expression]) -> Expression:
    """Return the terms joined by one op: inputs first, then names, then what has parentheses."""
    if len(terms) == 1:
        return terms[0]
    ordered = tuple(sorted(terms, key=_place))
    length = sum(term.length + (2 if term.is_chain else 0) for term in ordered)
    return Expression(kind, length + 3 * (len(ordered) - 1), 0, ordered)


def _place(term: Expression) -> tuple[int, int]:
    bare = term.terms[0] if term.kind is Kind.NOT else term
    if bare.is_chain:
        return len(LEAVES), min((x.value for x in bare.leaves() if x.kind is Kind.INPUT), default=0)
    return (LEAVES.index(bare.kind) if bare.kind in LEAVES else -1), bare.value


SIGNS = {Kind.AND: "∧", Kind.OR: "∨", Kind.XOR: "⊕"}
ASCII = str.maketrans({"¬": "~", "∧": "&", "∨": "|", "⊕": "^"})
"""Turns the signs into those of C and Python; as every mixture of ops has parentheses, the text
means the same there."""


def text(expression: Expression, name: Callable[[Expression], str]) -> str:
    """Return an expression as text; `name` gives the names of inputs, names and outputs."""
    if expression.kind is Kind.CONSTANT:
        return str(expression.value)
    if expression.kind in LEAVES:
        return name(expression)
    if expression.kind is Kind.NOT:
        return "¬" + _grouped(expression.terms[0], name)
    sign = f" {SIGNS[expression.kind]} "
    return sign.join(_grouped(term, name) for term in expression.terms)


def _grouped(term: Expression, name: Callable[[Expression], str]) -> str:
    inner = text(term, name)
    return f"({inner})" if term.is_chain else inner
