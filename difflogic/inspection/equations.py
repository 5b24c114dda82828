"""Writes a circuit as readable equations, one for each channel's next state.

Gates that invert, copy or are constant merge into the expressions. Chains of one op are written
flat, with inversions where the text is shortest (De Morgan's laws) and parentheses only where two
ops meet. An expression that is used twice, or makes a line too long, gets a name: t1, t2, ….
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from difflogic.circuit import xag as graph
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.live_part import fold
from difflogic.circuit.xag import FALSE, Xag, from_circuit
from difflogic.system.errors import CircuitError

EXPRESSION_LENGTH = 64
"""Target length of an expression, in characters. Parts get names to reach it."""

MOST_TERMS = 16
"""Most terms of a flat chain; a name cuts a longer one."""

MOST_ROWS = 2**16
"""Most inputs and gates of a circuit to inspect; its equations take some seconds."""


class ExpressionKind(Enum):
    """The kinds of expressions: leaves, NOT, and chains of one op."""

    CONSTANT = "constant"
    INPUT = "input"
    NAME = "name"
    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"


CHAINS = (ExpressionKind.AND, ExpressionKind.OR, ExpressionKind.XOR)
LEAVES = (ExpressionKind.INPUT, ExpressionKind.NAME)

_NAME_LENGTH = 3
"""Assumed length of a name before it gets its number."""


@dataclass(frozen=True)
class Expression:
    """A logic expression. A leaf's `value` is its bit, its row, or its number."""

    kind: ExpressionKind
    length: int
    """Length of its text, in characters."""
    value: int = 0
    terms: tuple[Expression, ...] = ()

    @property
    def is_chain(self) -> bool:
        return self.kind in CHAINS

    def leaves(self) -> Iterator[Expression]:
        """Yield the leaves from left to right, including constants."""
        if not self.terms:
            yield self
        for term in self.terms:
            yield from term.leaves()


def constant(bit: int) -> Expression:
    return Expression(ExpressionKind.CONSTANT, 1, bit)


def leaf(kind: ExpressionKind, value: int, length: int = _NAME_LENGTH) -> Expression:
    return Expression(kind, length, value)


def invert(expression: Expression) -> Expression:
    """Return ¬expression; two inversions cancel out."""
    if expression.kind is ExpressionKind.NOT:
        return expression.terms[0]
    if expression.kind is ExpressionKind.CONSTANT:
        return constant(1 - expression.value)
    parentheses = 2 if expression.is_chain else 0
    return Expression(ExpressionKind.NOT, 1 + parentheses + expression.length, 0, (expression,))


def chain(kind: ExpressionKind, terms: Sequence[Expression]) -> Expression:
    """Join terms by one op: inputs first, then names, then terms in parentheses."""
    if len(terms) == 1:
        return terms[0]
    ordered = tuple(sorted(terms, key=_place))
    length = sum(term.length + (2 if term.is_chain else 0) for term in ordered)
    return Expression(kind, length + 3 * (len(ordered) - 1), 0, ordered)


def _place(term: Expression) -> tuple[int, int]:
    bare = term.terms[0] if term.kind is ExpressionKind.NOT else term
    if bare.is_chain:
        return len(LEAVES), min(
            (x.value for x in bare.leaves() if x.kind is ExpressionKind.INPUT), default=0
        )
    return (LEAVES.index(bare.kind) if bare.kind in LEAVES else -1), bare.value


OP_SIGNS = {ExpressionKind.AND: " ∧ ", ExpressionKind.OR: " ∨ ", ExpressionKind.XOR: " ⊕ "}


@dataclass(frozen=True)
class Equation:
    """`target` = `expression`."""

    target: str
    channel: int | None
    """Label of the channel whose next state this is; None if the target is a name."""
    expression: Expression


