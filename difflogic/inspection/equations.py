"""A circuit as equations that can be read: one for each channel's next state.

Gates that invert, copy or are constant melt into the expressions. Chains of one op are written
flat, an inversion stands where the text is shortest (De Morgan's laws), and what is used more than
once, or would make a line too long, gets a name: t1, t2, ….
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.xag import FALSE, Kind, Xag, from_circuit
from difflogic.inspection.expression import Expression, chain, constant, invert, leaf, text
from difflogic.inspection.expression import Kind as Term
from difflogic.proof.convergence.folding import fold
from difflogic.system.errors import CircuitError

LONGEST = 64
"""Characters of an expression, as far as naming its parts can make it so short."""

MOST_TERMS = 16
"""Terms of one flat chain; a longer one is cut by a name."""

MOST_ROWS = 2**16
"""Inputs and gates of the largest circuit that is inspected: its equations take some seconds."""


@dataclass(frozen=True)
class Equation:
    """`target` = `expression`."""

    target: str
    channel: int | None
    """The label of the channel whose next state it is, or None if the target is a name."""
    expression: Expression


@dataclass(frozen=True)
class Equations:
    """Equations in an order in which they can be evaluated, names before their first use."""

    circuit: Circuit
    lines: tuple[Equation, ...]

    def text(self, equation: Equation) -> str:
        """Return one equation as text, as in n0' = C0 ⊕ (NW0 ∧ ¬E0)."""
        return f"{equation.target} = {text(equation.expression, self._name)}"

    @property
    def texts(self) -> list[str]:
        """All equations as text."""
        return [self.text(line) for line in self.lines]

    def _name(self, leaf: Expression) -> str:
        match leaf.kind:
            case Term.INPUT:
                return self.circuit.input_name(leaf.value)
            case Term.OUTPUT:
                return target(leaf.value)
            case _:
                return f"t{leaf.value}"


def target(label: int) -> str:
    """Return the name of the next state of a channel."""
    return f"n{label}'"


def equations(circuit: Circuit) -> Equations:
    """Return the equations of all channels.

    Neighbours are named NW N NE W C E SW S SE, each followed by its channel's label; n0' is the
    next state of the channel labelled 0. A next state that is the same as an earlier one, or its
    inverse, is written so: n4' = n0'. Raises CircuitError if they need more than MOST_ROWS inputs
    and gates that do something.
    """
    if circuit.rows > MOST_ROWS:
        circuit = fold(circuit)
        needed = int(circuit.needed(range(circuit.channels)).sum())
        if needed > MOST_ROWS:
            raise CircuitError(
                f"the circuit has {needed} inputs and gates that do something, and up to "
                f"{MOST_ROWS} are inspected: simplify it first"
            )
    xag, outputs = from_circuit(circuit)
    reader = _Reader(circuit, xag, outputs)
    lines: list[Equation] = []
    numbers: dict[int, int] = {}
    first: dict[int, tuple[int, int]] = {}
    for literal, label in zip(outputs, circuit.labels, strict=True):
        node = literal >> 1
        if node in reader.aliased and node in first:
            other, earlier = first[node]
            expression = leaf(Term.OUTPUT, earlier)
            if literal != other:
                expression = invert(expression)
        else:
            expression = reader.form(literal)
            first[node] = literal, label
        for named in reader.needed_names(expression, numbers):
            numbers[named] = len(numbers) + 1
            definition = _numbered(reader.definitions[named], numbers)
            lines.append(Equation(f"t{numbers[named]}", None, definition))
        lines.append(Equation(target(label), label, _numbered(expression, numbers)))
    return Equations(circuit, tuple(lines))


def _numbered(expression: Expression, numbers: dict[int, int]) -> Expression:
    """Return an expression whose names have their numbers instead of their nodes."""
    if expression.kind is Term.NAME:
        return replace(expression, value=numbers[expression.value])
    terms = [_numbered(term, numbers) for term in expression.terms]
    if expression.is_chain:
        return chain(expression.kind, terms)  # in the order of the numbers
    return replace(expression, terms=tuple(terms))


