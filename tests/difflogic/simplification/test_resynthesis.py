from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.xag import Xag
from difflogic.simplification.resynthesis import exchangeable, starts
from tests.difflogic.circuit.circuits import LIFE_TABLE
from tests.difflogic.circuit.test_xag import value
from tests.examples import examples


def table_of(xag: Xag, literal: int) -> int:
    """Return a literal's truth table as an integer."""
    cases = range(1 << xag.inputs)
    inputs = (sum((case >> row & 1) << case for case in cases) for row in range(xag.inputs))
    return value(xag, literal, inputs, (1 << len(cases)) - 1)


def symmetric(inputs: int, values: int) -> int:
    """Return the table that is bit n of `values` where n inputs are 1."""
    return sum((values >> case.bit_count() & 1) << case for case in range(1 << inputs))


@examples(40)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3))
def test_starts_compute_the_tables(tables: list[int]) -> None:
    for xag, outputs in starts(tables, 5):
        assert [table_of(xag, output) for output in outputs] == tables


@given(st.integers(0, 2**7 - 1), st.integers(0, 2**7 - 1))
def test_starts_count_exchangeable_inputs(one: int, other: int) -> None:
    tables = [symmetric(6, one), symmetric(6, other)]
    found = list(starts(tables, 6))
    assert len(found) == 3
    for xag, outputs in found:
        assert [table_of(xag, output) for output in outputs] == tables


def test_starts_count_the_neighbours_of_life() -> None:
    assert [len(group) for group in exchangeable([LIFE_TABLE], 9)] == [8, 1]
    xag, (output,) = list(starts([LIFE_TABLE], 9))[-1]
    assert table_of(xag, output) == LIFE_TABLE
    assert len(xag.kind) < 45
