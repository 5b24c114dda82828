"""Expressions on their own: inversions, lengths and signs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.inspection.expression import Expression, Kind, chain, constant, invert, leaf, text

LEAVES = st.builds(lambda row: leaf(Kind.INPUT, row, 3), st.integers(0, 8))
EXPRESSIONS = st.recursive(
    LEAVES | st.builds(constant, st.integers(0, 1)),
    lambda inner: (
        st.builds(invert, inner)
        | st.builds(
            chain,
            st.sampled_from([Kind.AND, Kind.OR, Kind.XOR]),
            st.lists(inner, min_size=1, max_size=4),
        )
    ),
    max_leaves=12,
)


def written(expression: Expression) -> str:
    return text(expression, lambda leaf: f"NW{leaf.value}")


@settings(max_examples=30)
@given(EXPRESSIONS)
def test_two_inversions_are_none(expression: Expression) -> None:
    assert invert(invert(expression)) == expression
    assert "¬¬" not in written(invert(expression))


@settings(max_examples=30)
@given(EXPRESSIONS)
def test_the_length_is_that_of_the_text(expression: Expression) -> None:
    assert len(written(expression)) == expression.length