class _Reader:
    """Turns the nodes of a Xag into expressions, from the inputs on."""

    def __init__(self, circuit: Circuit, xag: Xag, outputs: Sequence[int]) -> None:
        self.xag = xag
        self.definitions: dict[int, Expression] = {}
        self.aliased: set[int] = set()
        """Gates that several outputs read, and nothing else."""
        # Each node's expression, and that of its inverse.
        self._forms: dict[int, tuple[Expression, Expression]] = {0: (constant(0), constant(1))}
        # The literals that a gate's chain joins, as long as it has no name.
        self._operands: dict[int, tuple[int, ...]] = {}
        for row in range(xag.inputs):
            self._set(1 + row, leaf(Term.INPUT, row, len(circuit.input_name(row))))
        needed, self._uses = self._count(outputs)
        for node in needed:
            self._read(node)

    def _count(self, outputs: Sequence[int]) -> tuple[list[int], dict[int, int]]:
        """Return the gates that are needed, ascending, and how often each literal is read."""
        xag = self.xag
        needed = {literal >> 1 for literal in outputs}
        uses: dict[int, int] = {}
        for gate in reversed(range(len(xag.kind))):
            if xag.first_gate + gate in needed:
                for literal in (xag.x[gate], xag.y[gate]):
                    needed.add(literal >> 1)
                    uses[literal] = uses.get(literal, 0) + 1
        inner = {literal >> 1 for literal in uses}
        for literal in outputs:
            if literal >> 1 in inner:
                uses[literal] = uses.get(literal, 0) + 1
        nodes = Counter(literal >> 1 for literal in outputs if literal >> 1 >= xag.first_gate)
        self.aliased = {node for node in nodes if node not in inner and nodes[node] > 1}
        return sorted(node for node in needed if node >= xag.first_gate), uses

    def form(self, literal: int) -> Expression:
        """Return the expression of a literal, a name if it has one."""
        return self._forms[literal >> 1][literal & 1]

    def needed_names(self, expression: Expression, known: dict[int, int]) -> list[int]:
        """Return the nodes, ascending, whose names an expression takes that are not yet known."""
        found: set[int] = set()
        waiting = [expression]
        while waiting:
            for part in waiting.pop().leaves():
                if part.kind is Term.NAME and part.value not in known and part.value not in found:
                    found.add(part.value)
                    waiting.append(self.definitions[part.value])
        return sorted(found)

    def _set(self, node: int, expression: Expression) -> None:
        self._forms[node] = expression, invert(expression)

    def _read(self, node: int) -> None:
        """Find the shortest expressions of a gate whose inputs have theirs."""
        gate = node - self.xag.first_gate
        kind = self.xag.kind[gate]
        operands = self._flatten(kind, (self.xag.x[gate], self.xag.y[gate]))
        forms = self._both(kind, operands)
        while forms[0].length > LONGEST:
            chains = [x for x in operands if self._bare(x).is_chain]
            if not chains:
                break
            self._name(max(chains, key=lambda x: self.form(x).length) >> 1)
            forms = self._both(kind, operands)
        self._forms[node], self._operands[node] = forms, operands
        if self._uses.get(2 * node, 0) + self._uses.get(2 * node + 1, 0) > 1:
            self._name(node)

    def _bare(self, literal: int) -> Expression:
        expression = self.form(literal)
        return expression.terms[0] if expression.kind is Term.NOT else expression

    def _name(self, node: int) -> None:
        """Name a gate, or its inverse, whichever makes the shorter text."""
        positive, negative = self._forms[node]
        del self._operands[node]
        if not self._bare(2 * node).is_chain:
            return  # a leaf already
        inverted = negative.length + self._uses.get(2 * node, 0) < positive.length + self._uses.get(
            2 * node + 1, 0
        )
        self.definitions[node] = negative if inverted else positive
        self._set(node, leaf(Term.NAME, node))
        if inverted:
            self._forms[node] = self._forms[node][::-1]

    def _flatten(self, kind: Kind, literals: Sequence[int]) -> tuple[int, ...]:
        """Return the literals of a chain, with those of the same op's chains that it reads."""
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
                # A XOR of equals is nothing, an AND of equals is one of them.
                if kind is Kind.XOR and part in flat:
                    del flat[part]
                else:
                    flat[part] = None
        if kind is Kind.AND and any(literal ^ 1 in flat for literal in flat):
            return (FALSE,)
        return tuple(flat)

    def _both(self, kind: Kind, operands: Sequence[int]) -> tuple[Expression, Expression]:
        """Return the shortest expressions of a chain and of its inverse."""
        if not operands:
            return constant(0), constant(1)
        if kind is Kind.XOR:
            return self._xor(operands, 0), self._xor(operands, 1)
        every = chain(Term.AND, [self.form(x) for x in operands])
        none = chain(Term.OR, [self.form(x ^ 1) for x in operands])
        return min(every, invert(none), key=_cost), min(none, invert(every), key=_cost)

    def _xor(self, operands: Sequence[int], parity: int) -> Expression:
        """Return the XOR of the operands, inverted if `parity` is 1."""
        terms = []
        for literal in operands:
            plain, inverse = self.form(literal), self.form(literal ^ 1)
            if inverse.length < plain.length:
                plain, inverse, parity = inverse, plain, 1 - parity
            terms.append((plain, inverse))
        whole = chain(Term.XOR, [plain for plain, _ in terms])
        if not parity:
            return whole
        cheapest = min(
            range(len(terms)), key=lambda i: (terms[i][1].length - terms[i][0].length, operands[i])
        )
        swapped = [pair[index == cheapest] for index, pair in enumerate(terms)]
        return min(chain(Term.XOR, swapped), invert(whole), key=_cost)


def _cost(expression: Expression) -> int:
    return expression.length
