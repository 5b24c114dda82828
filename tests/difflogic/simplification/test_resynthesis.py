from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.xag import Xag, XagGate
from difflogic.simplification.resynthesis import exchangeable, starts
from tests.difflogic.circuit.circuits import LIFE_TABLE
from tests.examples import examples


def table_of(xag: Xag, literal: int) -> int:
    """Return a literal's truth table as an integer."""
    every = (1 << (1 << xag.inputs)) - 1
    cases = range(1 << xag.inputs)
    tables = [0]
    for row in range(xag.inputs):
        tables.append(sum((case >> row & 1) << case for case in cases))
    for kind, x, y in zip(xag.kind, xag.x, xag.y, strict=True):
        p, q = (tables[z >> 1] ^ (every if z & 1 else 0) for z in (x, y))
        tables.append(p & q if kind is XagGate.AND else p ^ q)
    return tables[literal >> 1] ^ (every if literal & 1 else 0)


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