@dataclass(frozen=True)
class Equations:
    """Equations in order of evaluation: names come before their first use."""

    circuit: Circuit
    lines: tuple[Equation, ...]

    @property
    def texts(self) -> list[str]:
        """All equations as text, as in n0' = C0 ⊕ (NW0 ∧ ¬E0)."""
        return [f"{line.target} = {self._text(line.expression)}" for line in self.lines]

    def _text(self, expression: Expression) -> str:
        match expression.kind:
            case ExpressionKind.CONSTANT:
                return str(expression.value)
            case ExpressionKind.INPUT:
                return self.circuit.input_name(expression.value)
            case ExpressionKind.NAME:
                return f"t{expression.value}"
            case ExpressionKind.NOT:
                return "¬" + self._grouped(expression.terms[0])
            case kind:
                return OP_SIGNS[kind].join(map(self._grouped, expression.terms))

    def _grouped(self, term: Expression) -> str:
        text = self._text(term)
        return f"({text})" if term.is_chain else text


def equations(circuit: Circuit) -> Equations:
    """Return the equations of all channels.

    Neighbours are named NW N NE W C E SW S SE, each followed by a channel's label. n0' is the next
    state of channel 0. Raises CircuitError if the circuit has more than MOST_ROWS inputs and gates
    that matter.
    """
    if circuit.rows > MOST_ROWS:
        circuit = fold(circuit)
        needed = int(circuit.needed(range(circuit.channels)).sum())
        if needed > MOST_ROWS:
            raise CircuitError(
                f"the circuit has {needed} inputs and gates that matter, more than {MOST_ROWS}: "
                "simplify it first"
            )
    xag, outputs = from_circuit(circuit)
    reader = _Reader(circuit, xag, outputs)
    lines: list[Equation] = []
    numbers: dict[int, int] = {}
    for literal, label in zip(outputs, circuit.labels, strict=True):
        expression = reader.form(literal)
        for named in reader.needed_names(expression, numbers):
            numbers[named] = len(numbers) + 1
            definition = _numbered(reader.definitions[named], numbers)
            lines.append(Equation(f"t{numbers[named]}", None, definition))
        lines.append(Equation(f"n{label}'", label, _numbered(expression, numbers)))
    return Equations(circuit, tuple(lines))


def _numbered(expression: Expression, numbers: dict[int, int]) -> Expression:
    """Replace the nodes of an expression's names by their numbers."""
    if expression.kind is ExpressionKind.NAME:
        return replace(expression, value=numbers[expression.value])
    terms = [_numbered(term, numbers) for term in expression.terms]
    if expression.is_chain:
        return chain(expression.kind, terms)  # sorted by number
    return replace(expression, terms=tuple(terms))


