from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.xag import Xag, XagGate
from difflogic.simplification.resynthesis import cofactors, exchangeable, starts, variable
from tests.difflogic.circuit.circuits import LIFE_TABLE
from tests.examples import examples


def table_of(xag: Xag, literal: int) -> int:
    """Return a literal's truth table as an integer."""
    every = (1 << (1 << xag.inputs)) - 1
    tables = [0, *(variable(row, xag.inputs) for row in range(xag.inputs))]
    for kind, x, y in zip(xag.kind, xag.x, xag.y, strict=True):
        p, q = (tables[z >> 1] ^ (every if z & 1 else 0) for z in (x, y))
        tables.append(p & q if kind is XagGate.AND else p ^ q)
    return tables[literal >> 1] ^ (every if literal & 1 else 0)


def symmetric(inputs: int, values: int) -> int:
    """Return the table that is bit n of `values` where n inputs are 1."""
    return sum((values >> case.bit_count() & 1) << case for case in range(1 << inputs))


class TestTables:
    @pytest.mark.parametrize(("row", "inputs"), [(0, 1), (0, 3), (2, 3), (6, 7)])
    def test_variable(self, row: int, inputs: int) -> None:
        assert variable(row, inputs) == sum((c >> row & 1) << c for c in range(1 << inputs))

    @given(st.integers(0, 2**16 - 1), st.integers(0, 3))
    def test_cofactors(self, table: int, row: int) -> None:
        zero, one = cofactors(table, row, 4)
        for case in range(16):
            assert zero >> case & 1 == table >> (case & ~(1 << row)) & 1
            assert one >> case & 1 == table >> (case | 1 << row) & 1

    @given(st.integers(0, 2**16 - 1))
    def test_exchangeable(self, table: int) -> None:
        def swapped(case: int, i: int, j: int) -> int:
            differ = (case >> i ^ case >> j) & 1
            return case ^ (differ << i | differ << j)

        groups = exchangeable([table], 4)
        assert sorted(row for group in groups for row in group) == [0, 1, 2, 3]
        for i in range(4):
            for j in range(i):
                same = all(table >> c & 1 == table >> swapped(c, i, j) & 1 for c in range(16))
                assert same == any(i in group and j in group for group in groups)


class TestStarts:
    @examples(40)
    @given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3))
    def test_compute_the_tables(self, tables: list[int]) -> None:
        for xag, outputs in starts(tables, 5):
            assert [table_of(xag, output) for output in outputs] == tables

    @given(st.integers(0, 2**7 - 1), st.integers(0, 2**7 - 1))
    def test_count_exchangeable_inputs(self, one: int, other: int) -> None:
        tables = [symmetric(6, one), symmetric(6, other)]
        found = list(starts(tables, 6))
        assert len(found) == 3
        for xag, outputs in found:
            assert [table_of(xag, output) for output in outputs] == tables

    def test_count_the_neighbours_of_life(self) -> None:
        assert [len(group) for group in exchangeable([LIFE_TABLE], 9)] == [8, 1]
        xag, (output,) = list(starts([LIFE_TABLE], 9))[-1]
        assert table_of(xag, output) == LIFE_TABLE
        assert len(xag.kind) < 45

    @pytest.mark.parametrize("inputs", range(1, 9))
    def test_counting_ones(self, inputs: int) -> None:
        xag = Xag(inputs)
        digits = xag.count_ones([xag.input(row) for row in range(inputs)])
        tables = [table_of(xag, digit) for digit in digits]
        for case in range(1 << inputs):
            assert sum((t >> case & 1) << n for n, t in enumerate(tables)) == case.bit_count()
        # Of eight bits, four full adders and three half adders.
        assert inputs != 8 or len(xag.kind) == 4 * 5 + 3 * 2