class _Reader:
    """Turns the nodes of a Xag into expressions, inputs first."""

    def __init__(self, circuit: Circuit, xag: Xag, outputs: Sequence[int]) -> None:
        self.xag = xag
        self.definitions: dict[int, Expression] = {}
        # The expression of each node, and of its inverse.
        self._forms: dict[int, tuple[Expression, Expression]] = {0: (constant(0), constant(1))}
        # The literals that each unnamed gate's chain joins.
        self._operands: dict[int, tuple[int, ...]] = {}
        for row in range(xag.inputs):
            self._set(1 + row, leaf(ExpressionKind.INPUT, row, len(circuit.input_name(row))))
        needed, self._uses = self._count(outputs)
        for node in needed:
            self._read(node)

    def _count(self, outputs: Sequence[int]) -> tuple[list[int], Counter[int]]:
        """Return the gates that are needed, ascending, and how often each literal is read."""
        xag = self.xag
        needed = [node for node in xag.cone(outputs) if node >= xag.first_gate]
        gates = [node - xag.first_gate for node in needed]
        uses = Counter(operand for gate in gates for operand in (xag.x[gate], xag.y[gate]))
        uses.update(outputs)
        return needed, uses

    def form(self, literal: int) -> Expression:
        """Return the expression of a literal, or its name."""
        return self._forms[literal >> 1][literal & 1]

    def needed_names(self, expression: Expression, known: dict[int, int]) -> list[int]:
        """Return the nodes, ascending, of all names in an expression that are not yet known."""
        found: set[int] = set()
        waiting = [expression]
        while waiting:
            for part in waiting.pop().leaves():
                if (
                    part.kind is ExpressionKind.NAME
                    and part.value not in known
                    and part.value not in found
                ):
                    found.add(part.value)
                    waiting.append(self.definitions[part.value])
        return sorted(found)

    def _set(self, node: int, expression: Expression) -> None:
        self._forms[node] = expression, invert(expression)

    def _read(self, node: int) -> None:
        """Find the shortest expressions of a gate; its inputs have theirs."""
        gate = node - self.xag.first_gate
        kind = self.xag.kind[gate]
        operands = self._flatten(kind, (self.xag.x[gate], self.xag.y[gate]))
        forms = self._both(kind, operands)
        while forms[0].length > EXPRESSION_LENGTH:
            chains = [x for x in operands if self._bare(x).is_chain]
            if not chains:
                break
            self._name(max(chains, key=lambda x: self.form(x).length) >> 1)
            forms = self._both(kind, operands)
        self._forms[node] = forms
        self._operands[node] = operands
        if self._uses[2 * node] + self._uses[2 * node + 1] > 1:
            self._name(node)

    def _bare(self, literal: int) -> Expression:
        expression = self.form(literal)
        return expression.terms[0] if expression.kind is ExpressionKind.NOT else expression

    def _name(self, node: int) -> None:
        """Name a gate or its inverse, whichever makes the text shorter."""
        positive, negative = self._forms[node]
        del self._operands[node]
        if not self._bare(2 * node).is_chain:
            return  # a leaf already
        plain_cost = positive.length + self._uses[2 * node + 1]
        inverted = negative.length + self._uses[2 * node] < plain_cost
        self.definitions[node] = negative if inverted else positive
        self._set(node, leaf(ExpressionKind.NAME, node))
        if inverted:
            self._forms[node] = self._forms[node][::-1]

    def _flatten(self, kind: graph.XagGate, literals: Sequence[int]) -> tuple[int, ...]:
        """Return the literals of a chain, including those of inner chains of the same op."""
        flat: dict[int, None] = {}
        for literal in literals:
            node = literal >> 1
            inner = self._operands.get(node)
            same = inner is not None and self.xag.kind[node - self.xag.first_gate] is kind
            if inner is None or not same or literal & 1:
                parts: tuple[int, ...] = (literal,)
            elif len(flat) + len(inner) > MOST_TERMS:
                self._name(node)
                parts = (literal,)
            else:
                parts = inner
            for part in parts:
                # Equal operands of a XOR cancel; an AND keeps one of them.
                if kind is graph.XagGate.XOR and part in flat:
                    del flat[part]
                else:
                    flat[part] = None
        if kind is graph.XagGate.AND and any(literal ^ 1 in flat for literal in flat):
            return (FALSE,)
        return tuple(flat)

    def _both(self, kind: graph.XagGate, operands: Sequence[int]) -> tuple[Expression, Expression]:
        """Return the shortest expressions of a chain and its inverse."""
        if not operands:
            return constant(0), constant(1)
        if kind is graph.XagGate.XOR:
            return self._xor(operands, 0), self._xor(operands, 1)
        every = chain(ExpressionKind.AND, [self.form(x) for x in operands])
        none = chain(ExpressionKind.OR, [self.form(x ^ 1) for x in operands])
        return min(every, invert(none), key=_cost), min(none, invert(every), key=_cost)

    def _xor(self, operands: Sequence[int], parity: int) -> Expression:
        """Return the XOR of the operands, inverted if `parity` is 1."""
        terms = []
        for literal in operands:
            plain = self.form(literal)
            inverse = self.form(literal ^ 1)
            if inverse.length < plain.length:
                plain, inverse, parity = inverse, plain, 1 - parity
            terms.append((plain, inverse))
        whole = chain(ExpressionKind.XOR, [plain for plain, _ in terms])
        if not parity:
            return whole
        cheapest = min(
            range(len(terms)), key=lambda i: (terms[i][1].length - terms[i][0].length, operands[i])
        )
        swapped = [pair[index == cheapest] for index, pair in enumerate(terms)]
        return min(chain(ExpressionKind.XOR, swapped), invert(whole), key=_cost)


def _cost(expression: Expression) -> int:
    return expression.length
